"""Reports kept one a record: how a record is read, and the base of data sets in JSON lines (or CSV) files."""

# No `from __future__ import annotations`, for the reason given in `loader`.

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from dreambench.datasets.fields import TASK_LABELS, Fields, read_tasks
from dreambench.datasets.loader import Loader
from dreambench.datasets.material import Material
from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.datasets.sources import Paths, existing, read_source, sources


@dataclass
class RecordReader:
    """Adds the reports of records to `material`. The agent is the record's own, else `agent`, else the file's name."""

    names: Fields
    agent: str | None
    material: Material
    _files: dict[str, Path] = field(default_factory=dict)

    def read(self, row: Row, problems: Problems) -> None:
        """Adds the report of one record; what is wrong with it goes to `problems`, one without a task is a finding and left
        out."""
        names, material = self.names, self.material
        text = row.text(names.report, problems, names.key("report"))
        query = row.label(names.query_name(row)) or None
        by_query = query is not None and bool(material.listed) and not row.present(names.id)
        task_id = None if by_query else row.identifier(names.id, problems, names.key("id"))
        names.check_named(("agent",) if material.listed else ("agent", *TASK_LABELS), row, problems)
        day = None if material.listed else row.day(names.as_of, problems)
        if text is None or (task_id is None and not by_query):
            return
        agent = row.label(names.agent) or self.agent or self._file_agent(row.path, problems)
        domain, language = row.label(names.domain), row.label(names.language)
        joined = material.join(task_id, query, row.place, domain=domain, language=language, as_of=day)
        if joined is None:
            message = f"the report of {agent} has no id and its query is none of {material.listed}; left out"
            material.find("orphan_report", row.place, message)
        else:
            material.add_report(joined, agent, text, row.place)

    def _file_agent(self, path: Path, problems: Problems) -> str:
        """The agent that a file is named after; two files of one name would mix two agents."""
        other = self._files.setdefault(path.stem, path)
        if other != path:
            problems.add(path, None, f"names the agent {path.stem}, and so does {other}; rename one of the files")
        return path.stem


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
        material = Material(self.title)
        query_file = existing(self.queries, "dataset.queries", problems)
        if query_file:
            read_tasks(query_file, self.names(), material, problems)
        if self.reports is None and self.tasks == "all" and query_file:
            return material
        reader = RecordReader(self.names(), self.agent, material)
        for source in sources(self.reports, "dataset.reports", self.suffixes, problems):
            if source.named or query_file is None or not source.path.samefile(query_file):
                names = self.names()
                read_source(source, names.report, [names.id, names.query, names.report], reader.read, material, problems)
        return material
