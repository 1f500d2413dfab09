"""`parse_document`: the steps from a text to a `Document`, each in its own module.

Lines -> wrappers -> reference lists -> blocks and sections -> markers -> citations -> sentences. Every step is linear
in the length of the text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from dreambench.documents.blocks import build_blocks, build_sections, inline_code_spans
from dreambench.documents.citations import ReferenceIndex, accept, resolve
from dreambench.documents.entries import Source
from dreambench.documents.lines import Line, scan_lines
from dreambench.documents.markers import find_markers
from dreambench.documents.measure import detect_language
from dreambench.documents.model import (
    Block,
    BlockKind,
    Document,
    Section,
    Sentence,
    Span,
    Wrapper,
    WrapperKind,
)
from dreambench.documents.narration import find_narration
from dreambench.documents.references import Found, find_references
from dreambench.documents.sentences import split_sentences
from dreambench.documents.silent import silent_markers
from dreambench.documents.urls import UrlMap
from dreambench.documents.wrappers import find_tagged

_LINKED_TEXT = (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.QUOTE, BlockKind.TABLE, BlockKind.HEADING)


def parse_document(text: str) -> Document:
    """The structure of a report in markdown or plain text; any string gives a document, the empty one included."""
    lines = scan_lines(text)
    tagged = find_tagged(text)
    hidden_spans = _merge([part for wrapper in tagged for part in _hidden_parts(wrapper)])
    hidden = _lines_inside(lines, hidden_spans)
    urls = UrlMap(text)
    found = find_references(Source(text, lines, urls), hidden)
    region_of = _regions(found, len(lines))
    visible = [line for i, line in enumerate(lines) if not hidden[i] and region_of[i] < 0]
    narration = find_narration(text, visible)
    blocks = build_blocks(text, lines, region_of, frozenset(w.span.start for w in narration))
    sections = build_sections(text, blocks)
    lists = [block.span for block in blocks if block.kind is BlockKind.REFERENCE_LIST]
    out = _merge([*hidden_spans, *(w.span for w in narration), *lists, *_list_headings(lines, found)])
    body = _complement(text, out)
    language = detect_language(" ".join(span.of(text) for span in body) or text)
    index = ReferenceIndex(found.references)
    markers = accept(find_markers(_mask(text, blocks, out), urls), index)
    index.join_lists([marker.start for marker in markers])
    sentences = split_sentences(text, _body_blocks(blocks, out), markers, language)
    starts = [sentence.span.start for sentence in sentences]
    citations = resolve(text, markers, index, starts, _reach(sentences, blocks, len(text)))
    return Document(
        text=text,
        title=_title(sections, blocks, text),
        language=language,
        sections=tuple(sections),
        blocks=tuple(blocks),
        sentences=tuple(sentences),
        citations=tuple(citations),
        references=tuple(found.references),
        wrappers=tuple(sorted([*tagged, *narration], key=lambda w: w.span)),
        body=tuple(body),
        silent_markers=silent_markers(text, citations),
    )


def _hidden_parts(wrapper: Wrapper) -> list[Span]:
    if wrapper.kind is not WrapperKind.ANSWER:
        return [wrapper.span]
    return [Span(wrapper.span.start, wrapper.content.start), Span(wrapper.content.end, wrapper.span.end)]


def _merge(spans: Sequence[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start <= merged[-1].end:
            if span.end > merged[-1].end:
                merged[-1] = Span(merged[-1].start, span.end)
        elif span.end > span.start:
            merged.append(span)
    return merged


def _lines_inside(lines: Sequence[Line], spans: Sequence[Span]) -> list[bool]:
    starts = [span.start for span in spans]
    inside: list[bool] = []
    for line in lines:
        at = bisect_right(starts, line.start) - 1
        inside.append(at >= 0 and line.end <= spans[at].end)
    return inside


def _regions(found: Found, count: int) -> list[int]:
    region_of = [-1] * count
    for number, region in enumerate(found.regions):
        region_of[region.first : region.last + 1] = [number] * (region.last + 1 - region.first)
    return region_of


def _list_headings(lines: Sequence[Line], found: Found) -> list[Span]:
    return [Span(lines[index].start, lines[index].end) for index in found.headings]


def _complement(text: str, spans: Sequence[Span]) -> list[Span]:
    parts: list[Span] = []
    position = 0
    for span in [*spans, Span(len(text), len(text))]:
        if text[position : span.start].strip():
            parts.append(Span(position, span.start))
        position = max(position, span.end)
    return parts


def _mask(text: str, blocks: Sequence[Block], out: Sequence[Span]) -> str:
    """The text with code and everything outside the body blanked, so that scanners see citations only where they count."""
    code = [block.span for block in blocks if block.kind is BlockKind.CODE]
    inline = inline_code_spans(text, [block.span for block in blocks if block.kind in _LINKED_TEXT])
    pieces: list[str] = []
    position = 0
    solid = {*code, *out}
    for span in _merge([*solid, *inline]):
        pieces.append(text[position : span.start])
        pieces.append(("\n" if span in solid or "\n" in span.of(text) else " ") * len(span))
        position = span.end
    pieces.append(text[position:])
    return "".join(pieces)


def _body_blocks(blocks: Sequence[Block], out: Sequence[Span]) -> list[Block]:
    """All blocks in their places, those that begin outside the body turned into rules, which have no sentences."""
    starts = [span.start for span in out]
    kept: list[Block] = []
    for block in blocks:
        at = bisect_right(starts, block.span.start) - 1
        outside = at >= 0 and block.span.start < out[at].end
        kept.append(Block(BlockKind.RULE, block.span, block.content, block.section) if outside else block)
    return kept


def _reach(sentences: Sequence[Sentence], blocks: Sequence[Block], length: int) -> list[int]:
    """For each sentence the position up to which a marker after it is its own: the next heading or other sentence block."""
    reach: list[int] = []
    headings = [block.span.start for block in blocks if block.kind is BlockKind.HEADING]
    for sentence in sentences:
        at = bisect_right(headings, sentence.span.start)
        reach.append(headings[at] if at < len(headings) else length)
    return reach


def _title(sections: Sequence[Section], blocks: Sequence[Block], text: str) -> str:
    """The first heading of level 1, else the first heading, else nothing."""
    named = [section for section in sections if section.level > 0 and section.title]
    for section in named:
        if section.level == 1:
            return section.title
    return named[0].title if named else ""
