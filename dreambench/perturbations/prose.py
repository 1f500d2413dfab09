"""A report as perturbations see it: sentences with what must stay untouched in them, and the words to build new text from.

Offsets are into the report's text. `view` is cached by the document object, because every arm of a report reads the same one.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from dreambench.documents import Block, BlockKind, Citation, Document, Span, normalize_url
from dreambench.documents.urls import UrlMap
from dreambench.language.claims import why_excluded

RUNNING = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.QUOTE})
_FIXED = re.compile(
    r"https?://[^\s<>\"）)\]]+|www\.[^\s<>\"）)\]]+|`[^`\n]+`|\$[^$\n]{1,200}\$(?![0-9])|<[^<>\n]{1,300}>|!?\[[^\]\n]*\]\([^)\n]*\)"
    r"|\[[^\]\n]{1,40}\]|【[^】\n]{1,40}】|10\.\d{4,9}/\S+|\b[\w.+-]+@[\w-]+\.\w+"
)
_STOP = re.compile(r"[.!。！](?:[\"'”’」』)）*_]{0,3})$")


@dataclass(frozen=True, eq=False)
class Line:
    """One sentence: its place, its words, and the stretches (relative to its start) that only citation kinds may touch."""

    index: int
    start: int
    end: int
    text: str
    fixed: tuple[Span, ...]
    block: int
    kind: BlockKind
    cited: bool

    def is_free(self, start: int, end: int) -> bool:
        """Whether `start:end` of the sentence touches no marker, link, address, code or formula."""
        return not any(span.start < end and start < span.end for span in self.fixed)

    @cached_property
    def core(self) -> Span:
        """The sentence (relative) without list labels or bold lead-ins at its start and markers and stops at its end."""
        start = lead_end(self.text)
        end = len(self.text)
        while True:
            stripped = end - len(self.text[start:end]) + len(self.text[start:end].rstrip(" \t.。;；!！*_"))
            marker = next((span for span in self.fixed if span.end == stripped and span.start > start), None)
            if marker is None:
                return Span(start, max(start, stripped))
            end = marker.start

    @cached_property
    def words(self) -> str:
        """The sentence's own words: its core with citation markers cut out and white space tidied."""
        return self.words_with(())

    def words_with(self, changes: Sequence[tuple[int, int, str]]) -> str:
        """`words` after changes `(start, end, new text)` of the sentence."""
        core = self.core
        pieces, position = [], core.start
        cuts = [(span.start, span.end, _shown(span.of(self.text))) for span in self.fixed if span.start < core.end]
        for start, end, new in sorted([*cuts, *changes]):
            if start < position:
                continue
            before = self.text[position:start]
            pieces += [before if new else before.rstrip(), new]
            position = end
        pieces.append(self.text[position : core.end])
        joined = re.sub(r"\s*[(（][\s,，;；、]*[)）]", "", "".join(pieces))
        return re.sub(r"[ \t]+", " ", joined).strip().rstrip(",，;；:：、 ")

    @property
    def is_closed(self) -> bool:
        """Whether the sentence ends with a full stop, markers behind it aside."""
        return _STOP.search(self.text) is not None or _STOP.search(_TRAILING_MARKS.sub("", self.text)) is not None


_TRAILING_MARKS = re.compile(r"(?:\s*(?:\[[^\]\n]{1,40}\](?:\([^)\n]*\))?|【[^】\n]{1,40}】))+\s*$")
_MARKER = re.compile(r"\[[^\]\n]{1,40}\]|【[^】\n]{1,40}】|<[^<>]*>")


def _shown(raw: str) -> str:
    """What of a fixed stretch is read: nothing of a marker, the words of a link, all of code and addresses."""
    if _MARKER.fullmatch(raw) or re.match(r"[(（]?\[+\W*\d+\W*\]", raw):
        return ""
    link = re.match(r"!?\[([^\]]*)\]\(", raw)
    return link[1] if link else raw


_LEAD = re.compile(
    r"(?:\s*(?:[-*+•]|\d{1,2}[.)、])\s+)?(?:\*\*[^*\n]{1,120}\*\*\s*[:：]?|\*\*[^*\n]{1,120}[:：]\*\*|__[^_\n]{1,120}__\s*[:：]?)?\s*"
)


def lead_end(text: str) -> int:
    """Where the sentence proper begins, behind a bold lead-in such as `**Method:**` that ends with a colon."""
    match = _LEAD.match(text)
    if match is None or not match[0].rstrip().endswith((":", "：", ":**", "：**", ":__", "：__")):
        plain = re.match(r"[A-Z一-鿿][^.。,，:：()]{0,50}[:：]\s*(?=\S)", text)
        return plain.end() if plain and "http" not in plain[0] and not re.search(r"\d[:：]\d", text[: plain.end() + 1]) else 0
    return match.end()


