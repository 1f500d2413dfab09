"""A folder of reports as people keep them: markdown, text, HTML, PDF or DOCX files named by their task's id."""

# No `from __future__ import annotations`, for the reason given in `loader`.

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from dreambench.datasets.fields import USUAL, Fields, read_tasks
from dreambench.datasets.files import check_exists
from dreambench.datasets.folders import SUFFIXES, read_file, read_folder
from dreambench.datasets.language import detect_language
from dreambench.datasets.loader import Loader
from dreambench.datasets.material import Material
from dreambench.datasets.problems import Problems
from dreambench.datasets.sources import Paths, existing, required


@dataclass(frozen=True, kw_only=True)
class ReportsDataset(Loader):
    """`reports` holds a sub-folder per agent, or files of one `agent`; single files may be given as well.

    `queries` is a file of tasks (JSON lines or CSV with an id and a query, prompt or question). Without it each file's
    name is a task, and `query` the query of all of them; without that too the query is empty, which is a finding.
    """

    title: ClassVar[str] = "reports"

    reports: Paths = None
    queries: str | None = None
    query: str | None = None
    agent: str | None = None
    fields: Fields = USUAL

    def read(self, problems: Problems) -> Material:
        material = Material(self.title)
        query_file = existing(self.queries, "dataset.queries", problems)
        if query_file:
            read_tasks(query_file, self.fields, material, problems)
        if not (self.reports is None and self.tasks == "all" and query_file):
            for name in required(self.reports, "dataset.reports", problems):
                self._read_path(Path(name).expanduser(), material, problems)
        if not query_file:
            _describe(material, self.query or "")
        return material

    def _read_path(self, path: Path, material: Material, problems: Problems) -> None:
        if not check_exists(path, "dataset.reports", problems):
            return
        if path.is_dir():
            read_folder(path, self.agent, material, problems)
        elif path.suffix.lower() in SUFFIXES:
            read_file(path, self.agent or path.resolve().parent.name, material)
        else:
            problems.add(path, None, f"is no report: its name ends in {path.suffix or 'nothing'}", SUFFIXES)


def _describe(material: Material, query: str) -> None:
    """Gives the tasks that the files named the common query, and the language that their query or first report is in."""
    first = {report.task_id: report.text for report in reversed(material.reports)}
    for task in material.tasks.values():
        language = detect_language(query or first.get(task.id, ""))
        material.tasks[task.id] = replace(task, query=query, language=language)
