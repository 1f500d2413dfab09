"""The append-only record of a run: one JSON line per call and per finished cell.

A line is written in one piece. A torn last line (the process was killed) is cut off when the journal is opened again: what
it held is owed again; one that a full disk tore is cut off at once, so that later lines stay readable. A cell's judgments
stand in one line, so a cell is there whole or not at all; where a cell has several lines (it was owed after an error), the
last one counts.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from dreambench.engine.call import CallRecord, canonical_json
from dreambench.engine.cell import Cell
from dreambench.errors import DreambenchError
from dreambench.records import Evidence, Judgment, Status

OWED = frozenset({Status.JUDGE_ERROR, Status.TOOL_ERROR})
"""Statuses that are our own trouble: their cells are asked again on resume."""
_CALL = [field.name for field in fields(CallRecord)]
_JUDGMENT = [field.name for field in fields(Judgment)]
_EVIDENCE = [field.name for field in fields(Evidence)]
_MOST_WAITING = 200
_HOLDS: dict[str, dict[str, type]] = {
    "cell": {"cell": str, "owed": bool, "columns": dict, "judgments": list},
    "call": {"key": str, "source": str},
    "lost": {"calls": int},
}


_NEEDLES = {kind: f'"type":"{kind}"'.encode() for kind in _HOLDS}


class JournalError(DreambenchError):
    """A line in the middle of a journal cannot be read: the file was changed by something else."""


class Journal:
    """Writes one run's journal. Knows which cells are done; holds no judgments in memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        _cut_torn_tail(path)
        lines = read_lines(path, "cell", "call")  # a damaged call is said before anything is bought, not when tables are made
        self.done = {line["cell"]: not line["owed"] for line in lines if line["type"] == "cell"}
        self._waiting: list[dict[str, Any]] = []
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._end = os.fstat(self._file).st_size

    def is_done(self, cell: Cell) -> bool:
        """Whether the cell is finished and nothing in it is owed."""
        return self.done.get(cell.id, False)

    def write_call(self, record: CallRecord) -> None:
        """One call. Those that cost nothing, because their answers were stored, wait for the next line that must be kept:
        a killed run makes them again."""
        line = {"type": "call", **{name: getattr(record, name) for name in _CALL}}
        if record.source == "provider":
            self._append(line)
        else:
            self._waiting.append(line)
            if len(self._waiting) >= _MOST_WAITING:
                self._append()

    def write_cell(self, cell: Cell, judgments: Sequence[Judgment]) -> None:
        """One finished cell with all its judgments. Raises OSError when the disk does not take it; then it stays owed."""
        owed = any(judgment.status in OWED for judgment in judgments)
        rows = [_row(judgment) for judgment in judgments]
        self._append({"type": "cell", "cell": cell.id, "owed": owed, "columns": cell.columns, "judgments": rows})
        self.done[cell.id] = not owed

    def write_lost(self, calls: int) -> None:
        """Calls that were in flight when an earlier attempt was killed: they may have been charged, and are asked again."""
        self._append({"type": "lost", "calls": calls})

    def close(self) -> None:
        """Writes what waits and closes the file; closed it is in any case. Raises OSError when the disk does not take it."""
        try:
            self._append()
            os.fsync(self._file)
        finally:
            os.close(self._file)

    def _append(self, *more: dict[str, Any]) -> None:
        """Writes what waits, then `more`, in one piece or not at all; calls that were not written wait for the next line."""
        lines = [*self._waiting, *more]
        data = "".join(canonical_json(line) + "\n" for line in lines).encode("utf-8", "surrogatepass")
        try:
            if (written := os.write(self._file, data)) != len(data):
                raise OSError(errno.ENOSPC, f"{written} of {len(data)} bytes written", str(self.path))
        except OSError:
            self._waiting = [line for line in lines if line["type"] == "call"]
            os.ftruncate(self._file, self._end)
            raise
        self._end += len(data)
        self._waiting = []


def _row(judgment: Judgment) -> dict[str, Any]:
    row = {name: getattr(judgment, name) for name in _JUDGMENT}
    return {**row, "evidence": [{name: getattr(one, name) for name in _EVIDENCE} for one in judgment.evidence]}


def read_lines(path: Path, *kinds: str) -> Iterator[dict[str, Any]]:
    """The journal's lines of the types `kinds`, one at a time. Raises JournalError naming a line that cannot be read: one of
    those types, or one that is of no type at all."""
    if not path.exists():
        return
    needles = [_NEEDLES[kind] for kind in kinds]
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            if not raw.endswith(b"\n"):
                continue
            if not any(needle in raw for needle in needles):
                if _is_foreign(raw):
                    raise _damaged(path, number, f"its type is none of {', '.join(_HOLDS)}", sum(map(_is_foreign, file)))
                continue
            try:
                line = json.loads(raw.decode("utf-8", "surrogatepass"))
            except (ValueError, RecursionError) as error:
                raise _damaged(path, number, str(error)) from error
            if not isinstance(line, dict):
                raise _damaged(path, number, "no JSON object")
            if (kind := line.get("type")) in kinds:
                if wrong := [name for name, form in _HOLDS[kind].items() if not isinstance(line.get(name), form)]:
                    raise _damaged(path, number, f"no {wrong[0]}")
                yield line


def _is_foreign(raw: bytes) -> bool:
    """Whether a line is of no type that a journal has; an empty one holds nothing."""
    return bool(raw.strip()) and not any(needle in raw for needle in _NEEDLES.values())


def _damaged(path: Path, number: int, why: str, more: int = 0) -> JournalError:
    also = f" and {more} more like it" if more else ""
    what = f"not a journal line ({why}){also}; take it out: judgments that it held are owed again, calls are lost to the bill"
    return JournalError(f"{path}:{number}: {what}")


def _cut_torn_tail(path: Path) -> None:
    if not path.exists():
        return
    with path.open("rb+") as file:
        file.seek(0, os.SEEK_END)
        end = position = file.tell()
        while position > 0:
            step = min(65536, position)
            file.seek(position - step)
            if (found := file.read(step).rfind(b"\n")) >= 0:
                position = position - step + found + 1
                break
            position -= step
        if position != end:
            file.truncate(position)
