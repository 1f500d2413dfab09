"""What the detector returns: passages with their places in the given text, and the text without them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from dreambench.documents.model import Span


class Kind(StrEnum):
    """What makes a passage hostile."""

    ORDER = "order"
    """A visible sentence that tells a judge or an agent what to answer or to do."""
    CONTROL = "control"
    """Chat-template tokens, forged message headers and fences."""
    VERDICT = "verdict"
    """An answer in the form of the judge's own."""
    HIDDEN = "hidden"
    """Text that a reader of the rendered page does not see."""
    INVISIBLE = "invisible"
    """Characters without a shape: zero-width, bidirectional, tag and control characters."""
    ENCODED = "encoded"
    """Letters that decode to an order."""


class Found(NamedTuple):
    """A hit of one rule, as character offsets into the text that the rule was given; `said` is what a code stands for."""

    start: int
    end: int
    kind: Kind
    rule: str
    said: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Passage:
    """One passage: its place in the given text, its line from 1, and the words, invisible characters written as code points."""

    span: Span
    kind: Kind
    rule: str
    line: int
    words: str

    def __str__(self) -> str:
        return f"line {self.line}, characters {self.span.start}-{self.span.end}: {self.kind} ({self.rule}): {self.words}"


@dataclass(frozen=True, slots=True)
class Judged:
    """The judged text. `kept` are the stretches of the given text that it consists of, `at` where each begins in it."""

    text: str
    passages: tuple[Passage, ...]
    kept: tuple[Span, ...]
    at: tuple[int, ...]

    def original(self, span: Span) -> Span:
        """Where a stretch of the judged text stands in the given text; what was cut out inside of it is part of the answer."""
        if not self.passages:
            return span
        start = self._back(span.start)
        return Span(start, self._back(span.end - 1) + 1 if span.end > span.start else start)

    def _back(self, position: int) -> int:
        index = max(0, bisect_right(self.at, position) - 1)
        return self.kept[index].start + position - self.at[index] if self.kept else 0
