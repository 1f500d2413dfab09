"""Whether work grows faster than its input: tells linear from quadratic on a machine that is busy with other things.

By time where most of the work is inside of libraries, by counting where it is Python: the count is the same on every machine.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

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


def assert_steps_not_quadratic(work: Callable[[int], Callable[[], object]], small: int, factor: int = 4) -> None:
    """What `work(n)` makes takes at most twice `factor` as many steps for `factor` times n; quadratic takes factor squared."""
    few, many = _steps(work(small)), _steps(work(small * factor))
    assert many <= 2 * factor * few, f"{few} steps at n={small}, {many} at n={small * factor}"


def _steps(work: Callable[[], object]) -> int:
    """Python instructions that `work` carries out; those inside of compiled libraries are not seen."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count
