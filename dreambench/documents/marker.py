"""One citation marker, and the numbers inside it."""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_RANGE = 100
NUMBERS = re.compile(r"\s*\^?\d{1,4}(?:†[^,，;；]*)?(?:\s*(?:[,，、;；]|[-–—−~～至])\s*\^?\d{1,4}(?:†[^,，;；]*)?)*\s*$")
_PART = re.compile(r"\^?(\d{1,4})(?:†[^,，;；]*)?\s*(?:[-–—−~～至]\s*\^?(\d{1,4})(?!\d*†))?")


class Marker(NamedTuple):
    """A candidate: `labels` are looked up in the reference lists, `url` is given where the marker has its own.

    `certain` ones are citations whatever the lists say. `trails`: when it follows a full stop it belongs before it.
    `narrative`: `Author (2023)`, not `(Author, 2023)`.
    """

    start: int
    end: int
    style: str
    labels: tuple[str, ...]
    url: str | None = None
    certain: bool = True
    trails: bool = True
    narrative: bool = False


def expand(inner: str) -> tuple[str, ...]:
    """`1, 3-5` -> 1, 3, 4, 5. A range that falls or is longer than 100 keeps its two ends only."""
    labels: list[str] = []
    for match in _PART.finditer(inner):
        first, last = match.groups()
        if last is None:
            labels.append(first)
        elif 0 < int(last) - int(first) <= MAX_RANGE:
            labels.extend(str(n) for n in range(int(first), int(last) + 1))
        else:
            labels.extend((first, last))
    return tuple(dict.fromkeys(labels))
