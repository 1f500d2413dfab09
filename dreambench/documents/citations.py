"""Citations: which markers count, and what they point to.

A bare number in brackets is a citation when there is reason for it:
 - an entry of a reference list has that label (four-digit numbers and 0 need this), or
 - the report has numbered entries, and the number is at most twice the highest label plus 20, or
 - the report has no numbered entries, but both 1 and 2 occur in such markers.
A list or range (`[1, 3]`, `[2-5]`) counts when one of its numbers has an entry and none is 0, or as above when all do.
After "interval", "range", "=", "∈" and the like a list is an interval. `(Author, 2023)` counts when an entry has that
author and year, or when "et al.", "&" or 等 says it is a citation; `Author (2023)` only when exactly one entry fits.
Words in brackets count when they are labels.

Labels that several lists use are looked up in the first list that ends after the marker, else in the last one; lists
with no marker between them are one. Where such lists give a label twice, the only entry with a URL is taken.
An `id_3` label means entry 3 where no entry is called `id_3`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import takewhile

from dreambench.documents.marker import Marker
from dreambench.documents.model import Citation, CitationStatus, Reference, Span
from dreambench.documents.urls import normalize_url

_SCHOLARLY = re.compile(r"et al|等\||^[A-Z][\w'’-]+(?:, [A-Z][\w'’-]+)*,? (?:&|and) [A-Z][\w'’-]+\|")
_FIRST_AUTHOR = re.compile(r"\s*(?:,|，|&| and | et al|等|、)")
_TAG_NUMBER = re.compile(r"(?:[A-Za-z]+[_-])?(\d{1,4})(?:-\d{1,4})?$")
Target = tuple[str | None, CitationStatus, int | None]
"""What a citation points to: its URL, what came of looking, and the entry's index."""
_NONE: list[int] = []
_TIGHT = frozenset(("numeric", "fullwidth", "escaped"))


class ReferenceIndex:
    """Reference entries by label, by author and year, and by URL."""

    def __init__(self, references: Sequence[Reference]) -> None:
        self.references = references
        self._by_label: dict[str, list[int]] = {}
        self._by_year: dict[str, list[tuple[str, int]]] = {}
        self._by_author: dict[str, list[int]] = {}
        self._agreed: dict[int, Target] = {}
        self._by_url: dict[str, int] | None = None
        self._group_starts: dict[int, int] = {}
        self._group_ends: dict[int, int] = {}
        self._lists: dict[int, int] = {}
        self._by_list: dict[str, tuple[list[int], list[list[int]]]] = {}
        for index, entry in enumerate(references):
            if entry.label:
                self._by_label.setdefault(entry.label, []).append(index)
            if entry.authors:
                self._by_year.setdefault(entry.year, []).append((entry.authors.casefold(), index))
            self._group_starts.setdefault(entry.group, entry.span.start)
            self._group_ends[entry.group] = entry.span.end
        for named in self._by_year.values():
            named.sort()
        numbers = [int(label) for label in self._by_label if label.isdigit()]
        self.highest = max(numbers, default=0)

    def has(self, label: str) -> bool:
        """Whether an entry has this label."""
        return label in self._by_label

    def join_lists(self, starts: Sequence[int]) -> None:
        """Let lists with no marker (`starts`, sorted) between them count as one."""
        previous: int | None = None
        for group, begin in self._group_starts.items():
            joined = previous is not None and bisect_right(starts, self._group_ends[previous]) == bisect_right(starts, begin)
            self._lists[group] = self._lists[previous] if joined and previous is not None else group
            previous = group

    def by_label(self, label: str, position: int) -> list[int]:
        """Entries with this label, of the one list that a marker at `position` refers to."""
        found = self._by_label.get(label, _NONE)
        if len(found) < 2:
            return found
        if label not in self._by_list:
            self._by_list[label] = self._split_by_list(found)
        ends, entries = self._by_list[label]
        return entries[min(bisect_right(ends, position), len(ends) - 1)]

    def _split_by_list(self, found: Sequence[int]) -> tuple[list[int], list[list[int]]]:
        """(where each list ends, its entries), in the order of the text."""
        lists: dict[int, list[int]] = {}
        for index in found:
            group = self.references[index].group
            lists.setdefault(self._lists.get(group, group), []).append(index)
        ends = [self._group_ends[self.references[entries[-1]].group] for entries in lists.values()]
        return ends, list(lists.values())

    def by_author(self, key: str) -> list[int]:
        """Entries whose year is the key's and whose first author or organisation begins with the key's first author."""
        if key not in self._by_author:
            self._by_author[key] = self._find_author(key)
        return self._by_author[key]

    def _find_author(self, key: str) -> list[int]:
        authors, _, year = key.partition("|")
        named = self._by_year.get(year, [])
        first = _FIRST_AUTHOR.split(authors, maxsplit=1)[0].strip().casefold()
        begin = bisect_left(named, (first,))  # sorted by name: those that begin alike stand together
        alike = takewhile(lambda place: named[place][0].startswith(first), range(begin, len(named)))
        found = sorted(named[place][1] for place in alike if _begins_with(named[place][0], first))
        if len(found) > 1:
            rest = [w.casefold() for w in re.findall(r"[A-Z][\w'’-]+", authors)[1:]]
            narrower = [i for i in found if all(w in self.references[i].authors.casefold() for w in rest)]
            found = narrower if rest and narrower else found
        return found

    def target(self, found: list[int]) -> Target:
        """What a marker points to that stands for the entries `found` (a list of this index), worked out once for each list."""
        if id(found) not in self._agreed:
            self._agreed[id(found)] = self._agree(found)
        return self._agreed[id(found)]

    def _agree(self, found: Sequence[int]) -> Target:
        """The address on which all entries that have one agree; without entries the marker dangles."""
        if not found:
            return None, CitationStatus.DANGLING, None
        if len(found) == 1:
            url = self.references[found[0]].url
            return url, CitationStatus.NO_URL if url is None else CitationStatus.RESOLVED, found[0]
        urls = {normalize_url(url): url for i in found if (url := self.references[i].url) is not None}
        if len(urls) != 1:
            return None, CitationStatus.AMBIGUOUS, None
        named = [i for i in found if self.references[i].url is not None]
        return next(iter(urls.values())), CitationStatus.RESOLVED, named[0]

    def by_url(self, url: str) -> int | None:
        """The first entry with the same normalised URL."""
        if self._by_url is None:
            self._by_url = {}
            for index, entry in enumerate(self.references):
                for own in entry.urls:
                    self._by_url.setdefault(normalize_url(own), index)
        return self._by_url.get(normalize_url(url))


