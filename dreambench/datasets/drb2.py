"""DeepResearch Bench II: `tasks_and_rubrics.jsonl` and report files `<folder>/<model>/idx-<n>.<md|html|pdf|docx|txt>`.

A task is known by its `idx`; its query is `content.task`, without the block that tells an agent what not to open. The
rubrics in the same file are read by `metric=drb2`.
"""

# No `from __future__ import annotations`, for the reason given in `loader`.

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from dreambench.datasets.files import check_exists, rows
from dreambench.datasets.folders import SUFFIXES, read_text
from dreambench.datasets.loader import Loader
from dreambench.datasets.material import Material
from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row, identifier
from dreambench.datasets.sources import Paths, existing, required

_FILE = re.compile(r"idx-(?P<idx>\d+)", re.IGNORECASE)
TASKS_FILE = "tasks_and_rubrics.jsonl"


@dataclass(frozen=True, kw_only=True)
class Drb2Dataset(Loader):
    """`reports` holds a folder per model; a folder that holds idx files itself is one model's. `exclude` leaves tasks out."""

    title: ClassVar[str] = "drb2"

    reports: Paths = None
    queries: str | None = None
    agent: str | None = None
    exclude: tuple[str | int, ...] = ()

    def read(self, problems: Problems) -> Material:
        material = Material(self.title)
        queries = existing(self.queries, "dataset.queries", problems)
        if self.queries is None:
            problems.add("dataset.queries", None, "is required: the tasks", fix=f"dataset.queries={TASKS_FILE}")
        if queries:
            _read_tasks(queries, material, problems)
        if not (self.reports is None and self.tasks == "all"):
            for name in required(self.reports, "dataset.reports", problems):
                path = Path(name).expanduser()
                if check_exists(path, "dataset.reports", problems):
                    self._read_folder(path, material, problems)
        self._leave_out(material)
        return material

    def _read_folder(self, folder: Path, material: Material, problems: Problems) -> None:
        if not folder.is_dir():
            problems.add(folder, None, "is no folder", [f"<folder>/<model>/idx-<n>{suffix}" for suffix in SUFFIXES[:1]])
            return
        before = len(material.reports)
        if any(_FILE.fullmatch(entry.stem) and entry.is_file() for entry in folder.iterdir()):
            _read_model(folder, self.agent or folder.resolve().name, material)
        elif self.agent is not None:
            what = f"names the agent of a folder of idx files, {folder} holds a folder per model"
            problems.add("dataset.agent", None, what, fix=f"dataset.agents={self.agent}")
            return
        else:
            for entry in sorted(folder.iterdir()):
                if entry.is_dir() and not entry.name.startswith("."):
                    _read_model(entry, entry.name, material)
        if len(material.reports) == before:
            problems.add(folder, None, "holds no <model>/idx-<n> report", SUFFIXES)

    def _leave_out(self, material: Material) -> None:
        out = {identifier(value) for value in self.exclude}
        material.tasks = {key: task for key, task in material.tasks.items() if key not in out}
        material.reports = [report for report in material.reports if report.task_id not in out]
        material.findings = [finding for finding in material.findings if finding.task_id not in out]


def _read_tasks(path: Path, material: Material, problems: Problems) -> None:
    material.listed = str(path)
    count = 0
    for row in rows(path, problems):
        count += 1
        idx = row.identifier("idx", problems)
        query = row.text("content.task", problems)
        if idx is not None and query is not None:
            domain, language = row.label("theme"), row.label("language")
            material.add_task(idx, query, row.place, domain=domain, language=language)
            _note_rubric(row, idx, material)
    if not count and not problems.concern(path):
        problems.add(path, None, "holds no tasks")


def _note_rubric(row: Row, idx: str, material: Material) -> None:
    """Says what is odd in a task's rubric: repeated items are judged and counted once."""
    content: Mapping[str, Any] = row.values["content"]
    rubric = content.get("rubric")
    for name, items in rubric.items() if isinstance(rubric, Mapping) else ():
        if isinstance(items, list) and (more := len(items) - len({str(item) for item in items})):
            said = f"{more} {'items repeat' if more > 1 else 'item repeats'} another one of {name}; counted once"
            material.find("duplicated_item", row.place, said, idx)


def _read_model(folder: Path, agent: str, material: Material) -> None:
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        named = _FILE.fullmatch(path.stem)
        if not (named and path.is_file() and path.suffix.lower() in SUFFIXES):
            material.find("skipped_file", str(path), f"is no idx-<n> report ({', '.join(SUFFIXES)}); left out")
            continue
        idx = str(int(named["idx"]))
        if (content := read_text(path, idx, material)) is not None:
            material.add_report(idx, agent, content, str(path))
