"""The structure of a report: what `parse_document` returns.

Every object points into `Document.text` by character offsets (half-open spans) and keeps no copy of it. `text` is
exactly the text that was given. Objects refer to each other by index into the document's tuples.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from dreambench.documents.measure import count_words, strip_urls
from dreambench.documents.urls import normalize_url


class BlockKind(StrEnum):
    """What a run of lines is."""

    PARAGRAPH = "paragraph"
    HEADING = "heading"
    LIST_ITEM = "list_item"
    TABLE = "table"
    CODE = "code"
    QUOTE = "quote"
    RULE = "rule"
    REFERENCE_LIST = "reference_list"


class CitationStatus(StrEnum):
    """What became of a marker. Only `resolved` ones have a URL."""

    RESOLVED = "resolved"
    DANGLING = "dangling"  # no entry of any reference list has this label (or author and year)
    NO_URL = "no_url"  # the entry is there but names no URL
    AMBIGUOUS = "ambiguous"  # several entries fit and name different URLs


class WrapperKind(StrEnum):
    """Text around the answer. `answer` holds the answer itself; the others are no part of it."""

    THINK = "think"
    ANSWER = "answer"
    TOOL = "tool"
    NARRATION = "narration"
    OUTSIDE_ANSWER = "outside_answer"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Characters `start` (inclusive) to `end` (exclusive)."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start

    def __contains__(self, position: int) -> bool:
        return self.start <= position < self.end

    def of(self, text: str) -> str:
        """The spanned characters."""
        return text[self.start : self.end]

    def overlaps(self, other: Span) -> bool:
        """Whether the two share at least one character."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what is below it, sub-sections included; `own` ends at the next heading of any level.

    `level` is 1-6, and 0 for text before the first heading (whose title is empty). `parent` is the enclosing section.
    """

    title: str
    level: int
    span: Span
    own: Span
    parent: int | None


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, heading, list item, ... `content` leaves out its markup (bullet, `#`, fences), `span` has it.

    `level` is the heading's level or the list item's indentation in columns, else 0.
    """

    kind: BlockKind
    span: Span
    content: Span
    section: int
    level: int = 0


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a paragraph, list item or quote, or one data row of a table, without outer white space.

    A citation marker after the full stop belongs to the sentence before it. Headings, code and reference lists have
    no sentences.
    """

    span: Span
    block: int


@dataclass(frozen=True, slots=True)
class Reference:
    """One entry of a reference list. `label` is empty where entries carry none (APA lines, bullets).

    `url` is the first of `urls` as written; `group` numbers the lists of the report, so that two lists that both start
    at 1 are told apart. `authors` and `year` come from the head of an entry like `Li, X. (2023). ...`, else "".
    """

    span: Span
    label: str
    title: str
    url: str | None
    urls: tuple[str, ...] = ()
    group: int = 0
    authors: str = ""
    year: str = ""


@dataclass(frozen=True, slots=True)
class Citation:
    """One marker and one thing it points to. A marker with several targets gives several citations of the same span.

    `raw` is the whole marker, `label` the one target (`3` of `[1-3]`), `labels` all of them. `sentence` is None in
    headings and in paragraphs of markers alone with no sentence before them.
    """

    span: Span
    raw: str
    style: str
    label: str
    labels: tuple[str, ...]
    url: str | None
    status: CitationStatus
    reference: int | None = None
    sentence: int | None = None


@dataclass(frozen=True, slots=True)
class Wrapper:
    """Thinking, tool traffic, narration or answer tags around the report's own text; `content` is inside the tags."""

    kind: WrapperKind
    span: Span
    content: Span


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed report. Nothing is deleted or guessed: what does not resolve is listed and counted."""

    text: str
    title: str
    language: str
    sections: tuple[Section, ...]
    blocks: tuple[Block, ...]
    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    references: tuple[Reference, ...]
    wrappers: tuple[Wrapper, ...]
    body: tuple[Span, ...]
    """The agent's own answer: without thinking, tool traffic, narration, and reference lists with their headings."""
    silent_markers: tuple[Span, ...] = ()
    """Markers that are no words of their sentence (`documents.silent`), each once, in order."""
    _of_sentence: dict[int, tuple[Citation, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        groups: dict[int, list[Citation]] = {}
        for citation in self.citations:
            if citation.sentence is not None:
                groups.setdefault(citation.sentence, []).append(citation)
        object.__setattr__(self, "_of_sentence", {index: tuple(group) for index, group in groups.items()})

    @property
    def body_text(self) -> str:
        """The body's spans, joined by blank lines."""
        return "\n\n".join(span.of(self.text).strip() for span in self.body)

    @property
    def word_count(self) -> int:
        """Words of the body, without URLs and bracketed markers.

        A run of letters and digits is one word (`state-of-the-art`, `don't` and `3.5` too); each Chinese, Japanese
        or Korean character is one word of its own, as word processors count.
        """
        return count_words(strip_urls(self._without_markers()))

    def _without_markers(self) -> str:
        """The body's text; markers whose text is no prose (`[3]`, `(Li, 2023)`, bare URLs) become a space."""
        cuts = self.silent_markers
        pieces: list[str] = []
        at = iter(cuts)
        cut = next(at, None)
        for span in self.body:
            position = span.start
            while cut is not None and cut.start < span.end:
                if cut.start >= position:
                    pieces.append(self.text[position : cut.start])
                    position = cut.end
                cut = next(at, None)
            pieces.append(self.text[position : span.end])
        return " ".join(pieces)

    @property
    def markers(self) -> tuple[Span, ...]:
        """Spans of the citation markers, each once, in order."""
        return tuple(sorted({citation.span for citation in self.citations}))

    @property
    def resolved(self) -> tuple[Citation, ...]:
        """Citations that have a URL."""
        return self._with_status(CitationStatus.RESOLVED)

    @property
    def dangling(self) -> tuple[Citation, ...]:
        """Citations that point to no entry."""
        return self._with_status(CitationStatus.DANGLING)

    @property
    def unresolved(self) -> tuple[Citation, ...]:
        """Citations without a URL, whatever the reason."""
        return tuple(citation for citation in self.citations if citation.status is not CitationStatus.RESOLVED)

    @property
    def uncited(self) -> tuple[Reference, ...]:
        """Entries that no citation points to; an ambiguous marker points to none of its candidates."""
        cited = {citation.reference for citation in self.citations}
        return tuple(entry for index, entry in enumerate(self.references) if index not in cited)

    @property
    def cited_urls(self) -> tuple[str, ...]:
        """URLs of resolved citations as written, in order of first use, one per normalised URL."""
        return _unique_urls(citation.url for citation in self.citations)

    @property
    def sentences_with_citation(self) -> tuple[int, ...]:
        """Indices of the sentences that carry at least one marker, resolved or not."""
        return tuple(sorted({c.sentence for c in self.citations if c.sentence is not None}))

    def citations_of(self, sentence: int) -> tuple[Citation, ...]:
        """The citations of one sentence, in order."""
        return self._of_sentence.get(sentence, ())

    def silent_within(self, span: Span) -> tuple[Span, ...]:
        """The silent markers that begin inside a span, in order."""
        first, last = (bisect_left(self.silent_markers, at, key=lambda marker: marker.start) for at in (span.start, span.end))
        return self.silent_markers[first:last]

    def sentence_text(self, sentence: int) -> str:
        """The words of one sentence, markers included."""
        return self.sentences[sentence].span.of(self.text)

    def iter_sentences(self) -> Iterator[tuple[Sentence, tuple[Citation, ...]]]:
        """Each sentence with its citations, in one pass."""
        for index, sentence in enumerate(self.sentences):
            yield sentence, self.citations_of(index)

    def in_body(self, span: Span) -> bool:
        """Whether the span begins inside the agent's own answer."""
        at = bisect_right(self.body, span.start, key=lambda part: part.start) - 1
        return at >= 0 and span.start in self.body[at]

    def _with_status(self, status: CitationStatus) -> tuple[Citation, ...]:
        return tuple(citation for citation in self.citations if citation.status is status)


def _unique_urls(urls: Iterable[str | None]) -> tuple[str, ...]:
    seen: dict[str, str] = {}
    for url in urls:
        if url is not None:
            seen.setdefault(normalize_url(url), url)
    return tuple(seen.values())
