"""What a benchmark's own file says of tasks or of reports, each found by its id alone."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from dreambench.datasets.files import check_exists, rows
from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row

K = TypeVar("K")
T = TypeVar("T")


@dataclass(frozen=True)
class TaskRecords(Generic[T]):
    """The records of a file by task id; `sha256` is of the file's bytes."""

    path: Path
    sha256: str
    by_task: Mapping[str, T]


@dataclass(frozen=True)
class ReportRecords(Generic[T]):
    """The records of a file by (agent, task id); `sha256` is of the file's bytes."""

    path: Path
    sha256: str
    by_report: Mapping[tuple[str, str], T]

    @property
    def agents(self) -> list[str]:
        """The agents that the file has a record of, sorted."""
        return sorted({agent for agent, _ in self.by_report})


def read_records(path: Path, key: str, what: str, read: Callable[[Row, dict[K, T], Problems], None]) -> tuple[str, dict[K, T]]:
    """SHA-256 of a file's bytes, and what `read` made of its rows; `key` is the config key that named the file.

    `read` puts a row's record into the dictionary, or what is wrong with it into the problems. Raises DatasetError with
    every problem, one of them that the file holds no `what` (a plural noun) at all.
    """
    problems = Problems()
    check_exists(path, key, problems)
    problems.check()
    found: dict[K, T] = {}
    for row in rows(path, problems):
        read(row, found, problems)
    if not found and not problems.concern(path):
        problems.add(path, None, f"holds no {what}")
    problems.check()
    return hashlib.sha256(path.read_bytes()).hexdigest(), found
