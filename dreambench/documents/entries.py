"""Entries of reference lists: how a line begins one, and what its text says.

An entry is `[n] ...`, `【n】...`, `[^n]: ...`, `[label]: url`, `n. ...`, a raised number, a bullet, a table row that
starts with a number, or (below a reference heading only) a plain line with an address or an author and a year.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from dreambench.documents.lines import Line, LineKind
from dreambench.documents.model import Reference, Span
from dreambench.documents.urls import UrlMap, find_identifier, link_target, web_url

LIST_PREFIX = re.compile(
    r"(?:\*\*|__)?(?:sources?|references?|参考文献|参考资料|来源|引用)(?:\*\*|__)?\s*[:：]\s*(?:\*\*|__)?\s*(?=\[\d{1,4}\]\s*\S)",
    re.IGNORECASE,
)
LINK = re.compile(r"\[((?:[^\[\]\n]|\[[^\[\]\n]{0,200}\]){0,600})\]\(")
_LABELLED = re.compile(
    r"(?:\*\*|__)?(?:(?:\\?\[|【)\s*(?P<caret>\^)?(?P<label>\d{1,4}|[A-Za-z_]{1,12}[-_]?\d{1,4}|(?<=\^)[^\s\[\]【】]{1,40})\s*(?:\\?\]|】)"
    r"(?P<colon>[:：]?)\.?(?:\*\*|__)?[:：]?|(?P<raised>[⁰¹²³⁴-⁹]{1,4})(?=\s))[ \t\u3000]*"
)
_LINK_DEFINITION = re.compile(r"\[(?P<label>[^\[\]\n]{1,80})\]:[ \t]*(?P<url><?(?:https?://|www\.)\S+)")
_INNER_LABEL = re.compile(r"(?<=[\s;；。])\[(\d{1,4})\](?=\s*\S)")
_APA = re.compile(r"[^\W\d].{2,250}?[(（](?:(?:19|20)\d\d[a-z]?|n\.d\.)(?:[,，年][^()（）]{0,30})?[)）]")
_HEAD_OF_ENTRY = re.compile(
    r"(?P<authors>[^\W\d][^()（）\d\[\]]{1,200}?)[\s,，.]*[(（]?(?P<year>(?:(?:19|20)\d\d)[a-z]?|n\.d\.)"
    r"(?:[,，][^()（）\n]{0,30})?(?:[)）.,，:]|$)"
)
_EMPTY_BRACKETS = re.compile(r"\([ \t]*\)|<[ \t]*>|（[ \t]*）|\[[ \t]*\]")
_MARKER_INSIDE = re.compile(r"\[\^?\d{1,4}\]|【\d")
_YEAR = re.compile(r"(?:19|20)\d\d|n\.d\.")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_EDGE = " \t\u3000-–—:：|,，;；.。"
_ADDRESS_WORDS = frozenset(
    ("", "<", "url", "link", "链接", "网址", "available at", "retrieved from", "available", "[", "原文链接")
)


class Source(NamedTuple):
    """A text with its lines and addresses, each found once."""

    text: str
    lines: Sequence[Line]
    urls: UrlMap


class Entry(NamedTuple):
    """An entry from `start` to `end` on lines `first` to `last`; its words begin at `content`."""

    label: str
    start: int
    end: int
    content: int
    first: int
    last: int

    def up_to(self, end: int, last: int) -> Entry:
        """The entry with continuation lines added."""
        return self._replace(end=end, last=last)


def labelled_start(text: str, line: Line) -> tuple[str, int, bool] | None:
    """(label, where the words begin, is a footnote definition) of a line such as `[3] ...`, `- [3] ...`, `[^3]: ...`."""
    if line.content >= line.end or text[line.content] not in "[【\\*_⁰¹²³⁴⁵⁶⁷⁸⁹":
        return None
    match = _LABELLED.match(text, line.content, line.end)
    if match is None:
        return None
    label = match["label"] or (match["raised"] or "").translate(_SUPERSCRIPTS)
    return label, match.end(), bool(match["caret"] and match["colon"])


def is_link_definition(text: str, line: Line) -> bool:
    """Whether the line is `[label]: https://...`."""
    return text.startswith("[", line.content) and _LINK_DEFINITION.match(text, line.content, line.end) is not None


def read_entries(text: str, line: Line, index: int) -> list[Entry]:
    """The labelled entries that begin on a line: one, or several written in a row (`[1] A: url [2] B: url`)."""
    if text.startswith("[", line.content) and (definition := _LINK_DEFINITION.match(text, line.content, line.end)):
        label = definition["label"].lstrip("^")
        return [Entry(label, line.start, line.end, definition.start("url"), index, index)]
    prefix = LIST_PREFIX.match(text, line.content, line.end) if line.kind is LineKind.TEXT else None
    begin = labelled_start(text, line._replace(content=prefix.end()) if prefix else line)
    if begin is None:
        if line.kind is LineKind.NUMBER and line.content < line.end:
            return [Entry(line.label, line.start, line.end, line.content, index, index)]
        return []
    entries = [Entry(begin[0], line.start, line.end, begin[1], index, index)]
    for inner in _INNER_LABEL.finditer(text, begin[1], line.end) if begin[0].isdigit() else ():
        if int(inner.group(1)) == int(entries[-1].label) + 1:
            entries[-1] = entries[-1].up_to(inner.start(), index)
            entries.append(Entry(inner.group(1), inner.start(), line.end, inner.end(), index, index))
    return entries


def table_entry(source: Source, line: Line, index: int) -> list[Entry]:
    """A table row whose first cell is a number and that has an address is an entry."""
    cells = source.text[line.start : line.end].split("|", 2)
    label = cells[1].strip().strip("[]")
    if not label.isdigit() or not source.urls.within(line.start, line.end):
        return []
    return [Entry(label, line.start, line.end, line.end - len(cells[2]), index, index)]


def is_address_alone(source: Source, line: Line) -> bool:
    """A line that is nothing but an address: `https://...`, `<https://...>`, `[text](https://...)`, `URL: https://...`."""
    found = source.urls.within(line.content, line.end)
    if len(found) != 1:
        return False
    before = source.text[line.content : found[0][0]].strip()
    after = source.text[found[0][1] : line.end].strip(" >)*_.`/|")
    return not after and (before.lower().rstrip(":： ") in _ADDRESS_WORDS or (before.startswith("[") and before.endswith("](")))


def has_edge_address(source: Source, start: int, end: int) -> bool:
    """Whether an entry's text starts or ends with its address, as entries do and sentences about a source do not."""
    found = source.urls.within(start, end)
    if not found:
        return False
    if found[0][0] <= start + 2 or LINK.match(source.text, start, end):
        return True
    return ends_with_address(source, start, end)


