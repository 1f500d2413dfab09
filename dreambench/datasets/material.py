"""What a loader has read so far: tasks and reports with their places, before anything is judged valid or selected."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Any

from dreambench.datasets.dataset import Finding
from dreambench.datasets.language import detect_language, language_code
from dreambench.records import Report, Task


@dataclass
class Material:
    """Collects tasks by id (the first of a duplicated id is kept and said) and reports in the order they are met."""

    dataset: str
    tasks: dict[str, Task] = field(default_factory=dict)
    reports: list[Report] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    listed: str = ""
    """Name of the list of tasks that reports are joined with; empty: the reports themselves say what the tasks are."""
    _places: dict[str, str] = field(default_factory=dict)
    _by_query: dict[str, str | None] = field(default_factory=dict)

    def find(self, code: str, place: str, message: str, task_id: str = "") -> None:
        """Notes a finding at `place` (`file`, `file:line` or empty)."""
        file, _, line = place.rpartition(":")
        if line.isdigit():
            self.findings.append(Finding(file, int(line), code, message, task_id))
        else:
            self.findings.append(Finding(place, None, code, message, task_id))

    def add_task(
        self,
        task_id: str,
        query: str,
        place: str,
        *,
        domain: str = "",
        language: str = "",
        as_of: date | None = None,
    ) -> None:
        """Adds a task; the first of an id is kept, another is a finding. Without a `language` it is detected from the query."""
        if task_id in self.tasks:
            first = self._places[task_id]
            self.find("duplicated_task", place, f"task {task_id} is given again; the first, at {first}, is kept", task_id)
            return
        code = language_code(language) or detect_language(query)
        query = self.mended(query, place, task_id)
        self.tasks[task_id] = Task(task_id, query, self.dataset, as_of, domain, code)
        self._places[task_id] = place
        key = query.strip()
        self._by_query[key] = task_id if key not in self._by_query else None

    def add_report(self, task_id: str, agent: str, text: str, place: str) -> None:
        """Adds an agent's report to a task, its text repaired where it was damaged (a finding)."""
        self.reports.append(Report(task_id, agent, self.mended(text, place, task_id), place))

    def join(self, task_id: str | None, query: str | None, place: str, **labels: Any) -> str | None:
        """The id of the task that a report answers: by id, then by exact query; None when there is no such task.

        A report that is joined by id but quotes another query is a finding. Without a list of tasks the report's own id,
        query and `labels` (those of `add_task`) make the task.
        """
        by_query = self._by_query.get(query.strip()) if query else None
        if task_id is None or (task_id not in self.tasks and by_query):
            return by_query
        if task_id not in self.tasks and not self.listed:
            self.add_task(task_id, query or "", place, **labels)
        task = self.tasks.get(task_id)
        if task and query and task.query.strip() != query.strip():
            other = f", its query is that of task {by_query}" if by_query else ""
            first = self._places[task_id]
            message = f"joined by id with task {task_id} at {first}, whose query is another one{other}"
            self.find("query_mismatch", place, message, task_id)
        return task_id

    def mended(self, text: str, place: str, task_id: str) -> str:
        """`text` without half surrogate pairs, which no UTF-8 file can hold; that they were there is a finding."""
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            mended = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            message = f"holds half a surrogate pair at character {error.start + 1}; replaced by U+FFFD"
            self.find("broken_text", place, message, task_id)
            return mended
        return text
