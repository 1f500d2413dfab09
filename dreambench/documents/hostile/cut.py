"""Cutting: a text without some stretches, as if they had never been written.

White space on both sides of a cut becomes one gap, the stronger of the two (a blank line before a line break before a
blank), so that a text with a planted passage and the text without it come out equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dreambench.documents.model import Span


def merge(spans: Iterable[tuple[int, int]], text: str) -> list[tuple[int, int]]:
    """The stretches in order, those that overlap or that only white space divides as one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and (start <= merged[-1][1] or not text[merged[-1][1] : start].strip()):
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif end > start:
            merged.append((start, end))
    return merged


def keep(text: str, cuts: Sequence[tuple[int, int]]) -> list[Span]:
    """What is left of `text`, as stretches of it; `cuts` are in order and do not touch."""
    kept: list[Span] = []
    position, first = 0, len(text) - len(text.lstrip())
    for start, end in cuts:
        before = _back_over_space(text, position, start)
        after = _over_space(text, end)
        if before <= first or after == len(text):
            # At an end of the text the outer white space is its own, the inner one came with the passage.
            pieces = [(position, start if before == position == 0 else before)]
            rest = end if after == len(text) and before > 0 else after
        else:
            pieces, rest = _gap(text, position, before, start, end, after)
        kept += [Span(*piece) for piece in pieces if piece[1] > piece[0]]
        position = rest
    if position < len(text):
        kept.append(Span(position, len(text)))
    return kept


def _gap(text: str, position: int, before: int, start: int, end: int, after: int) -> tuple[list[tuple[int, int]], int]:
    """The stretches to keep up to a cut, and where to go on: one gap out of the white space on both sides."""
    left, right = text[before:start], text[end:after]
    if not left or not right:
        return [(position, start)], end
    lines_left, lines_right = left.count("\n"), right.count("\n")
    if lines_right >= lines_left:
        return [(position, before)], end
    if lines_right:  # blank lines of the left, indentation of the right
        return [(position, before + left.rfind("\n") + 1)], end + right.rfind("\n") + 1
    return [(position, start)], after


def _back_over_space(text: str, least: int, position: int) -> int:
    while position > least and text[position - 1].isspace():
        position -= 1
    return position


def _over_space(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position
