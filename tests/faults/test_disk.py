"""A disk that is full while journaling, while caching, and while the tables are written."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from dreambench.engine import journal as journal_module
from dreambench.engine.journal import Journal, read_lines
from dreambench.runs.folder import DiskError
from tests.engine.test_journal import make_cell, record, row
from tests.faults.tiny import QUESTIONS, Tiny, exit_code, same_numbers


class FullDisk:
    """`os` for the journal: from the write number `first` on the disk takes `part` of each line, and says so or not."""

    def __init__(self, first: int, part: float, until: int = 10**9) -> None:
        self.writes = 0
        self._first, self._part, self._until = first, part, until

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def write(self, descriptor: int, data: bytes) -> int:
        self.writes += 1
        if not self._first <= self.writes < self._until:
            return os.write(descriptor, data)
        if cut := int(len(data) * self._part):
            return os.write(descriptor, data[:cut])
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("part", [0.0, 0.5])
@pytest.mark.parametrize("first", [1, 7, 19])
def test_a_disk_full_while_journaling_leaves_a_run_that_goes_on(
    first: int, part: float, tiny: Tiny, undisturbed: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "os", FullDisk(first, part))
    with pytest.raises(DiskError) as caught:
        tiny.attempt()
    assert str(tiny.run) in str(caught.value)
    assert "type: the same command again, once the disk has room" in str(caught.value)
    bought = len(tiny.stub.requests)
    monkeypatch.undo()
    resumed = tiny.attempt()
    assert (exit_code(resumed), resumed.outcome.owed) == (0, 0)
    assert len(tiny.stub.requests) == QUESTIONS, f"{bought} answers were stored and are not bought again"
    assert len(tiny.done) == len(set(tiny.done))
    same_numbers(tiny.run, undisturbed.run)


def test_a_line_that_a_full_disk_tore_spoils_no_later_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal.jsonl"
    monkeypatch.setattr(journal_module, "os", FullDisk(2, 0.5, until=4))
    written = Journal(path)
    written.write_cell(make_cell("a"), [row()])
    with pytest.raises(OSError, match="bytes written"):
        written.write_cell(make_cell("b"), [row()])
    with pytest.raises(OSError, match="bytes written"):
        written.write_call(record("provider"))
    written.write_cell(make_cell("c"), [row()])
    written.close()
    assert [line["cell"] for line in read_lines(path, "cell")] == ["a", "c"], "b is owed"
    assert len(list(read_lines(path, "call"))) == 1, "what was bought is told as soon as there is room"
    assert not written.is_done(make_cell("b"))
    assert path.read_bytes().count(b"\n") == 3


def test_a_disk_full_while_caching_loses_no_answer_and_says_so(
    tiny: Tiny, undisturbed: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    from diskcache import Cache

    stored, sets = Cache.set, []

    def filling(self: Any, *given: Any, **keys: Any) -> Any:
        sets.append(given)
        if 5 < len(sets) <= 12:
            raise sqlite3.OperationalError("database or disk is full")
        return stored(self, *given, **keys)

    monkeypatch.setattr(Cache, "set", filling)
    result = tiny.attempt()
    assert (exit_code(result), len(tiny.stub.requests)) == (0, QUESTIONS)
    assert any("disk is full" in finding and "all are stored now" in finding for finding in result.findings)
    same_numbers(tiny.run, undisturbed.run)
    monkeypatch.undo()
    again = tiny.attempt(f"paths.outputs={tiny.folder / 'again'}")
    assert exit_code(again) == 0
    assert len(tiny.stub.requests) == QUESTIONS, "what could not be stored at first was stored at the end"


def test_a_cache_disk_that_stays_full_is_said_with_what_it_costs(
    tiny: Tiny, undisturbed: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    from diskcache import Cache

    def full(self: Any, *given: Any, **keys: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Cache, "set", full)
    result = tiny.attempt()
    assert (exit_code(result), len(tiny.stub.requests)) == (0, QUESTIONS)
    same_numbers(tiny.run, undisturbed.run)
    (said,) = (finding for finding in result.findings if "could not be stored" in finding)
    assert "No space left on device" in said and f"({QUESTIONS} of them are lost and will be bought again)" in said


def test_a_disk_full_at_the_tables_costs_nothing_to_repeat(
    tiny: Tiny, undisturbed: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    import polars as pl

    def full(self: Any, path: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    with pytest.raises(DiskError, match=r"No space left on device \(.*parquet"):
        tiny.attempt()
    monkeypatch.undo()
    again = tiny.attempt()
    assert (exit_code(again), again.outcome.finished, len(tiny.stub.requests)) == (0, 0, QUESTIONS)
    same_numbers(tiny.run, undisturbed.run)
