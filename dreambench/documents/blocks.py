"""Blocks and sections: what the lines make together."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dreambench.documents.lines import Line, LineKind
from dreambench.documents.model import Block, BlockKind, Section, Span

_SEPARATOR_ROW = re.compile(r"\|?[ \t]*:?-{1,}:?[ \t]*(?:\|[ \t]*:?-{1,}:?[ \t]*)*\|?$")
_MARKUP = re.compile(r"\*\*|__|`")
_ITEMS = (LineKind.BULLET, LineKind.NUMBER)
_SINGLE = {LineKind.RULE: BlockKind.RULE, LineKind.HEADING: BlockKind.HEADING}
_RUNS = {LineKind.TABLE: BlockKind.TABLE, LineKind.QUOTE: BlockKind.QUOTE}


def build_blocks(text: str, lines: Sequence[Line], region_of: Sequence[int], narration: frozenset[int]) -> list[Block]:
    """Blocks in order. `region_of[i]` is the reference list of line i, or -1.

    Lines whose start is in `narration` stand alone, so that no sentence runs from narration into the report.
    """
    blocks: list[Block] = []
    index = 0
    section = -1
    while index < len(lines):
        stop = _block_end(text, lines, index, region_of, narration)
        is_list = region_of[index] >= 0
        heading = not is_list and (lines[index].kind is LineKind.HEADING or _is_underlined(lines, index, stop))
        if heading or section < 0:
            section += 1
        blocks.append(_make_block(text, lines, index, stop, is_list, section))
        index = stop
    return blocks


def _block_end(text: str, lines: Sequence[Line], index: int, region_of: Sequence[int], narration: frozenset[int]) -> int:
    first = lines[index]
    stop = index + 1
    if region_of[index] >= 0:
        while stop < len(lines) and region_of[stop] == region_of[index]:
            stop += 1
        return stop
    if first.kind in _SINGLE or first.start in narration:
        return stop
    while stop < len(lines) and region_of[stop] < 0 and _joins(first, lines[stop]) and lines[stop].start not in narration:
        stop += 1
        if lines[stop - 1].kind is LineKind.UNDERLINE:
            break
    return stop


def _joins(first: Line, line: Line) -> bool:
    """Whether a line continues the block that `first` began."""
    if first.kind is LineKind.CODE:
        return line.kind is LineKind.CODE and not line.opens
    if line.gap:
        return False
    if first.kind in _RUNS:
        return line.kind is first.kind
    if line.kind is LineKind.UNDERLINE:
        return first.kind is LineKind.TEXT
    return line.kind is LineKind.TEXT


def _is_underlined(lines: Sequence[Line], index: int, stop: int) -> bool:
    return stop - index > 1 and lines[stop - 1].kind is LineKind.UNDERLINE


def _make_block(text: str, lines: Sequence[Line], index: int, stop: int, is_list: bool, section: int) -> Block:
    first, last = lines[index], lines[stop - 1]
    span = Span(first.start, last.end)
    if is_list:
        return Block(BlockKind.REFERENCE_LIST, span, span, section)
    if first.kind is LineKind.HEADING:
        end = len(text[first.content : last.end].rstrip("# \t"))
        return Block(BlockKind.HEADING, span, Span(first.content, first.content + end), section, first.level)
    if first.kind is LineKind.CODE:
        inner = lines[index + 1 : stop]
        if inner and text[inner[-1].start] in "`~" and len(inner) > 0:
            inner = inner[:-1]
        content = Span(inner[0].start, inner[-1].end) if inner else Span(first.end, first.end)
        return Block(BlockKind.CODE, span, content, section)
    if first.kind in _ITEMS:
        return Block(BlockKind.LIST_ITEM, span, Span(first.content, last.end), section, first.level)
    if _is_underlined(lines, index, stop):
        return Block(BlockKind.HEADING, span, Span(first.start, lines[stop - 2].end), section, 1)
    kind = _RUNS.get(first.kind) or _SINGLE.get(first.kind, BlockKind.PARAGRAPH)
    return Block(kind, span, Span(first.content, last.end), section)


def build_sections(text: str, blocks: Sequence[Block]) -> list[Section]:
    """Sections from the heading blocks; text before the first heading (or no text at all) makes one of level 0."""
    heads: list[tuple[str, int, int]] = []
    if not blocks or blocks[0].kind is not BlockKind.HEADING:
        heads.append(("", 0, 0))
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            heads.append((_MARKUP.sub("", block.content.of(text)).strip(), block.level, block.span.start))
    return _nest(heads, len(text))


def _nest(heads: Sequence[tuple[str, int, int]], length: int) -> list[Section]:
    ends = [length] * len(heads)
    parents: list[int | None] = [None] * len(heads)
    stack: list[int] = []
    for index, (_, level, start) in enumerate(heads):
        while stack and heads[stack[-1]][1] >= level:
            ends[stack.pop()] = start
        if stack and heads[stack[-1]][1] == 0:
            ends[stack.pop()] = start
        parents[index] = stack[-1] if stack else None
        stack.append(index)
    own = [heads[i + 1][2] if i + 1 < len(heads) else length for i in range(len(heads))]
    return [
        Section(title, level, Span(start, ends[i]), Span(start, own[i]), parents[i])
        for i, (title, level, start) in enumerate(heads)
    ]


def table_rows(text: str, block: Block) -> list[Span]:
    """The data rows of a table block: without the header row and the row of dashes below it."""
    rows: list[Span] = []
    position = block.span.start
    header = False
    for line in block.span.of(text).splitlines(keepends=True):
        stripped = line.strip()
        start = position + len(line) - len(line.lstrip())
        position += len(line)
        if stripped and _SEPARATOR_ROW.match(stripped):
            header = header or len(rows) == 1
            if header and len(rows) == 1:
                rows.clear()
            continue
        if stripped:
            rows.append(Span(start, start + len(stripped)))
    return rows


def inline_code_spans(text: str, code_free: Sequence[Span]) -> list[Span]:
    """Spans of `code` inside each given block: a run of backticks up to the next run of the same length."""
    spans: list[Span] = []
    if "`" not in text:
        return spans
    for block in code_free:
        if text.find("`", block.start, block.end) < 0:
            continue
        waiting: dict[int, list[tuple[int, int]]] = {}
        runs = [m.span() for m in re.finditer("`+", block.of(text))]
        for run in reversed(runs):
            waiting.setdefault(run[1] - run[0], []).append(run)
        until = -1
        for begin, end in runs:
            same = waiting[end - begin]
            same.pop()
            if begin >= until and same:
                until = same[-1][1]
                spans.append(Span(block.start + begin, block.start + until))
    return spans
