"""A report as the rules of writing quality look at it: clean sentences with their content words, lists, parts, headings.

Everything is made once per report and shared by the ten aspects (`view_of`). Lengths are in words; a Chinese character
counts as .6 of a word, so that the norms below hold for both languages.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from dreambench.documents import Block, BlockKind, Document, Section, Span, count_words, parse_document
from dreambench.judges.embedded.memory import Memory
from dreambench.language.tokens import content_words

MOST_SENTENCES = 1200
"""Sentences that are looked at; a longer report is judged by its first ones, and the reason says so."""
MOST_PARTS = 60
CHINESE_WORD = 0.6

_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*(?: \"[^\"]*\")?\)")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+")
_MARKUP = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)|<[^<>\n]{1,200}>")
_BEFORE_MARK = re.compile(r" +(?=[.,;!?，。；！？](?:\s|$))")
_PROSE = (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.QUOTE)
_NUMBERING = re.compile(
    r"^\W*(?:第?[0-9一二三四五六七八九十]+(?:[.．][0-9]+)*[.．、)）:：章节部分]*|[IVX]+[.)]|[A-Za-z][.)])\s*"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence without markers and markup; `words` are its content words, `length` is in words."""

    text: str
    words: tuple[str, ...]
    length: float
    block: int
    section: int


