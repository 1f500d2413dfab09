"""The one owner of chance: every draw follows from seed, kind of perturbation and report, and from nothing else."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

from dreambench.records import short_hash

T = TypeVar("T")


class Draws:
    """Independent streams by name, so that what one unit becomes never depends on which others are changed."""

    def __init__(self, seed: int, kind: str, report_id: str) -> None:
        self._key = (str(seed), kind, report_id)

    def stream(self, *names: object) -> random.Random:
        """The stream called `names`: the same numbers each time it is asked for."""
        return random.Random(int(short_hash("draw", *self._key, *(str(name) for name in names)), 16))

    def order(self, count: int) -> list[int]:
        """All numbers below `count`, in the order in which a growing dose takes them."""
        numbers = list(range(count))
        self.stream("order").shuffle(numbers)
        return numbers

    def shuffled(self, items: Sequence[T], *names: object) -> list[T]:
        """A shuffled copy of `items`."""
        copy = list(items)
        self.stream("shuffle", *names).shuffle(copy)
        return copy


def units_at(dose: float, eligible: int) -> int:
    """How many of `eligible` units a dose changes: the nearest whole number, halves up."""
    return min(eligible, int(dose * eligible + 0.5))
