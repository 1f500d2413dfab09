"""What a data set is once it is loaded: valid tasks and reports, and a list of what was found wrong on the way."""

from __future__ import annotations

import hashlib
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
        rows = [_digest("task", each.id, each.query, str(each.as_of), each.domain, each.language) for each in self.tasks]
        rows += [_digest("report", each.task_id, each.agent, each.text) for each in self.reports]
        return hashlib.sha256(b"".join(sorted(rows))).hexdigest()


def _digest(*parts: str) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()
