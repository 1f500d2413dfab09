"""What a data set is once it is loaded: valid tasks and reports, and a list of what was found wrong on the way."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field

from dreambench.records import Report, Task

INFORMATIVE = frozenset({"unanswered_task", "missing_report", "skipped_file", "unknown_query"})
"""Codes of findings that are worth knowing but wrong with nobody; `strict` does not refuse them."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found in the data: where (`line` is None when it concerns the whole file), a stable `code`, a message.

    `task_id` is empty when the finding is not about one task.
    """

    file: str
    line: int | None
    code: str
    message: str
    task_id: str = ""

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.message}" if place else self.message


@dataclass(frozen=True)
class Dataset:
    """Tasks in the order of their source, reports ordered by task and agent, and the findings."""

    tasks: list[Task] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def agents(self) -> list[str]:
        """Names of the agents that wrote the reports, sorted."""
        return sorted({report.agent for report in self.reports})

    def fingerprint(self) -> str:
        """SHA-256 (64 hex digits) over what can change a number: the tasks and reports, not their order or paths."""
        tasks = [
            [task.id, task.query, task.as_of.isoformat() if task.as_of else None, task.domain, task.language]
            for task in self.tasks
        ]
        reports = [[report.task_id, report.agent, report.text] for report in self.reports]
        digest = hashlib.sha256()
        for rows in (tasks, reports):
            lines = sorted(json.dumps(row) for row in rows)
            digest.update(json.dumps(lines).encode("ascii"))
        return digest.hexdigest()
