"""Resampling of whole units (tasks), so that everything inside a task stays together.

A draw is kept as the number of times each unit was drawn: a mean over a draw is then a matrix product, and 2,000 draws
of 200 tasks take milliseconds. Draws of many units are made and used up some at a time (`count_blocks`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dreambench.errors import InputError, Problem
from dreambench.stats.results import FloatArray

Seed = int | np.random.Generator

BLOCK = 65_536
"""Counts of a block."""


def generator(seed: Seed) -> np.random.Generator:
    """The generator itself, or a new one from an integer; there is no global state."""
    return seed if isinstance(seed, np.random.Generator) else np.random.default_rng(seed)


def draw_counts(n: int, draws: int, rng: np.random.Generator) -> FloatArray:
    """How often each of n units occurs in each bootstrap sample: shape (draws, n), each row sums to n."""
    return np.concatenate(list(count_blocks(n, draws, rng)))


def count_blocks(n: int, draws: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    """The rows of `draw_counts` in blocks that stay in a processor's cache, however many units there are."""
    if draws < 100:
        raise InputError(Problem("draws", f"{draws} is too few for an interval", ("100 or more",), "draws=2000"))
    rows = max(1, BLOCK // max(n, 1))
    for first in range(0, draws, rows):
        here = min(rows, draws - first)
        drawn = rng.integers(0, n, size=(here, n), dtype=np.int64)
        drawn += np.arange(here)[:, None] * n
        yield np.bincount(drawn.ravel(), minlength=here * n).reshape(here, n).astype(np.float64)
