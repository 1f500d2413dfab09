"""Whether work grows faster than its input: tells linear from quadratic on a machine that is busy with other things."""

from __future__ import annotations

import time
from collections.abc import Callable

REPEATS = 3
FLOOR = 0.005
"""Seconds below which a measurement is noise."""


def assert_not_quadratic(work: Callable[[str], object], piece: str, small: int = 10_000, factor: int = 8) -> None:
    """`work` on `factor` times as much text takes at most three times `factor` as long; quadratic work takes factor squared.

    The least of several measurements of this thread's own processor time is taken, so other load only makes it kinder.
    """
    times = {}
    for size in (small, small * factor):
        text = piece * (size // len(piece))
        times[size] = min(_seconds(work, text) for _ in range(REPEATS))
    limit = 3 * factor * max(times[small], FLOOR)
    assert times[small * factor] <= limit, f"{times} for {piece!r}"


def _seconds(work: Callable[[str], object], text: str) -> float:
    started = time.thread_time()
    work(text)
    return time.thread_time() - started