class View:
    """The sentences and words of one document; see the module."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.text = document.text
        self.chinese = document.language == "zh"
        self.memo: dict[object, Any] = {}
        """What kinds have worked out about this document, for their other doses."""

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """All sentences of the body, table rows included, in order."""
        text, document = self.text, self.document
        markers = document.markers
        starts = [span.start for span in markers]
        cited = {citation.sentence for citation in document.citations}
        made: list[Line] = []
        for index, sentence in enumerate(document.sentences):
            span, block = sentence.span, document.blocks[sentence.block]
            if not document.in_body(span):
                continue
            words = span.of(text)
            near = markers[max(0, bisect_left(starts, span.start) - 1) : bisect_right(starts, span.end)]
            fixed = [Span(m.start - span.start, m.end - span.start) for m in near if span.overlaps(m)]
            fixed += [Span(*match.span()) for match in _FIXED.finditer(words)]
            made.append(
                Line(
                    index, span.start, span.end, words, tuple(_merged(fixed)), sentence.block, block.kind, index in cited
                )
            )  # fmt: skip
        return tuple(made)

    @cached_property
    def prose(self) -> tuple[Line, ...]:
        """Sentences of paragraphs, list items and quotes that say something: no label, no question, no lead-in to a list."""
        return tuple(line for line in self.lines if line.kind in RUNNING and _says_something(line.text))

    @cached_property
    def by_block(self) -> dict[int, tuple[Line, ...]]:
        """The sentences of each block."""
        groups: dict[int, list[Line]] = {}
        for line in self.lines:
            groups.setdefault(line.block, []).append(line)
        return {block: tuple(lines) for block, lines in groups.items()}

    @cached_property
    def citations_of(self) -> dict[int, tuple[Citation, ...]]:
        """The citations of each sentence, by its index."""
        groups: dict[int, list[Citation]] = {}
        for citation in self.document.citations:
            if citation.sentence is not None:
                groups.setdefault(citation.sentence, []).append(citation)
        return {index: tuple(found) for index, found in groups.items()}

    def next_in_block(self, line: Line) -> Line | None:
        """The sentence after `line` in the same block."""
        same = self.by_block[line.block]
        at = same.index(line) + 1
        return same[at] if at < len(same) else None

    @cached_property
    def running_blocks(self) -> tuple[int, ...]:
        """Numbers of the blocks of the body that hold running text."""
        return tuple(sorted({line.block for line in self.lines if line.kind in RUNNING}))

    @cached_property
    def addresses(self) -> dict[str, tuple[Span, ...]]:
        """Where each address of the report stands, by its normalised form, in order of first mention."""
        places: dict[str, list[Span]] = {}
        for start, end, url in UrlMap(self.text).found:
            places.setdefault(normalize_url(url), []).append(Span(start, end))
        return {url: tuple(sorted(spans)) for url, spans in sorted(places.items(), key=lambda item: min(item[1]))}

    def block(self, number: int) -> Block:
        """The block of that number, counted from 0 over the whole report."""
        return self.document.blocks[number]


def _merged(spans: Sequence[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start < merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
        elif len(span):
            merged.append(span)
    return merged


_MARKS = re.compile(r"[\[【][^\]】]{1,40}[\]】]")


def _says_something(text: str) -> bool:
    bare = _MARKS.sub("", text).strip()
    if bare.endswith((":", "：", "?", "？")) or bare.startswith(("|", "#", "<")):
        return False
    if re.fullmatch(r"[*_]{1,3}[^*_]+[*_]{1,3}[:：]?", bare):
        return False
    han = len(re.findall(r"[一-鿿]", bare))
    return han >= 10 or len(re.findall(r"[A-Za-z]{2,}", bare)) >= 5


@lru_cache(maxsize=32768)
def excluded(words: str) -> str | None:
    """Why a sentence is no claim (`dreambench.language.claims.why_excluded`), worked out once for all kinds."""
    return why_excluded(words)


class _Key:
    """A document by identity: hashing a whole parsed report would cost more than the look-up saves."""

    __slots__ = ("document",)

    def __init__(self, document: Document) -> None:
        self.document = document

    def __hash__(self) -> int:
        return id(self.document)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.document is other.document


@lru_cache(maxsize=16)
def _view(key: _Key) -> View:
    return View(key.document)


def view(document: Document) -> View:
    """The view of `document`."""
    return _view(_Key(document))
