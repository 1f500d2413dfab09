"""Reference lists: where they are and what their entries say.

A list is found (1) below a reference heading (Sources, References, 参考文献, ...; `#`, bold, plain or numbered), until a
heading that is not deeper; (2) anywhere, as lines `[n] ...` of which one has its URL at its start or end (or alone on
the next line); (3) as footnote or link definitions `[^n]: ...`, `[label]: url`; (4) without any URL or as `n. [Title](url)`,
only as consecutive numbers from 1 that close the report. Other lines below a reference heading stay ordinary text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from dreambench.documents.lines import Line, LineKind
from dreambench.documents.model import Reference, Span
from dreambench.documents.urls import find_urls, link_target, web_url

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
_HEADING_PREFIX = re.compile(
    r"(?:\*\*|__)?(?:sources?|references?|参考文献|参考资料|来源|引用)(?:\*\*|__)?\s*[:：]\s*(?:\*\*|__)?\s*(?=\[\d{1,4}\]\s*\S)",
    re.IGNORECASE,
)
_LABEL = (
    r"(?:\*\*|__)?(?:(?:\\?\[|【)\s*(?P<caret>\^)?(?P<label>\d{1,4}|[A-Za-z_]{1,12}[-_]?\d{1,4}|(?<=\^)[^\s\[\]【】]{1,40})\s*(?:\\?\]|】)"
    r"(?P<colon>[:：]?)\.?(?:\*\*|__)?[:：]?|(?P<raised>[⁰¹²³⁴-⁹]{1,4})(?=\s))[ \t\u3000]*"
)
_LABELLED = re.compile(_LABEL)
_LINK_DEFINITION = re.compile(r"\[(?P<label>[^\[\]\n]{1,80})\]:[ \t]*(?P<url><?(?:https?://|www\.)\S+)")
_INNER_LABEL = re.compile(r"(?<=[\s;；。])\[(\d{1,4})\](?=\s*\S)")
_LINK = re.compile(r"\[((?:[^\[\]\n]|\[[^\[\]\n]{0,200}\]){0,600})\]\(")
_YEAR = re.compile(r"(?:^|[^\d])((?:19|20)\d\d)[a-z]?(?!\d)")
_APA = re.compile(r"[^\W\d].{2,250}?[(（](?:(?:19|20)\d\d[a-z]?|n\.d\.)(?:[,，年][^()（）]{0,30})?[)）]")
_HEAD_OF_ENTRY = re.compile(
    r"(?P<authors>[^\W\d][^()（）\d\[\]]{1,200}?)[\s,，.]*[(（]?(?P<year>(?:(?:19|20)\d\d)[a-z]?|n\.d\.)(?:[,，][^()（）\n]{0,30})?[)）.,，:]"
)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_EDGE = " \t\u3000-–—:：|,，;；.。"


@dataclass(slots=True)
class Region:
    """Lines `first` to `last` (inclusive) that make one reference_list block; `heading` is the line that names it."""

    first: int
    last: int
    heading: int | None


@dataclass(slots=True)
class Found:
    """What was found: entries in order, the regions they fill, and labels that are link or footnote definitions."""

    references: list[Reference] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    headings: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Entry:
    label: str
    start: int
    end: int
    text_start: int
    first: int
    last: int
    group: int = 0
    heading: int | None = None


def is_reference_heading(text: str, line: Line) -> bool:
    """Whether the line is a heading, bold line, item or plain line that names a reference list."""
    if line.kind in (LineKind.CODE, LineKind.TABLE, LineKind.QUOTE, LineKind.RULE) or line.end - line.start > 60:
        return False
    words = text[line.start : line.end] if line.kind in (LineKind.TEXT, LineKind.NUMBER) else text[line.content : line.end]
    return _HEADING_WORDS.match(words.rstrip("# ")) is not None


def find_references(text: str, lines: Sequence[Line], hidden: Sequence[bool]) -> Found:
    """All reference entries outside the lines marked as hidden (thinking, tool traffic)."""
    entries: list[_Entry] = []
    group = 0
    index = 0
    tail = _closing_list(text, lines)
    while index < len(lines):
        if hidden[index] or lines[index].kind is LineKind.CODE:
            index += 1
            continue
        if is_reference_heading(text, lines[index]):
            section, stop = _read_section(text, lines, index)
            if section:
                entries.extend(_numbered(section, group, index))
                group += 1
                index = stop
                continue
        elif index >= tail or _starts_run(text, lines, index):
            run, stop = _read_run(text, lines, index)
            if run:
                entries.extend(_numbered(run, group, None))
                group += 1
                index = stop
                continue
        index += 1
    return _assemble(text, entries)


def _numbered(entries: list[_Entry], group: int, heading: int | None) -> list[_Entry]:
    for entry in entries:
        entry.group = group
        entry.heading = heading
    return entries


def _label_of(text: str, line: Line) -> tuple[str, int] | None:
    """(label, where the entry's text begins) of a line such as `[3] ...`, `- [3] ...`, `[^3]: ...`."""
    match = _LABELLED.match(text, line.content, line.end)
    if match is None:
        return None
    label = match["label"] or (match["raised"] or "").translate(_SUPERSCRIPTS)
    return label, match.end()


def _is_address_alone(text: str, line: Line) -> bool:
    """A line that is nothing but an address: `https://...`, `<https://...>`, `[text](https://...)`, `URL: https://...`."""
    body = text[line.content : line.end]
    found = find_urls(body) if "http" in body or "www." in body else []
    if len(found) != 1:
        return False
    start, end, _ = found[0]
    before, after = body[:start].strip(), body[end:].strip(" >)*_.`/|")
    return not after and (
        before.lower().rstrip(":： ") in ("", "<", "url", "link", "链接", "网址", "available at", "retrieved from")
        or (before.startswith("[") and before.endswith("]("))
    )


def _has_edge_address(text: str, start: int, end: int) -> bool:
    """Whether an entry's text starts or ends with its address, as entries do and sentences about a source do not."""
    body = text[start:end]
    if "http" not in body and "www." not in body:
        return False
    found = find_urls(body)
    if not found:
        return False
    if found[0][0] <= 2 or _LINK.match(body):
        return True
    return len(body[found[-1][1] :].strip(" \t>)]*_.。;；,，")) == 0


def _starts_run(text: str, lines: Sequence[Line], index: int) -> bool:
    line = lines[index]
    if line.kind in (LineKind.HEADING, LineKind.TABLE, LineKind.RULE, LineKind.QUOTE):
        return False
    prefix = _HEADING_PREFIX.match(text, line.content, line.end) if line.kind is LineKind.TEXT else None
    if prefix is not None:
        return _has_edge_address(text, prefix.end(), line.end)
    if text[line.content] not in "[【\\*_⁰¹²³⁴⁵⁶⁷⁸⁹":
        return False
    if _LINK_DEFINITION.match(text, line.content, line.end):
        return True
    labelled = _LABELLED.match(text, line.content, line.end)
    if labelled is None or labelled.end() >= line.end:
        return False
    if labelled["caret"] and labelled["colon"]:
        return True
    if _has_edge_address(text, labelled.end(), line.end):
        return True
    following = lines[index + 1] if index + 1 < len(lines) else None
    return following is not None and not following.gap and _is_address_alone(text, following)


def _read_run(text: str, lines: Sequence[Line], index: int) -> tuple[list[_Entry], int]:
    """Labelled lines from `index` on, with their continuation lines, and the index of the first line after them."""
    entries: list[_Entry] = []
    while index < len(lines):
        line = lines[index]
        if line.kind in (LineKind.HEADING, LineKind.CODE, LineKind.RULE, LineKind.TABLE):
            break
        read = _read_entries(text, line, index)
        if read and read[0].label:
            entries.extend(read)
        elif not (entries and _continues(text, line, entries[-1])):
            break
        else:
            entries[-1].end, entries[-1].last = line.end, index
        index += 1
    return entries, index


def _read_entries(text: str, line: Line, index: int) -> list[_Entry]:
    """The labelled entries that begin on a line: one, or several written in a row (`[1] A: url [2] B: url`)."""
    first = text[line.content] if line.content < line.end else ""
    definition = _LINK_DEFINITION.match(text, line.content, line.end) if first == "[" else None
    prefix = _HEADING_PREFIX.match(text, line.content, line.end) if first not in "[【" and line.kind is LineKind.TEXT else None
    if definition:
        return [_Entry(definition["label"].lstrip("^"), line.start, line.end, definition.start("url"), index, index)]
    at = prefix.end() if prefix else line.content
    match = _LABELLED.match(text, at, line.end)
    if match is None:
        if line.kind is LineKind.NUMBER and line.content < line.end:
            return [_Entry(line.label, line.start, line.end, line.content, index, index)]
        return []
    label = match["label"] or match["raised"].translate(_SUPERSCRIPTS)
    entries = [_Entry(label, line.start, line.end, match.end(), index, index)]
    for inner in _INNER_LABEL.finditer(text, match.end(), line.end) if label.isdigit() else ():
        if int(inner.group(1)) == int(entries[-1].label) + 1:
            entries[-1].end = inner.start()
            entries.append(_Entry(inner.group(1), inner.start(), line.end, inner.end(), index, index))
    return entries


def _continues(text: str, line: Line, entry: _Entry) -> bool:
    """A line that belongs to the entry above: an address alone where it has none, or indented text without a gap."""
    if line.kind in (LineKind.HEADING, LineKind.TABLE, LineKind.CODE, LineKind.RULE):
        return False
    if _is_address_alone(text, line):
        return "http" not in text[entry.text_start : entry.end]
    return not line.gap and line.level >= 2 and line.kind is LineKind.TEXT


def _read_section(text: str, lines: Sequence[Line], index: int) -> tuple[list[_Entry], int]:
    """Entries below the reference heading at `index`, and the index of the line that ends its section."""
    opening = lines[index]
    depth = opening.level if opening.kind is LineKind.HEADING else 7
    entries: list[_Entry] = []
    position = index + 1
    while position < len(lines):
        line = lines[position]
        if line.kind is LineKind.HEADING and (line.level <= depth or not entries):
            break
        if position > index + 1 and is_reference_heading(text, line) and not _label_of(text, line):
            break
        if line.kind is not LineKind.CODE:
            _take_line(text, line, position, entries)
        position += 1
    if any(entry.label or "http" in text[entry.text_start : entry.end] for entry in entries) or len(entries) > 1:
        return entries, position
    return [], position


def _take_line(text: str, line: Line, position: int, entries: list[_Entry]) -> None:
    if line.kind in (LineKind.HEADING, LineKind.RULE, LineKind.UNDERLINE):
        return
    if line.kind is LineKind.TABLE:
        entries.extend(_table_entry(text, line, position))
        return
    labelled = _read_entries(text, line, position)
    if labelled:
        nested = line.kind is LineKind.NUMBER and entries and line.level >= 2 and lines_deeper(line, entries[-1], text)
        if not nested:
            entries.extend(labelled)
            return
    if entries and _continues(text, line, entries[-1]):
        entries[-1].end, entries[-1].last = line.end, position
    elif _is_plain_entry(text, line):
        entries.append(_Entry("", line.start, line.end, line.content, position, position))


def lines_deeper(line: Line, entry: _Entry, text: str) -> bool:
    """Whether a line is indented deeper than the line on which an entry begins."""
    return line.level > entry.start - (text.rfind("\n", 0, entry.start) + 1) + 1


def _table_entry(text: str, line: Line, position: int) -> list[_Entry]:
    """A table row whose first cell is a number and that has an address is an entry."""
    row = text[line.start : line.end]
    first, _, rest = row.strip("|").partition("|")
    label = first.strip().strip("[]")
    if not label.isdigit() or not find_urls(rest):
        return []
    start = line.start + row.index("|", 1) + 1
    return [_Entry(label, line.start, line.end, start, position, position)]


def _is_plain_entry(text: str, line: Line) -> bool:
    """Unlabelled lines below a reference heading: items, lines with an address at an edge, and author (year) lines."""
    body = text[line.content : line.end]
    if line.kind is LineKind.BULLET:
        return len(body) > 3 and not body.rstrip("*").endswith((":", "："))
    if _has_edge_address(text, line.content, line.end):
        return True
    return bool(_APA.match(body)) and len(body) > 25


def _closing_list(text: str, lines: Sequence[Line]) -> int:
    """Where a list without heading closes the report: labels 1, 2, ... on its last lines, else the number of lines."""
    position = len(lines)
    labels: list[int] = []
    while position > 0 and len(labels) < 10_000:
        line = lines[position - 1]
        label = _closing_label(text, line)
        if label is None or (labels and label != labels[-1] - 1):
            break
        labels.append(label)
        position -= 1
    return position if len(labels) >= 2 and labels[-1] == 1 else len(lines)


def _closing_label(text: str, line: Line) -> int | None:
    """The number of a line that may be part of a closing list: `[n] anything`, or `n. [Title](url)` and nothing else."""
    if line.kind is LineKind.NUMBER:
        return (
            int(line.label)
            if _LINK.match(text, line.content, line.end)
            and _has_edge_address(text, line.content, line.end)
            and _ends_with_address(text, line)
            else None
        )
    if line.kind not in (LineKind.TEXT, LineKind.BULLET):
        return None
    labelled = _label_of(text, line)
    if labelled is None or not labelled[0].isdigit() or labelled[1] >= line.end:
        return None
    return int(labelled[0])


def _ends_with_address(text: str, line: Line) -> bool:
    body = text[line.content : line.end]
    found = find_urls(body)
    return bool(found) and not body[found[-1][1] :].strip(" )>*_.")


def _assemble(text: str, entries: Sequence[_Entry]) -> Found:
    found = Found()
    for entry in entries:
        found.references.append(_describe(text, entry))
        last = found.regions[-1] if found.regions else None
        if last is not None and last.heading == entry.heading and entry.first <= last.last + 1:
            last.last = max(last.last, entry.last)
        else:
            found.regions.append(Region(entry.first, entry.last, entry.heading))
        if entry.heading is not None and (not found.headings or found.headings[-1] != entry.heading):
            found.headings.append(entry.heading)
    return found


def _describe(text: str, entry: _Entry) -> Reference:
    body = text[entry.text_start : entry.end].rstrip()
    urls, title = _urls_and_title(body)
    head = _HEAD_OF_ENTRY.match(body.lstrip('*_"“ ['))
    return Reference(
        span=Span(entry.start, entry.end),
        label=entry.label,
        title=title,
        url=urls[0] if urls else None,
        urls=tuple(urls),
        group=entry.group,
        authors=" ".join(head["authors"].split()) if head else "",
        year=head["year"] if head else "",
    )


def _urls_and_title(body: str) -> tuple[list[str], str]:
    """The addresses of an entry and its words without them."""
    urls: list[str] = []
    pieces: list[str] = []
    position = 0
    for match in _LINK.finditer(body) if "](" in body else ():
        found = link_target(body, match.end() - 1)
        target = web_url(found[0]) if found is not None else None
        if found is None or target is None or match.start() < position:
            continue
        pieces.extend((body[position : match.start()], match.group(1)))
        urls.append(target)
        position = found[1]
    rest = body[position:]
    at = 0
    for start, end, url in find_urls(rest):
        if url not in urls:
            urls.append(url)
        pieces.append(rest[at:start])
        at = end
    pieces.append(rest[at:])
    title = " ".join(" ".join(pieces).replace("<>", " ").replace("()", " ").split())
    return urls, title.strip(_EDGE).strip('*_"“”').strip(_EDGE)
