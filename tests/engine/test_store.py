"""The answer cache holds text, refuses pickles, and never trusts a row that something else wrote."""

from __future__ import annotations

import asyncio
import pickle
import sqlite3
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from dreambench.engine.call import Call, Reply, Usage
from dreambench.engine.store import AnswerStore, CacheMode, open_text_cache

REPLY = Reply("answer", model="m", usage=Usage(1, 2), cost=0.5)
ASKED = Call("p", "p", "m", {"q": 1})
BOMB_WENT_OFF: list[str] = []


def go_off() -> str:
    BOMB_WENT_OFF.append("boom")
    return REPLY.to_json()


class Bomb:
    """Runs code when unpickled."""

    def __reduce__(self) -> Any:
        return go_off, ()


def store(folder: Path, mode: CacheMode = CacheMode.READWRITE) -> AnswerStore:
    made = AnswerStore(mode)
    made.open(shared=folder / "cache", run_local=folder / "answers")
    return made


def get(folder: Path, call: Call = ASKED) -> Reply | None:
    opened = store(folder)
    try:
        return asyncio.run(opened.get(call.key))
    finally:
        opened.close()


def put(folder: Path, call: Call = ASKED, reply: Reply = REPLY) -> None:
    opened = store(folder)
    asyncio.run(opened.put(call, reply))
    opened.close()


def rewrite(folder: Path, **columns: Any) -> None:
    with sqlite3.connect(folder / "cache" / "cache.db") as connection:
        for column, value in columns.items():
            connection.execute(f"update Cache set {column} = ?", (value,))


@pytest.mark.parametrize("size", [10, 200_000])
def test_answers_small_and_large_come_back(size: int, tmp_path: Path) -> None:
    reply = Reply("字" * size, fingerprint="f")
    put(tmp_path, reply=reply)
    assert get(tmp_path) == reply
    assert get(tmp_path, Call("p", "p", "m", {"q": 2})) is None


def test_the_folder_is_the_owners_alone(tmp_path: Path) -> None:
    put(tmp_path)
    assert stat.S_IMODE((tmp_path / "cache").stat().st_mode) == 0o700


@pytest.mark.parametrize("in_file", [False, True])
def test_a_planted_pickle_is_refused_unread_and_asked_for_again(in_file: bool, tmp_path: Path) -> None:
    put(tmp_path)
    if in_file:
        (tmp_path / "cache" / "planted.val").write_bytes(pickle.dumps(Bomb()))
        rewrite(tmp_path, mode=4, filename="planted.val", value=None)
    else:
        rewrite(tmp_path, mode=4, value=pickle.dumps(Bomb()))
    assert get(tmp_path) is None
    assert BOMB_WENT_OFF == []
    put(tmp_path)
    assert get(tmp_path) == REPLY


@pytest.mark.parametrize("mode", [2, 3])
def test_rows_of_bytes_and_text_files_from_elsewhere_are_refused(mode: int, tmp_path: Path) -> None:
    put(tmp_path)
    outside = tmp_path / "outside.json"
    outside.write_text(Reply("not ours").to_json())
    rewrite(tmp_path, mode=mode, filename="../outside.json", value=None)
    assert get(tmp_path) is None
    assert outside.exists()


@pytest.mark.parametrize("text", ["", "{", "null", "[]", '{"answer": "x"}', '{"answer":"x","usage":{"nonsense":1}}'])
def test_a_corrupted_entry_is_a_miss(text: str, tmp_path: Path) -> None:
    put(tmp_path)
    rewrite(tmp_path, value=text)
    assert get(tmp_path) is None
    put(tmp_path)
    assert get(tmp_path) == REPLY


def test_a_replay_leaves_a_corrupted_entry_as_evidence(tmp_path: Path) -> None:
    put(tmp_path)
    rewrite(tmp_path, value="{")
    opened = store(tmp_path, CacheMode.REPLAY)
    with pytest.raises(Exception, match="no answer for call"):
        asyncio.run(opened.get(ASKED.key))
    opened.close()
    with sqlite3.connect(tmp_path / "cache" / "cache.db") as connection:
        assert connection.execute("select count(*) from Cache").fetchone() == (1,)


def test_only_text_goes_in(tmp_path: Path) -> None:
    cache = open_text_cache(tmp_path / "cache")
    for key, value in [("k", b"bytes"), ("k", 1), ("k", None), (1, "text")]:
        with pytest.raises(TypeError):
            cache.set(key, value)
    cache.close()


def test_nothing_is_evicted(tmp_path: Path) -> None:
    cache = open_text_cache(tmp_path / "cache")
    assert (cache.eviction_policy, cache.cull_limit) == ("none", 0)
    cache.close()


def test_several_writers_lose_nothing(tmp_path: Path) -> None:
    stores = [store(tmp_path) for _ in range(4)]
    calls = [[Call("p", "p", "m", {"writer": writer, "n": n}) for n in range(20)] for writer in range(4)]

    async def go() -> int:
        await asyncio.gather(*(one.put(call, REPLY) for one, own in zip(stores, calls, strict=True) for call in own))
        return sum([await stores[0].get(call.key) == REPLY for own in calls for call in own])

    assert asyncio.run(go()) == 80
    for one in stores:
        one.close()


def test_a_planted_pickled_key_is_refused_when_keys_are_listed(tmp_path: Path) -> None:
    put(tmp_path)
    rewrite(tmp_path, key=pickle.dumps(Bomb()), raw=0)
    cache = open_text_cache(tmp_path / "cache")
    with pytest.raises(ValueError, match="refused"):
        list(cache)
    cache.close()
    assert BOMB_WENT_OFF == []


def readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow: set[int], count: int) -> list[bool]:
    """Whether each of `count` reads was made in the loop's own thread, where the reads numbered `slow` take a second."""
    seconds = iter([step for n in range(count) for step in (n, n + (1.0 if n in slow else 0.0))])
    monkeypatch.setattr("dreambench.engine.store.time.perf_counter", lambda: next(seconds))
    in_loop: list[bool] = []

    async def read() -> None:
        made = store(tmp_path)
        await made.put(ASKED, REPLY)
        inner = made._get

        def noted(key: str) -> Reply | None:
            in_loop.append(threading.current_thread() is threading.main_thread())
            return inner(key)

        monkeypatch.setattr(made, "_get", noted)
        for _ in range(count):
            assert await made.get(ASKED.key) == REPLY
        made.close()

    asyncio.run(read())
    return in_loop


def test_reads_leave_the_loop_only_while_the_disk_is_slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_loop = readers(tmp_path, monkeypatch, slow=set(range(3, 20)), count=60)
    assert all(in_loop[:8]), "five slow reads are needed to tell a slow disk from a busy machine"
    assert not any(in_loop[8:20])
    assert in_loop[-1], "the disk is quick again"


def test_a_single_slow_read_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(readers(tmp_path, monkeypatch, slow={3}, count=20))
