"""Sentences: sentencex's boundaries, corrected for citation markers.

No boundary falls inside a marker (an address is full of dots), and markers that follow a full stop stay with the
sentence they support.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from dreambench.documents.blocks import table_rows
from dreambench.documents.markers import Marker
from dreambench.documents.model import Block, BlockKind, Sentence, Span

_PROSE = (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.QUOTE)
_BEFORE_MARKER = re.compile(r"[ \t\u3000\u00a0]*[(（,，;；、]*[ \t\u3000\u00a0]*")
_AFTER_MARKER = re.compile(r"[)）\]】,，;；、]*[.。]?(?=[\s\[【(（\u4e00-\u9fff]|$)")
_SOMETHING = re.compile(r"\w")


def split_sentences(text: str, blocks: Sequence[Block], markers: Sequence[Marker], language: str) -> list[Sentence]:
    """Sentences of all prose blocks and table rows, ordered and disjoint. Stretches without a letter or digit
    outside markers (a paragraph that is only `[3]`) are no sentences."""
    starts = [marker.start for marker in markers]
    sentences: list[Sentence] = []
    for number, block in enumerate(blocks):
        if block.kind is BlockKind.TABLE:
            spans = table_rows(text, block)
        elif block.kind in _PROSE:
            spans = _cut(text, block.content, markers, starts, language)
        else:
            continue
        sentences.extend(Sentence(span, number) for span in spans if _has_words(text, span, markers, starts))
    return sentences


def _cut(text: str, span: Span, markers: Sequence[Marker], starts: Sequence[int], language: str) -> list[Span]:
    from sentencex import get_sentence_boundaries

    boundaries: list[int] = []
    for found in get_sentence_boundaries(language, span.of(text)):
        if not found["is_paragraph_break"]:
            boundaries.append(span.start + found["end_index"])
    pieces: list[Span] = []
    start = span.start
    for boundary in boundaries:
        end = _past_markers(text, min(boundary, span.end), span.end, markers, starts)
        if end is not None and end > start:
            pieces.append(Span(start, end))
            start = end
    if start < span.end:
        pieces.append(Span(start, span.end))
    return [stripped for piece in pieces if (stripped := _strip(text, piece)) is not None]


def _past_markers(text: str, boundary: int, limit: int, markers: Sequence[Marker], starts: Sequence[int]) -> int | None:
    """The boundary moved behind the markers that follow it, or None when it lies inside a marker."""
    at = bisect_right(starts, boundary) - 1
    if at >= 0 and markers[at].start < boundary < markers[at].end:
        return None
    while True:
        before = _BEFORE_MARKER.match(text, boundary, limit)
        next_start = before.end() if before else boundary
        at = bisect_right(starts, next_start - 1 if next_start else -1)
        # A parenthesis that belongs to the marker itself is no separator before it.
        while at > 0 and markers[at - 1].start >= boundary:
            at -= 1
        if at >= len(markers) or markers[at].start > next_start or markers[at].start < boundary or not markers[at].trails:
            return boundary
        after = _AFTER_MARKER.match(text, markers[at].end, limit)
        boundary = after.end() if after else markers[at].end


def _strip(text: str, span: Span) -> Span | None:
    piece = span.of(text)
    stripped = piece.strip()
    if not stripped:
        return None
    start = span.start + len(piece) - len(piece.lstrip())
    return Span(start, start + len(stripped))


def _has_words(text: str, span: Span, markers: Sequence[Marker], starts: Sequence[int]) -> bool:
    position = span.start
    at = max(0, bisect_right(starts, span.start) - 1)
    while position < span.end:
        while at < len(markers) and markers[at].end <= position:
            at += 1
        stop = min(span.end, markers[at].start) if at < len(markers) else span.end
        if stop > position and _SOMETHING.search(text, position, stop):
            return True
        if at >= len(markers) or markers[at].start >= span.end:
            return False
        if markers[at].style in ("link", "html_link"):
            return True
        position = max(position, markers[at].end)
    return False
