"""Collects everything that is wrong with the input files, so that it can be said at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dreambench.errors import DatasetError, Problem

SHOWN_PER_FILE = 20
"""Distinct problems of one file that are spelled out; the rest is counted."""


@dataclass
class _Repeated:
    problem: Problem
    more: int = 0


@dataclass
class Problems:
    """The same trouble in many lines of a file is one problem with a count."""

    _files: dict[str, dict[str, _Repeated]] = field(default_factory=dict)

    def add(
        self, path: Path | str, line: int | None, what: str, allowed: Sequence[str] = (), fix: str | None = None, more: str = ""
    ) -> None:
        """`more` is said after `what`, and may differ between lines that have the same trouble: the first one's is shown."""
        where = str(path) if line is None else f"{path}:{line}"
        seen = self._files.setdefault(str(path), {})
        if what in seen:
            seen[what].more += 1
        else:
            seen[what] = _Repeated(Problem(where, what + more, allowed, fix))

    def concern(self, path: Path) -> bool:
        """Whether anything is wrong with this file."""
        return str(path) in self._files

    def merge(self, other: Problems) -> None:
        """Takes over the problems of files that have none here yet."""
        self._files.update(other._files)

    def all(self) -> list[Problem]:
        """The problems by file in the order they were met."""
        found: list[Problem] = []
        for path, seen in self._files.items():
            shown = list(seen.values())[:SHOWN_PER_FILE]
            found.extend(_counted(repeated) for repeated in shown)
            if hidden := len(seen) - len(shown):
                found.append(Problem(path, f"has {hidden} more problems of this kind"))
        return found

    def check(self) -> None:
        """Raises one DatasetError with all problems, if there are any."""
        if self._files:
            raise DatasetError(*self.all())


def _counted(repeated: _Repeated) -> Problem:
    problem = repeated.problem
    if not repeated.more:
        return problem
    lines = "line" if repeated.more == 1 else "lines"
    return Problem(problem.where, f"{problem.what} (and {repeated.more} more {lines})", problem.allowed, problem.type)
