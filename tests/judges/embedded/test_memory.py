"""The shared memory: made once under many threads, bounded, and tried again after a failure."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from dreambench.judges.embedded.memory import Memory


def test_many_threads_make_a_value_once() -> None:
    made: list[str] = []
    barrier = Barrier(8)
    memory: Memory[str, str] = Memory(lambda key: made.append(key) or key.upper(), size=2)  # type: ignore[func-returns-value]

    def ask(_: int) -> str:
        barrier.wait()
        return memory("a")

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(8))) == ["A"] * 8
    assert made == ["a"]


def test_the_value_that_was_used_longest_ago_is_forgotten() -> None:
    made: list[str] = []
    memory: Memory[str, int] = Memory(lambda key: made.append(key) or len(made), size=2)  # type: ignore[func-returns-value]
    for key in ("a", "b", "a", "c", "a", "b"):
        memory(key)
    assert made == ["a", "b", "c", "b"]


def test_a_failure_is_not_remembered() -> None:
    tries: list[int] = []

    def make(key: str) -> str:
        tries.append(1)
        if len(tries) == 1:
            raise OSError("disk")
        return key

    memory = Memory(make, size=2)
    with pytest.raises(OSError, match="disk"):
        memory("a")
    assert memory("a") == "a"
