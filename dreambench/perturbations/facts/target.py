"""A place in a sentence with what can be put there instead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class Target:
    """`start:end` of a sentence's text; `write` gives the words to put there, which differ from those that stand there."""

    start: int
    end: int
    write: Callable[[Random], str]


def same_case(old: str, new: str) -> str:
    """`new` with the capitals of `old`: none, the first letter, or all."""
    if old.isupper() and len(old) > 1 and old.isascii():
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new
