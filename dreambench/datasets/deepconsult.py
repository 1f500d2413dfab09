"""DeepConsult: CSV files with `question`, `baseline_answer` and `candidate_answer`, two agents a row.

There are no ids: tasks are numbered by the order of their questions, and several files are joined by question.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from dreambench.datasets.loader import Loader
from dreambench.datasets.material import Material
from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.datasets.sources import Paths, read_source, sources

COLUMNS = ("question", "baseline_answer", "candidate_answer")


@dataclass(frozen=True, kw_only=True)
class DeepConsultDataset(Loader):
    """`baseline` and `candidate` name the two agents; without `candidate` it is named after its file."""

    title: ClassVar[str] = "deepconsult"

    reports: Paths = None
    baseline: str = "baseline"
    candidate: str | None = None

    def read(self, problems: Problems) -> Material:
        pairs = _Pairs(self.baseline, self.candidate, Material(self.title))
        for source in sources(self.reports, "dataset.reports", (".csv",), problems):
            read_source(source, "candidate_answer", COLUMNS, pairs.read, pairs.material, problems)
        return pairs.material


@dataclass
class _Pairs:
    """Numbers the questions, and knows the baselines that other files already gave."""

    baseline: str
    candidate: str | None
    material: Material
    numbers: dict[str, str] = field(default_factory=dict)
    known: set[tuple[str, str]] = field(default_factory=set)

    def read(self, row: Row, problems: Problems) -> None:
        question, baseline, candidate = (row.text(name, problems) for name in COLUMNS)
        if question is None or baseline is None or candidate is None:
            return
        if not question.strip():
            problems.add(row.path, row.line, "has no question")
            return
        task_id = self.numbers.setdefault(question.strip(), str(len(self.numbers) + 1))
        if task_id not in self.material.tasks:
            self.material.add_task(task_id, question, row.place)
        self.material.add_report(task_id, self.candidate or row.path.stem, candidate, row.place)
        # Files that compare several candidates repeat the same baseline.
        if (task_id, baseline) not in self.known:
            self.known.add((task_id, baseline))
            self.material.add_report(task_id, self.baseline, baseline, row.place)
