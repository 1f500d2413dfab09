"""Pairs of timings taken in turn, so that a machine whose speed drifts slows both alike."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def paired(ours: Callable[[], object], bare: Callable[[], object], rounds: int) -> tuple[float, float, float]:
    """Medians of both in seconds, and the median of the pairwise ratios ours / bare; one warm-up of each first."""
    ours()
    bare()
    pairs = [(seconds(ours), seconds(bare)) for _ in range(rounds)]
    return (
        statistics.median(pair[0] for pair in pairs),
        statistics.median(pair[1] for pair in pairs),
        statistics.median(pair[0] / pair[1] for pair in pairs),
    )


def show(what: str, ours: float, bare: float, ratio: float, baseline: str) -> None:
    print(f"{what:<34} {1000 * ours:9.1f} ms   {baseline:<38} {1000 * bare:9.1f} ms   ratio {ratio:6.2f}")


def process(arguments: Sequence[str], folder: Path) -> Callable[[], object]:
    """A whole Python process, its output thrown away; raises when it fails."""

    def run() -> None:
        environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(folder), "COLUMNS": "200"}
        done = subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr[-2000:]}")

    return run
