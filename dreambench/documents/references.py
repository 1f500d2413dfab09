"""Reference lists: where they are in a report.

A list is found (1) below a reference heading (Sources, References, 参考文献, ...; `#`, bold, plain or numbered), until a
heading that is not deeper; (2) anywhere, as lines `[n] ...` of which the first has its URL at its start or end (or alone
on the next line); (3) as footnote or link definitions `[^n]: ...`, `[label]: url`; (4) without any URL or as
`n. [Title](url)`, only as consecutive numbers from 1 that close the report. Other lines below a reference heading stay
ordinary text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from dreambench.documents.entries import (
    LINK,
    LIST_PREFIX,
    Entry,
    Source,
    describe,
    ends_with_address,
    has_edge_address,
    is_address_alone,
    is_link_definition,
    is_plain_entry,
    labelled_start,
    read_entries,
    table_entry,
)
from dreambench.documents.lines import Line, LineKind
from dreambench.documents.model import Reference

_NAMES = (
    r"sources?|references?|bibliography|works cited|citations?|footnotes?|endnotes?|literature cited|further reading"
    r"|(?:sources?|references?) (?:cited|list|consulted|used)|list of (?:sources|references)|cited sources|source list"
    r"|(?:sources?|references?|bibliography) (?:and|&) "
    r"(?:references?|sources?|bibliography|further reading|notes|links|citations)"
    r"|(?:key|main|primary|selected|additional|full|annotated|complete) (?:sources?|references?|bibliography|citations)"
    r"|(?:主要|重要|核心|部分|关键)?(?:信息|数据|资料|文献)?(?:参考|引用|来源|引文)(?:与|和|及)?"
    r"(?:文献|资料|来源|链接|书目|文档|网址|列表|数据源|数据来源|列表与链接)?(?:与(?:数据来?源|来源|链接|原文链接))?"
    r"|脚注|尾注|注释|资料出处|出处|相关链接"
)
_HEADING_WORDS = re.compile(
    r"(?:#{1,6}\s*)?(?:\*\*|__)?\s*(?:(?:\d{1,2}(?:\.\d{1,2})*|[IVX]{1,5}|[一二三四五六七八九十]{1,3})[.、)．:]?\s*)?"
    r"(?:📚|🔗|📖)?\s*(?:" + _NAMES + r")\s*(?:[(（][^()（）]{0,30}[)）])?\s*[:：]?\s*(?:\*\*|__)?\s*[:：]?$",
    re.IGNORECASE,
)
_NEVER_HEADING = frozenset((LineKind.CODE, LineKind.TABLE, LineKind.QUOTE, LineKind.RULE))
_ENDS_RUN = (LineKind.HEADING, LineKind.CODE, LineKind.RULE, LineKind.TABLE)
_NEVER_ENTRY = frozenset((LineKind.HEADING, LineKind.TABLE, LineKind.RULE, LineKind.QUOTE, LineKind.UNDERLINE))
_MAX_HEADING = 60
_MAX_PLAIN_HEADING = 32


@dataclass(slots=True)
class Region:
    """Lines `first` to `last` (inclusive) that make one reference_list block below line `heading` (None: without)."""

    first: int
    last: int
    heading: int | None


@dataclass(slots=True)
class Found:
    """The entries in order, the regions they fill, and the lines that are headings of lists."""

    references: list[Reference] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    headings: list[int] = field(default_factory=list)

    def add(self, source: Source, entries: Sequence[Entry], group: int, heading: int | None) -> None:
        """Take in the entries of one list."""
        if heading is not None:
            self.headings.append(heading)
        new = True
        for entry in entries:
            self.references.append(describe(source, entry, group))
            if not new and entry.first <= self.regions[-1].last + 1:
                self.regions[-1].last = max(self.regions[-1].last, entry.last)
            else:
                self.regions.append(Region(entry.first, entry.last, heading))
            new = False


def is_reference_heading(text: str, line: Line) -> bool:
    """Whether the line is a heading, bold line, item or plain line that names a reference list."""
    limit = _MAX_HEADING if line.kind is LineKind.HEADING else _MAX_PLAIN_HEADING
    if line.end - line.start > limit or line.kind in _NEVER_HEADING:
        return False
    start = line.start if line.kind is LineKind.TEXT or line.kind is LineKind.NUMBER else line.content
    return _HEADING_WORDS.match(text[start : line.end].rstrip("# ")) is not None


def find_references(source: Source, hidden: Sequence[bool]) -> Found:
    """All reference entries outside the lines marked as hidden (thinking, tool traffic)."""
    found = Found()
    text, lines, _ = source
    tail = _closing_list(source)
    group, index = 0, 0
    while index < len(lines):
        entries: list[Entry] = []
        heading: int | None = None
        if hidden[index] or lines[index].kind is LineKind.CODE:
            stop = index + 1
        elif is_reference_heading(text, lines[index]):
            heading = index
            entries, stop = _read_section(source, index, hidden)
        elif index >= tail or _starts_run(source, index):
            entries, stop = _read_run(source, index, hidden)
        if entries:
            found.add(source, entries, group, heading)
            group += 1
            index = stop
        else:
            index += 1
    return found


def _starts_run(source: Source, index: int) -> bool:
    text, lines, _ = source
    line = lines[index]
    if line.kind in _NEVER_ENTRY or line.content >= line.end:
        return False
    if line.kind is LineKind.TEXT and (prefix := LIST_PREFIX.match(text, line.content, line.end)):
        return has_edge_address(source, prefix.end(), line.end)
    if is_link_definition(text, line):
        return True
    begin = labelled_start(text, line)
    if begin is None or begin[1] >= line.end:
        return False
    if begin[2] or has_edge_address(source, begin[1], line.end):
        return True
    following = lines[index + 1] if index + 1 < len(lines) else None
    return following is not None and not following.gap and is_address_alone(source, following)


def _read_run(source: Source, index: int, hidden: Sequence[bool]) -> tuple[list[Entry], int]:
    """Labelled lines from `index` on, with their continuation lines, and the index of the first line after them."""
    entries: list[Entry] = []
    while index < len(source.lines) and not hidden[index]:
        line = source.lines[index]
        if line.kind in _ENDS_RUN:
            break
        read = read_entries(source.text, line, index)
        if read:
            entries.extend(read)
        elif entries and _continues(source, line, entries[-1]):
            entries[-1] = entries[-1].up_to(line.end, index)
        else:
            break
        index += 1
    return entries, index


def _continues(source: Source, line: Line, entry: Entry) -> bool:
    """A line that belongs to the entry above: an address alone where it has none, or indented text without a gap."""
    if line.kind in _ENDS_RUN:
        return False
    if is_address_alone(source, line):
        return not source.urls.within(entry.content, entry.end)
    return not line.gap and line.level >= 2 and line.kind is LineKind.TEXT


def _read_section(source: Source, index: int, hidden: Sequence[bool]) -> tuple[list[Entry], int]:
    """Entries below the reference heading at `index`, and the index of the line that ends its section."""
    text, lines, _ = source
    depth = lines[index].level if lines[index].kind is LineKind.HEADING else 7
    entries: list[Entry] = []
    position = index + 1
    while position < len(lines) and not hidden[position]:
        line = lines[position]
        if line.kind is LineKind.HEADING and (line.level <= depth or not entries):
            break
        if position > index + 1 and is_reference_heading(text, line):
            break
        if line.kind is not LineKind.CODE:
            _take_line(source, position, entries)
        position += 1
    if len(entries) > 1 or any(e.label or source.urls.within(e.content, e.end) for e in entries):
        return entries, position
    return [], index + 1


def _take_line(source: Source, position: int, entries: list[Entry]) -> None:
    line = source.lines[position]
    if line.kind in (LineKind.HEADING, LineKind.RULE, LineKind.UNDERLINE):
        return
    if line.kind is LineKind.TABLE:
        entries.extend(table_entry(source, line, position))
        return
    labelled = read_entries(source.text, line, position)
    if labelled and not (line.kind is LineKind.NUMBER and entries and _is_deeper(source, line, entries[-1])):
        entries.extend(labelled)
    elif entries and _continues(source, line, entries[-1]):
        entries[-1] = entries[-1].up_to(line.end, position)
    elif is_plain_entry(source, line):
        entries.append(Entry("", line.start, line.end, line.content, position, position))


def _is_deeper(source: Source, line: Line, entry: Entry) -> bool:
    """Whether a line is indented deeper than the line on which an entry begins."""
    return line.level >= 2 and line.level > source.lines[entry.first].level + 1


def _closing_list(source: Source) -> int:
    """Where a list without heading closes the report: labels 1, 2, ... on its last lines, else the number of lines."""
    position = len(source.lines)
    labels: list[int] = []
    while position > 0:
        label = _closing_label(source, source.lines[position - 1])
        if label is None or (labels and label != labels[-1] - 1):
            break
        labels.append(label)
        position -= 1
    return position if len(labels) >= 2 and labels[-1] == 1 else len(source.lines)


def _closing_label(source: Source, line: Line) -> int | None:
    """The number of a line that may be part of a closing list: `[n] anything`, or `n. [Title](url)` and nothing else."""
    text = source.text
    if line.kind is LineKind.NUMBER:
        is_link = LINK.match(text, line.content, line.end) is not None
        return int(line.label) if is_link and ends_with_address(source, line.content, line.end) else None
    if line.kind is not LineKind.TEXT and line.kind is not LineKind.BULLET:
        return None
    begin = labelled_start(text, line)
    if begin is None or not begin[0].isdigit() or begin[1] >= line.end:
        return None
    return int(begin[0])
