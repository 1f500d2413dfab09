"""Quotes are checked by code: words that a judge puts in quotation marks must stand in the text that it quotes from.

Both sides are folded first (width, quotation marks, dashes, case, runs of white space, markdown emphasis), then an exact
place is looked for, then the closest one. Numbers get no tolerance: "grew 3 %" is no quote of "grew 8 %".
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass
from functools import cached_property

from rapidfuzz import fuzz

from dreambench.documents.model import Span
from dreambench.language.text import fold_width
from dreambench.remembered import remembered

SIMILARITY = 90.0
"""Least rapidfuzz partial ratio (0-100) of a quote and its place."""

_ELLIPSIS = re.compile(r"\s*[\[(]?(?:\.\.\.+|…+)[\])]?\s*")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_EMPHASIS = frozenset("*_`#\\")
_MARKS = " \t\r\n\"'"
_NO_EMPHASIS = dict.fromkeys(map(ord, _EMPHASIS))
_LONG = 4000
"""Characters above which a text counts as a report or page; others are passages and quotes."""


@dataclass(frozen=True)
class _Folded:
    """A folded text and what it was made of."""

    text: str
    given: str

    @cached_property
    def at(self) -> array[int]:
        """Of every character of the folded text, the offset in the text that was given."""
        at = array("I")
        blank = True
        for offset, char in enumerate(fold_width(self.given)):
            if char in _EMPHASIS or (blank and char.isspace()):
                continue
            blank = char.isspace()
            at.append(offset)
        return at


def check_quote(quote: str, text: str) -> Span | None:
    """Where `quote` stands in `text`, None when it does not; an omission ("...") may join parts that follow each other."""
    parts = [part for piece in _ELLIPSIS.split(quote) if (part := _fold(piece.strip(_MARKS)).text)]
    folded = _fold(text)
    first = last = None
    start = 0
    for part in parts:
        found = _find(part, folded.text, start)
        if found is None:
            return None
        first = found if first is None else first
        last, start = found, found.end
    if first is None or last is None:
        return None
    return Span(folded.at[first.start], folded.at[last.end - 1] + 1)


def _folded(text: str) -> _Folded:
    plain = " ".join(fold_width(text).translate(_NO_EMPHASIS).split())
    lower = plain.lower()
    if len(lower) != len(plain) or "Σ" in plain:  # as a whole it would change its length, or letters by their neighbours
        lower = "".join(low if len(low := char.lower()) == 1 else char for char in plain)
    return _Folded(lower, text)


_fold = remembered(_folded, border=_LONG, short=4096, long=64)
"""The same passages are quoted again and again."""


def _find(part: str, text: str, start: int) -> Span | None:
    exact = text.find(part, start)
    if exact >= 0:
        return Span(exact, exact + len(part))
    rest = text[start:]
    if len(part) > len(rest):  # a partial ratio would look for the text in the quote
        close = fuzz.ratio(part, rest) >= SIMILARITY
        return Span(start, len(text)) if close and _same_numbers(part, rest) else None
    found = fuzz.partial_ratio_alignment(part, rest, score_cutoff=SIMILARITY)
    if found is None or found.dest_end <= found.dest_start:
        return None
    left, right = _whole_words(rest, found.dest_start, found.dest_end)
    return Span(start + left, start + right) if _same_numbers(part, rest[left:right]) else None


def _same_numbers(part: str, place: str) -> bool:
    return _NUMBER.findall(part) == _NUMBER.findall(place)


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The stretch, with words (of Latin letters and digits) that it cuts at its ends made whole."""
    while start > 0 and _joined(text[start - 1]) and _joined(text[start]):
        start -= 1
    while end < len(text) and _joined(text[end - 1]) and _joined(text[end]):
        end += 1
    return start, end


def _joined(char: str) -> bool:
    return (char.isascii() and char.isalnum()) or char in ".,"
