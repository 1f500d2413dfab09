"""Sentences: sentencex's boundaries, corrected for citation markers.

No boundary falls inside a marker (an address is full of dots), and markers that follow a full stop stay with the
sentence they support.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from sentencex import get_sentence_boundaries

from dreambench.documents.blocks import table_rows
from dreambench.documents.marker import Marker
from dreambench.documents.model import Block, BlockKind, Sentence, Span

_PROSE = (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.QUOTE)
# Most list items hold no inner full stop; looking for one first saves a call for each of them.
_INNER_STOP = re.compile(r"[.!?…](?=[^\w.,])|[。！？｡．‼⁇⁈⁉](?=.)", re.DOTALL)
_STOP_BEFORE = re.compile(r"[.!?。！？…][\"'”’」』*_]{0,3}[ \t\u3000\u00a0]*[(（]?$")
_NEXT_SENTENCE = re.compile(r"[ \t\u3000\u00a0\n\r]+[\"“'‘(（*_]{0,3}[A-Z0-9\u00c0-\u00de\u3400-\u9fff]|[\u3400-\u9fff“「《]")
_BETWEEN_MARKERS = re.compile(r"[ \t,，;；、]*")
_BEFORE_MARKER = re.compile(r"[ \t\u3000\u00a0]*[(（,，;；、]*[ \t\u3000\u00a0]*")
_AFTER_MARKER = re.compile(r"[)）\]】,，;；、]*[.。]?(?=[\s\[【(（\u4e00-\u9fff]|$)")
# Two slips of sentencex: no boundary in "30万人。2024年", one inside "A.M. Best".
_MISSED = re.compile(r"[。！？](?=[0-9])")
_ABBREVIATED = re.compile(r"(?<=[A-Za-z]\.)(?=[A-Za-z0-9])")
# "Smith et al. [1] showed": no sentence begins in lower case behind a marker.
_GOES_ON = re.compile(r"[ \t]+[a-z]")
_MARKER_ENDS = frozenset("])】>⁰¹²³⁴⁵⁶⁷⁸⁹")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SOMETHING = re.compile(r"\w")
# sentencex takes quadratic time over many sentences, so a longer block is given to it in pieces.
_PIECE = 3000
_PIECE_END = re.compile(r"\n|[。！？]|[.!?](?=\s+[A-Z])")


def split_sentences(text: str, blocks: Sequence[Block], markers: Sequence[Marker], language: str) -> list[Sentence]:
    """Sentences of all prose blocks and table rows, ordered and disjoint.

    Stretches without a letter or digit outside markers (a paragraph that is only `[3]`) are no sentences.
    """
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
    pieces: list[Span] = []
    start = span.start
    for boundary in _boundaries(text, span, markers, starts, language):
        end = _past_markers(text, boundary, span.end, markers, starts)
        if end is not None and end > start and not (_GOES_ON.match(text, end, span.end) and text[end - 1] in _MARKER_ENDS):
            _append_stripped(text, start, end, pieces)
            start = end
    _append_stripped(text, start, span.end, pieces)
    return pieces


def _boundaries(text: str, span: Span, markers: Sequence[Marker], starts: Sequence[int], language: str) -> list[int]:
    """Where sentences end: what sentencex says, and before markers that stand between a full stop and a new sentence."""
    if not _INNER_STOP.search(text, span.start, span.end):
        return []
    found: list[int] = []
    for piece in _pieces(text, span):
        for part in get_sentence_boundaries(language, _encodable(piece.of(text))):
            end = piece.start + part["end_index"]
            if not part["is_paragraph_break"] and not _ABBREVIATED.match(text, end):
                found.append(end)
        if found and found[-1] == piece.end < span.end and not _PIECE_END.match(text, piece.end - 1):
            found.pop()
    if language == "zh":
        found.extend(match.end() for match in _MISSED.finditer(text, span.start, span.end))
    found.extend(_ends_before_markers(text, span, markers, starts))
    found.sort()
    return found


def _ends_before_markers(text: str, span: Span, markers: Sequence[Marker], starts: Sequence[int]) -> Iterator[int]:
    """Where a run of markers begins that follows a full stop and is followed by a new sentence."""
    run, run_end = span.start, -1
    for at in range(bisect_left(starts, span.start + 1), bisect_left(starts, span.end)):
        marker = markers[at]
        if not marker.trails:
            continue
        if run_end < 0 or not _BETWEEN_MARKERS.fullmatch(text, run_end, max(run_end, marker.start)):
            run = marker.start
        run_end = marker.end
        if _NEXT_SENTENCE.match(text, run_end, span.end) and _STOP_BEFORE.search(text, max(span.start, run - 8), run):
            yield run


def _encodable(text: str) -> str:
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _pieces(text: str, span: Span) -> Iterator[Span]:
    start = span.start
    while span.end - start > _PIECE:
        ends = [m.end() for m in _PIECE_END.finditer(text, start + _PIECE // 2, start + _PIECE)]
        end = ends[-1] if ends else start + _PIECE
        yield Span(start, end)
        start = end
    if start < span.end:
        yield Span(start, span.end)


def _past_markers(text: str, boundary: int, limit: int, markers: Sequence[Marker], starts: Sequence[int]) -> int | None:
    """The boundary moved behind the markers that follow it, or None when it lies inside a marker."""
    at = bisect_left(starts, boundary)
    if at > 0 and boundary < markers[at - 1].end:
        return None
    while at < len(markers) and markers[at].start < limit and markers[at].trails:
        before = _BEFORE_MARKER.match(text, boundary, markers[at].start)
        if before is None or before.end() < markers[at].start:
            break
        after = _AFTER_MARKER.match(text, markers[at].end, limit)
        boundary = after.end() if after else markers[at].end
        while at < len(markers) and markers[at].start < boundary:
            at += 1
    return boundary


def _append_stripped(text: str, start: int, end: int, pieces: list[Span]) -> None:
    piece = text[start:end]
    stripped = piece.lstrip()
    start += len(piece) - len(stripped)
    stripped = stripped.rstrip()
    if stripped:
        pieces.append(Span(start, start + len(stripped)))


def _has_words(text: str, span: Span, markers: Sequence[Marker], starts: Sequence[int]) -> bool:
    """Whether a letter or digit stands outside the markers; the words of a link count."""
    position = span.start
    first = bisect_left(starts, position)
    if text[position].isalnum() and (first == len(starts) or starts[first] != position):
        return True
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