def _begins_with(authors: str, name: str) -> bool:
    return bool(name) and authors.startswith(name) and not authors[len(name) : len(name) + 1].isalpha()


def accept(markers: Sequence[Marker], index: ReferenceIndex) -> list[Marker]:
    """The candidates that are citations, by the rules above."""
    singles = {label for m in markers if m.style in _TIGHT or m.style == "superscript" for label in m.labels}
    sequence = {"1", "2"} <= singles
    return [m for m in markers if m.certain or _has_reason(m, index, sequence)]


def _has_reason(marker: Marker, index: ReferenceIndex, sequence: bool) -> bool:
    if marker.style == "author_year":
        found = index.by_author(marker.labels[0])
        if marker.narrative:
            return len(found) == 1
        return bool(found) or _SCHOLARLY.search(marker.labels[0]) is not None
    if marker.style == "word":
        return index.has(marker.labels[0])
    known = [index.has(label) for label in marker.labels]
    if marker.style == "superscript":
        return all(known) or (sequence and not index.highest)
    if any(not ok and (label.startswith("0") or len(label) > 3) for ok, label in zip(known, marker.labels, strict=True)):
        return False
    if any(known):
        return True
    if index.highest:
        return all(int(label) <= 2 * index.highest + 20 for label in marker.labels)
    return sequence


def resolve(
    text: str, markers: Iterable[Marker], index: ReferenceIndex, starts: Sequence[int], reach: Sequence[int]
) -> list[Citation]:
    """One citation per marker and target, in order.

    `starts` are the sentences' first characters and `reach` where what follows a sentence is no longer its own; the
    sentence of a marker is the last one that starts before the marker's end.
    """
    citations: list[Citation] = []
    for marker in markers:
        at = bisect_right(starts, max(marker.start, marker.end - 1)) - 1
        sentence = at if at >= 0 and marker.start < reach[at] else None
        span = Span(marker.start, marker.end)
        raw = span.of(text)
        labels = tuple(label.replace("|", ", ") for label in marker.labels)
        if marker.url is not None:
            reference = index.by_url(marker.url)
            label = labels[0] if labels else ""
            citations.append(
                Citation(span, raw, marker.style, label, labels, marker.url, CitationStatus.RESOLVED, reference, sentence)
            )
            continue
        for key, label in zip(marker.labels, labels, strict=True):
            url, status, reference = _target(marker, key, index)
            citations.append(Citation(span, raw, marker.style, label, labels, url, status, reference, sentence))
    return citations


def _target(marker: Marker, key: str, index: ReferenceIndex) -> Target:
    if marker.style == "author_year":
        found = index.by_author(key)
    else:
        found = index.by_label(key, marker.start)
        if not found and marker.style == "cite_tag" and (number := _TAG_NUMBER.match(key)):
            found = index.by_label(number.group(1), marker.start)
    return index.target(found)
