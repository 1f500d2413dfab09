"""Follows a journal while a run writes it: each look reads only the lines that are new since the last one."""

from __future__ import annotations

import json
import os
from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from dreambench.engine.journal import JournalError
from dreambench.reporting.standing import OWED_STATUSES, Failure
from dreambench.runs.assembly import CLEAN

RECENT = 20
"""Cells that are remembered as the last ones finished."""
EXAMPLE_CHARACTERS = 300


class _Kind(NamedTuple):
    metric: str
    judge: str
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class Finished:
    """One finished cell as a progress page shows it; `labels` counts its items by label, `owed` means it failed."""

    task: str
    agent: str
    arm: str
    metric: str
    judge: str
    items: int
    labels: str
    owed: bool


@dataclass
class Counts:
    """Sums over a journal. Tokens and money (US dollars) are those of calls that were bought."""

    calls: int = 0
    cached_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    money: float = 0.0
    unpriced_calls: int = 0
    """Bought calls whose price nobody knows."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """Calls without a usable answer, by outcome."""
    recent: deque[Finished] = field(default_factory=lambda: deque(maxlen=RECENT))
    _owed: dict[str, bool] = field(default_factory=dict)
    _failures: dict[str, dict[_Kind, tuple[int, str]]] = field(default_factory=dict)

    @property
    def done(self) -> int:
        """Cells whose last line is not owed."""
        return len(self._owed) - self.failed

    @property
    def failed(self) -> int:
        """Cells whose last line is owed."""
        return len(self._failures)

    def failures(self) -> list[Failure]:
        """Items of owed cells that failed, alike ones together, the most frequent first."""
        found: dict[_Kind, tuple[int, str]] = {}
        for kinds in self._failures.values():
            for kind, (count, said) in kinds.items():
                before, first = found.get(kind, (0, said))
                found[kind] = before + count, first
        return sorted((Failure(*kind, *said) for kind, said in found.items()), key=lambda one: -one.count)

    def add(self, line: dict[str, Any]) -> None:
        """One journal line. Raises KeyError, TypeError or AttributeError for what is none."""
        if line["type"] == "call":
            self._add_call(line)
        elif line["type"] == "cell":
            self._add_cell(line)

    def _add_call(self, line: dict[str, Any]) -> None:
        if line["outcome"] != "ok":
            self.outcomes[str(line["outcome"])] += 1
        self.cached_calls += line["source"] == "cache"
        if line["source"] == "provider":
            self.calls += 1
            self.prompt_tokens += line["prompt_tokens"]
            self.completion_tokens += line["completion_tokens"]
            self.money += line["cost"] or 0.0
            self.unpriced_calls += line["cost"] is None

    def _add_cell(self, line: dict[str, Any]) -> None:
        cell, owed, rows, columns = line["cell"], bool(line["owed"]), line["judgments"], line["columns"]
        self._owed[cell] = owed
        self._failures.pop(cell, None)
        if owed:
            kinds: dict[_Kind, tuple[int, str]] = {}
            for row in rows:
                if row["status"] in OWED_STATUSES:
                    kind = _Kind(columns["metric"], columns["judge"], row["status"], row["reason_code"])
                    count, said = kinds.get(kind, (0, row["rationale"][:EXAMPLE_CHARACTERS]))
                    kinds[kind] = count + 1, said
            self._failures[cell] = kinds
        labels = Counter(str(row["label"] or row["status"]) for row in rows)
        arm = "" if columns["perturbation"] == CLEAN else f"{columns['perturbation']} {columns['dose']}"
        task, agent, metric, judge = (str(columns[name]) for name in ("task", "agent", "metric", "judge"))
        shown = ", ".join(f"{label} {count}" for label, count in labels.most_common(4))
        self.recent.appendleft(Finished(task, agent, arm, metric, judge, len(rows), shown, owed))


class JournalTally:
    """The counts of one journal. A last line without its end is not read before it is whole."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._start()

    def _start(self) -> None:
        self.counts = Counts()
        self._offset = 0
        self._number = 0
        self._file = -1

    def update(self) -> Counts:
        """Reads what is new. Raises JournalError naming a line that cannot be read, OSError when the file cannot be."""
        with self.path.open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_ino != self._file or status.st_size < self._offset:  # another file, or cut: from the start
                self._start()
                self._file = status.st_ino
            file.seek(self._offset)
            for raw in file:
                if not raw.endswith(b"\n"):
                    break
                self._number += 1
                self._add(raw)
                self._offset += len(raw)
        return self.counts

    def _add(self, raw: bytes) -> None:
        try:
            self.counts.add(json.loads(raw.decode("utf-8", "surrogatepass")))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            number, self._file = self._number, -1
            raise JournalError(f"{self.path.name}:{number}: not a journal line ({type(error).__name__}: {error})") from error