def ends_with_address(source: Source, start: int, end: int) -> bool:
    """Whether nothing but closing marks follows the last address."""
    found = source.urls.within(start, end)
    return bool(found) and not source.text[found[-1][1] : end].strip(" \t>)]*_.。;；,，")


def is_plain_entry(source: Source, line: Line) -> bool:
    """Unlabelled lines below a reference heading: items, lines with an address at an edge, and author (year) lines.

    A line without an address that has citation markers itself is a sentence about sources.
    """
    text = source.text
    if has_edge_address(source, line.content, line.end):
        return True
    if _MARKER_INSIDE.search(text, line.content, line.end):
        return False
    if line.kind is LineKind.BULLET:
        return line.end - line.content > 3 and not text[line.content : line.end].rstrip("*").endswith((":", "："))
    return line.end - line.content > 25 and _APA.match(text, line.content, line.end) is not None


def describe(source: Source, entry: Entry, group: int) -> Reference:
    """The entry's addresses, title, authors and year."""
    urls, title = _urls_and_title(source, entry)
    head = _HEAD_OF_ENTRY.match(title) if _YEAR.search(title) else None
    return Reference(
        span=Span(entry.start, entry.end),
        label=entry.label,
        title=title,
        url=urls[0] if urls else None,
        urls=tuple(urls),
        group=group,
        authors=" ".join(head["authors"].split()) if head else "",
        year=head["year"] if head else "",
    )


def _urls_and_title(source: Source, entry: Entry) -> tuple[list[str], str]:
    """The addresses of an entry and its words without them."""
    text, position = source.text, entry.content
    urls: list[str] = []
    pieces: list[str] = []
    for match in LINK.finditer(text, position, entry.end) if text.find("](", position, entry.end) >= 0 else ():
        found = link_target(text, match.end() - 1)
        target = web_url(found[0]) if found is not None else None
        if found is not None and target is not None and match.start() >= position:
            pieces.extend((text[position : match.start()], match.group(1)))
            urls.append(target)
            position = found[1]
    addresses = source.urls.within(position, entry.end)
    # An address that ends in dots was shortened for display; it counts only where the whole one is not there.
    whole = [a for a in addresses if not text.startswith(("...", "…"), a[1])]
    for start, end, url in addresses:
        if url not in urls and (not whole or (start, end, url) in whole):
            urls.append(url)
        pieces.append(text[position:start])
        position = end
    if not urls and (identifier := find_identifier(text[position : entry.end])):
        urls.append(identifier[2])
    pieces.append(text[position : entry.end])
    title = " ".join(pieces)
    if urls:
        title = _EMPTY_BRACKETS.sub(" ", title)
    title = " ".join(title.split())
    return urls, title.strip(_EDGE).strip('*_"“”').strip(_EDGE)