@dataclass(frozen=True, slots=True)
class Group:
    """A list: consecutive items of one indentation with the offsets of their blocks; `intro` is the paragraph right before it,
    `headed` says that a heading is."""

    items: tuple[str, ...]
    starts: tuple[int, ...]
    intro: str
    headed: bool
    section: int


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch that stands for a section in comparisons: its title and the content words of its sentences."""

    title: str
    words: Counter[str]
    length: float
    first: int
    last: int


class ReportView:
    """Lazy derived views of one parsed report."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.chinese = document.language == "zh"
        self._heading_words: dict[int, frozenset[str]] = {}

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """Sentences of the body with at least one word, tables included, at most MOST_SENTENCES."""
        found = []
        for sentence in self.document.sentences:
            text = self.clean(sentence.span)
            length = self.length(text)
            if length:
                block = self.document.blocks[sentence.block]
                found.append(Sentence(text, tuple(content_words(text)), length, sentence.block, block.section))
            if len(found) == MOST_SENTENCES:
                break
        return tuple(found)

    @property
    def cut(self) -> bool:
        """Whether the report has more sentences than are looked at."""
        return len(self.sentences) == MOST_SENTENCES < len(self.document.sentences)

    @cached_property
    def prose(self) -> tuple[Sentence, ...]:
        """Sentences of paragraphs, list items and quotes."""
        return tuple(sentence for sentence in self.sentences if self.document.blocks[sentence.block].kind in _PROSE)

    @cached_property
    def words(self) -> float:
        """Length of all sentences in words."""
        return sum(sentence.length for sentence in self.sentences)

    @cached_property
    def vocabulary(self) -> Counter[str]:
        """Content words of all sentences with their counts."""
        return Counter(word for sentence in self.sentences for word in sentence.words)

    @cached_property
    def headings(self) -> tuple[Section, ...]:
        """Sections with a title whose heading stands in the body."""
        return tuple(s for s in self.document.sections if s.level > 0 and s.title and self.document.in_body(s.span))

    @cached_property
    def paragraphs(self) -> tuple[tuple[Sentence, ...], ...]:
        """Sentences of each paragraph and list item, in order."""
        return tuple(tuple(group) for group in _by_block(self.prose))

    @cached_property
    def lists(self) -> tuple[Group, ...]:
        """All lists with at least two items; nested lists are lists of their own."""
        found: list[Group] = []
        blocks = [block for block in self.document.blocks if block.kind is not BlockKind.RULE]
        position = 0
        while position < len(blocks):
            if blocks[position].kind is not BlockKind.LIST_ITEM or not self.document.in_body(blocks[position].span):
                position += 1
                continue
            end = position
            while end < len(blocks) and blocks[end].kind is BlockKind.LIST_ITEM:
                end += 1
            found.extend(self._groups(blocks[position - 1] if position else None, blocks[position:end]))
            position = end
        return tuple(found)

    def _groups(self, before: Block | None, items: Sequence[Block]) -> Iterable[Group]:
        """One group per indentation and parent item of a run of list items."""
        open_groups: list[tuple[int, list[tuple[str, int]], str, bool]] = []
        intro = self.clean(before.content) if before and before.kind is BlockKind.PARAGRAPH else ""
        headed = before is not None and before.kind is BlockKind.HEADING
        last = ""
        for item in items:
            while open_groups and open_groups[-1][0] > item.level:
                yield from self._close(open_groups.pop(), items[0].section)
            if not open_groups or open_groups[-1][0] < item.level:
                open_groups.append((item.level, [], last or intro, headed and not last))
            last = self.clean(item.content)
            open_groups[-1][1].append((last, item.span.start))
        while open_groups:
            yield from self._close(open_groups.pop(), items[0].section)

    def _close(self, group: tuple[int, list[tuple[str, int]], str, bool], section: int) -> Iterable[Group]:
        _, items, intro, headed = group
        if len(items) > 1:
            texts, starts = zip(*items, strict=True)
            yield Group(texts, starts, intro, headed, section)

    @cached_property
    def part_level(self) -> int:
        """The highest level whose headings divide the text into three parts or more, else into two; 0 when none does."""
        levels = sorted({section.level for section in self.headings})
        counts = {level: len(self._divided(level)) for level in levels}
        return next((level for least in (3, 2) for level in levels if counts[level] >= least), 0)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The report's main parts: sections of `part_level`, where there are none paragraphs.

        Where there are more than MOST_PARTS, as many neighbours are put together as bring them down to that.
        """
        level = self.part_level
        return _parts(self._divided(level) if level else [("", list(group)) for group in self.paragraphs])

    def _divided(self, level: int) -> list[tuple[str, list[Sentence]]]:
        """Title and sentences of each section of `level` or higher that has sentences of its own."""
        tops = [section for section in self.headings if section.level <= level]
        starts = [section.span.start for section in tops]
        groups: list[list[Sentence]] = [[] for _ in range(len(tops) + 1)]
        for sentence in self.sentences:
            groups[bisect_right(starts, self.document.blocks[sentence.block].span.start)].append(sentence)
        titles = ["", *(section.title for section in tops)]
        return [(title, group) for title, group in zip(titles, groups, strict=True) if group]

    @cached_property
    def opening(self) -> tuple[Sentence, ...]:
        """The first sentences, until there are 120 words."""
        return _until(self.prose, 120)

    @cached_property
    def closing(self) -> tuple[Sentence, ...]:
        """The last sentences, at least 120 words of them."""
        return tuple(reversed(_until(tuple(reversed(self.prose)), 120)))

    def heading_words(self, section: int) -> frozenset[str]:
        """Content words of the titles of a section and of all that enclose it."""
        if section not in self._heading_words:
            here = self.document.sections[section]
            own = frozenset(content_words(plain_title(here.title)))
            self._heading_words[section] = own if here.parent is None else own | self.heading_words(here.parent)
        return self._heading_words[section]

    def clean(self, span: Span) -> str:
        """The spanned text without citation markers, link targets, addresses and emphasis."""
        text, pieces, position = self.document.text, [], span.start
        for index in range(bisect_left(self._marker_starts, span.start), len(self._markers)):
            marker = self._markers[index]
            if marker.start >= span.end:
                break
            pieces.append(text[position : marker.start])
            position = max(position, min(marker.end, span.end))
        pieces.append(text[position : span.end])
        plain = _MARKUP.sub("", _ADDRESS.sub("", _LINK.sub(r"\1", "".join(pieces))))
        return _BEFORE_MARK.sub("", " ".join(plain.split()))

    def length(self, text: str) -> float:
        """Words of `text`."""
        return count_words(text) * (CHINESE_WORD if self.chinese else 1.0)

    @cached_property
    def _markers(self) -> list[Span]:
        return list(self.document.silent_markers)

    @cached_property
    def _marker_starts(self) -> list[int]:
        return [span.start for span in self._markers]


def plain_title(title: str) -> str:
    """A heading without its numbering and markup."""
    return _MARKUP.sub("", _NUMBERING.sub("", title)).strip(" *_#:：")


def _by_block(sentences: Sequence[Sentence]) -> list[list[Sentence]]:
    groups: dict[int, list[Sentence]] = {}
    for sentence in sentences:
        groups.setdefault(sentence.block, []).append(sentence)
    return list(groups.values())


def _parts(titled: Sequence[tuple[str, list[Sentence]]]) -> tuple[Part, ...]:
    size = -(-len(titled) // MOST_PARTS) or 1
    runs = [titled[start : start + size] for start in range(0, len(titled), size)]
    return tuple(_part(run[0][0], [sentence for _, group in run for sentence in group]) for run in runs)


def _part(title: str, sentences: Sequence[Sentence]) -> Part:
    words = Counter(word for sentence in sentences for word in sentence.words)
    return Part(title, words, sum(s.length for s in sentences), sentences[0].block, sentences[-1].block)


def _until(sentences: Sequence[Sentence], words: float) -> tuple[Sentence, ...]:
    taken: list[Sentence] = []
    total = 0.0
    for sentence in sentences:
        if total >= words:
            break
        taken.append(sentence)
        total += sentence.length
    return tuple(taken)


view_of: Memory[str, ReportView] = Memory(lambda text: ReportView(parse_document(text)), size=8)
"""The view of a report's text."""
