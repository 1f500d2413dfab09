"""A cache that was damaged or planted between two runs, and a clock that moves backwards in the middle of one."""

from __future__ import annotations

import pickle
import shutil
import sqlite3
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dreambench.engine.clock import Clock
from dreambench.engine.store import StoreError
from tests.faults.tiny import QUESTIONS, Tiny, exit_code, same_numbers, words

WENT_OFF: list[str] = []


def go_off() -> str:
    WENT_OFF.append("boom")
    return "{}"


class Bomb:
    """Runs code when unpickled."""

    def __reduce__(self) -> Any:
        return go_off, ()


def filled(tiny: Tiny, undisturbed: Tiny) -> sqlite3.Connection:
    """A copy of the undisturbed run's cache, opened behind the product's back."""
    shutil.copytree(undisturbed.folder / "cache", tiny.folder / "cache")
    return sqlite3.connect(tiny.folder / "cache" / "cache.db")


def test_half_written_corrupted_and_planted_entries_are_bought_again_and_no_other(tiny: Tiny, undisturbed: Tiny) -> None:
    with filled(tiny, undisturbed) as connection:
        rows = [row for (row,) in connection.execute("select rowid from Cache order by rowid")]
        outside = tiny.folder / "outside.val"
        outside.write_text('{"answer": "planted"}', encoding="utf-8")
        (tiny.folder / "cache" / "planted.val").write_bytes(pickle.dumps(Bomb()))
        damage: list[tuple[int, Any, str | None]] = [
            (1, '{"answer":"{\\"score\\"', None),
            (1, "", None),
            (1, "\x00\x01garbage", None),
            (4, pickle.dumps(Bomb()), None),
            (4, None, "planted.val"),
            (3, None, "../outside.val"),
        ]
        for row, (mode, value, name) in zip(rows, damage, strict=False):
            connection.execute("update Cache set mode = ?, value = ?, filename = ? where rowid = ?", (mode, value, name, row))
    connection.close()
    result = tiny.attempt()
    assert exit_code(result) == 0
    assert WENT_OFF == []
    assert outside.exists(), "a file outside of the cache is neither read nor removed"
    assert len(tiny.stub.requests) == len(damage)
    same_numbers(tiny.run, undisturbed.run)
    assert len(rows) >= QUESTIONS


@pytest.mark.parametrize("keep", [0.3, 0.9])
def test_a_cache_file_that_is_half_there_never_gives_a_wrong_number(keep: float, tiny: Tiny, undisturbed: Tiny) -> None:
    filled(tiny, undisturbed).close()
    database = tiny.folder / "cache" / "cache.db"
    whole = database.read_bytes()
    database.write_bytes(whole[: int(len(whole) * keep)])
    for extra in database.parent.glob("cache.db-*"):
        extra.unlink()
    with pytest.raises(StoreError) as caught:
        tiny.attempt()
    assert "type: paths.cache=OTHER_FOLDER" in words(caught.value)
    assert tiny.stub.requests == [], "nothing is bought before the user has decided"
    result = tiny.attempt(f"paths.cache={tiny.folder / 'other'}")
    assert exit_code(result) == 0
    same_numbers(tiny.run, undisturbed.run)


class Backwards(Clock):
    """A wall clock that is set back by an hour with every look at it."""

    def __init__(self) -> None:
        self._hours = 0

    def now(self) -> datetime:
        self._hours += 1
        return datetime(2030, 1, 1, tzinfo=UTC) - timedelta(hours=self._hours)


def test_a_clock_that_moves_backwards_changes_nothing(tiny: Tiny, undisturbed: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter(range(2_000_000_000, 0, -3600))
    monkeypatch.setattr(time, "time", lambda: float(next(moments)))
    tiny.clock = Backwards()
    result = tiny.attempt("engine.budget.seconds=300")
    assert exit_code(result) == 0
    again = tiny.attempt(f"paths.outputs={tiny.folder / 'again'}")
    assert len(tiny.stub.requests) == QUESTIONS, "stored answers do not expire"
    assert [path.name for path in sorted((again.folder.root / "attempts").iterdir())] == ["1"]
    calls = result.tables["calls"]
    assert calls["seconds"].min() >= 0
    monkeypatch.undo()
    same_numbers(tiny.run, undisturbed.run)
