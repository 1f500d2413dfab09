"""GPT Researcher: the reports it writes to `outputs/` (markdown, PDF, DOCX), or the `task_*.json` logs of its server.

A log has the query and the report below `content`; its `events`, `sources` and `context` are not read. A markdown file is named
by its task's id and has no query. The server writes both: the log is read, and the files of the same name are left out.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from dreambench.datasets.dumps import LINES, Answer, DumpLoader
from dreambench.datasets.folders import SUFFIXES, read_file
from dreambench.datasets.material import Material
from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.datasets.sources import Source

CUT = 60
"""Characters of a report file's name; the log of the same task has the whole name."""


@dataclass(frozen=True, kw_only=True)
class GptResearcherDataset(DumpLoader):
    """Reports of GPT Researcher."""

    title: ClassVar[str] = "gpt_researcher"
    suffixes: ClassVar[tuple[str, ...]] = (*LINES, ".json", *SUFFIXES)
    expected: ClassVar[tuple[str, ...]] = ("content.query", "content.report")

    def holds(self, row: Row) -> bool:
        return row.present("content.report") or (row.present("report") and row.present("query"))

    def answer(self, row: Row, problems: Problems) -> Answer | None:
        inside = "content." if row.present("content") else ""
        query, report = row.text(f"{inside}query", problems), row.text(f"{inside}report", problems)
        return None if query is None or report is None else Answer(report, query, row.label("id"))

    def read_file(self, source: Source, material: Material, problems: Problems) -> None:
        path = source.path
        if path.suffix.lower() not in SUFFIXES:
            super().read_file(source, material, problems)
        elif not source.named and (other := _same_report(path)):
            material.find("skipped_file", str(path), f"is the report of {other.name} again; left out")
        else:
            read_file(path, self.agent or path.resolve().parent.name, material)


def _same_report(path: Path) -> Path | None:
    """The log, or the file of a kind that is read better, that holds the report of `path` as well."""
    logs = (each for each in sorted(path.parent.glob("*.json")) if each.stem[:CUT] == path.stem[:CUT])
    better = (path.with_suffix(suffix) for suffix in SUFFIXES[: SUFFIXES.index(path.suffix.lower())])
    return next(logs, None) or next((each for each in better if each.is_file()), None)
