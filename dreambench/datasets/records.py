"""The base of data sets that keep one report a record in JSON lines (or CSV) files."""

# No `from __future__ import annotations`, for the reason given in `loader`.

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from dreambench.datasets.fields import TASK_LABELS, Fields, read_tasks
from dreambench.datasets.files import rows
from dreambench.datasets.loader import Loader
from dreambench.datasets.material import Material
from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.datasets.sources import Paths, Source, existing, sources
from dreambench.errors import nearest


@dataclass
class _FileCount:
    """What was seen of one file: its first record, and how many records have the field of the report."""

    first: Row | None = None
    with_report: int = 0


@dataclass
class _Reading:
    """One pass over all files; `agents` remembers which file gave its name to which agent."""

    material: Material
    problems: Problems
    agents: dict[str, Path] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class RecordLoader(Loader):
    """`reports` is a file, a folder or a list; `queries` an optional file of tasks; `agent` names the only agent."""

    suffixes: ClassVar[tuple[str, ...]] = (".jsonl", ".ndjson")
    """What is looked for in a folder."""

    reports: Paths = None
    queries: str | None = None
    agent: str | None = None

    def names(self) -> Fields:
        """Which field holds what."""
        return Fields()

    def read(self, problems: Problems) -> Material:
        reading = _Reading(Material(self.title), problems)
        query_file = existing(self.queries, "dataset.queries", problems)
        if query_file:
            read_tasks(query_file, self.names(), reading.material, problems)
        if self.reports is None and self.tasks == "all" and query_file:
            return reading.material
        for source in sources(self.reports, "dataset.reports", self.suffixes, problems):
            if source.named or query_file is None or not source.path.samefile(query_file):
                self._read_file(source, reading)
        return reading.material

    def _read_file(self, source: Source, reading: _Reading) -> None:
        """Reads one file. One without reports is refused when it was named, a finding when it was met in a folder."""
        inside = Problems()
        seen = _FileCount()
        report = self.names().report
        for row in rows(source.path, inside):
            seen.first = seen.first or row
            seen.with_report += row.present(report)
            self._read_row(row, _Reading(reading.material, inside, reading.agents))
        if seen.first and not seen.with_report and not nearest(report, seen.first.values):
            self._refuse(source, seen.first, reading)
        elif not seen.first and not inside.all():
            self._refuse(source, None, reading)
        else:
            reading.problems.merge(inside)

    def _refuse(self, source: Source, first: Row | None, reading: _Reading) -> None:
        names = self.names()
        what = f"holds no reports: its records have {', '.join(first.values)}" if first else "holds no reports: it is empty"
        if source.named:
            reading.problems.add(source.path, None, what, [names.id, names.query, names.report])
        else:
            reading.material.find("skipped_file", str(source.path), f"{what}; left out")

    def _read_row(self, row: Row, reading: _Reading) -> None:
        names, material, problems = self.names(), reading.material, reading.problems
        text = row.text(names.report, problems)
        query = row.label(names.query_name(row)) or None
        by_query = query is not None and material.listed and not row.present(names.id)
        task_id = None if by_query else row.identifier(names.id, problems)
        names.check_named(("agent",) if material.listed else ("agent", *TASK_LABELS), row, problems)
        day = None if material.listed else row.day(names.as_of, problems)
        if text is None or (task_id is None and not by_query):
            return
        agent = row.label(names.agent) or self.agent or _file_agent(row.path, reading)
        domain, language = row.label(names.domain), row.label(names.language)
        joined = material.join(task_id, query, row.place, domain=domain, language=language, as_of=day)
        if joined is None:
            material.find(
                "orphan_report", row.place, f"the report of {agent} has no id and its query is none of {material.listed}"
            )
        else:
            material.add_report(joined, agent, text, row.place)


def _file_agent(path: Path, reading: _Reading) -> str:
    """The agent that a file is named after; two files of one name would mix two agents."""
    agent = path.stem
    other = reading.agents.setdefault(agent, path)
    if other != path:
        reading.problems.add(path, None, f"names the agent {agent}, and so does {other}; rename one of the files")
    return agent
