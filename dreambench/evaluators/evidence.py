"""Pages as evidence: what a search found, pages opened once per report, and the passages of a page that fit a claim.

A page is cut into passages of whole sentences. Prompts stay short because a claim is shown the `most` passages of each page
that rank highest by BM25 for its words, equal ranks in the order of the page; shown in the order of the page. Nothing is
cut in silence: `Pool.note` says how many passages of how many were shown, and which pages could not be read and why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from dreambench.documents import normalize_url
from dreambench.documents.hostile import judged_text
from dreambench.engine.compute import compute
from dreambench.evaluators.workflow import Once, need
from dreambench.judges.kinds.entailment import Answer, Passage
from dreambench.judges.quotes import check_quote
from dreambench.language.tokens import bm25, content_words, sentences
from dreambench.metrics.asking import Failed, reach
from dreambench.records import Evidence
from dreambench.tools.results import Search, SearchHit, Visit
from dreambench.tools.toolset import NoTools

EMPTY = "empty"
"""Reason code of a page that was read and holds no text."""


@dataclass(frozen=True, slots=True)
class Read:
    """One opened page: its passages with their content words, or none and the reason code."""

    url: str
    visit: Visit
    passages: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]

    @property
    def reason_code(self) -> str:
        """Why there is nothing to read; empty when there is."""
        if self.passages:
            return ""
        return self.visit.reason_code if self.visit.page is None else EMPTY

    @property
    def published(self) -> str:
        """The page's date in ISO form; empty where it has none."""
        page = self.visit.page
        return page.published.isoformat() if page and page.published else ""

    def as_evidence(self, quote: str = "") -> Evidence:
        """The page as it stands in a row."""
        return Evidence(self.url, self.visit.page.snapshot if self.visit.page else "", self.published, quote)


class Pages:
    """The pages that one report's claims rest on, each opened and cut once however many claims ask for it."""

    def __init__(self, tools: NoTools, as_of: date | None, passage_chars: int) -> None:
        self._tools = tools
        self._as_of = as_of
        self._chars = passage_chars
        self._urls: dict[str, str] = {}
        self._read = Once(self._open)

    async def read(self, url: str) -> Read:
        """The page at `url`. Raises StageFailed for our own trouble in reaching it."""
        key = normalize_url(url)
        self._urls.setdefault(key, url)
        return need(await self._read(key))

    async def _open(self, key: str) -> Read | Failed:
        url = self._urls[key]
        visit = await reach(self._tools.page_visit(url, self._as_of))
        return visit if isinstance(visit, Failed) else await compute(_cut, url, visit, self._chars)


@dataclass(frozen=True, slots=True)
class Pool:
    """The passages that a claim is judged by, and the pages they come from."""

    passages: tuple[Passage, ...]
    pages: tuple[Read, ...]

    @property
    def note(self) -> str:
        """`6 of 41 passages of 2 of 3 pages (https://... dead)`."""
        readable = [page for page in self.pages if page.passages]
        said = f"{len(self.passages)} of {sum(len(page.passages) for page in self.pages)} passages"
        said += f" of {len(readable)} of {len(self.pages)} page{'s' * (len(self.pages) != 1)}"
        unread = [f"{page.url} {page.reason_code}" for page in self.pages if not page.passages]
        later = [f"{page.url} read after the question's date" for page in readable if page.visit.possibly_later]
        return said + (f" ({'; '.join([*unread, *later])})" if unread or later else "")

    def evidence(self, answer: Answer) -> Evidence | None:
        """What the answer quotes, with its page; None when it quotes nothing, or no words of any passage."""
        passage = self.passage_of(answer)
        if passage is None:
            return None
        return next(page for page in self.pages if page.url == passage.url).as_evidence(answer.quote)

    def passage_of(self, answer: Answer) -> Passage | None:
        """The passage that has the quoted words: the one that the answer names, else the first."""
        if not answer.quote.strip():
            return None
        ordered = sorted(self.passages, key=lambda passage: passage.id != answer.passage)
        return next((passage for passage in ordered if check_quote(answer.quote, passage.text)), None)

    def misquotes(self, answer: Answer) -> bool:
        """Whether the answer quotes words that stand in no passage."""
        return bool(answer.quote.strip()) and self.passage_of(answer) is None


async def pool_of(pages: Sequence[Read], wanted: Iterable[str], most: int) -> Pool:
    """The best `most` passages of each page for the texts in `wanted` (the claim, its queries)."""
    return await compute(_pool, pages, " ".join(wanted), most)


def best_hits(searches: Sequence[Search], most: int) -> list[SearchHit]:
    """The `most` best results of several searches, one per page (normalised URL).

    Ordered by best rank in any search, then by how many searches found it, then by the first search that did.
    """
    ranks: dict[str, list[int]] = {}
    hits: dict[str, SearchHit] = {}
    for search in searches:
        seen: set[str] = set()
        for rank, hit in enumerate(search.hits):
            key = normalize_url(hit.url)
            if key not in seen:
                seen.add(key)
                hits.setdefault(key, hit)
                ranks.setdefault(key, []).append(rank)
    return [hits[key] for key in sorted(hits, key=lambda key: (min(ranks[key]), -len(ranks[key])))[:most]]


def cut_passages(text: str, chars: int) -> list[str]:
    """The text in passages of whole sentences, at most `chars` characters each unless one sentence is longer."""
    return [text[start:end] for start, end in _stretches(text, chars)]


def _stretches(text: str, chars: int) -> Iterator[tuple[int, int]]:
    start = end = -1
    for sentence in sentences(text):
        if start >= 0 and sentence.end - start > chars:
            yield start, end
            start = -1
        start = sentence.start if start < 0 else start
        end = sentence.end
    if start >= 0:
        yield start, end


def _cut(url: str, visit: Visit, chars: int) -> Read:
    passages = cut_passages(judged_text(visit.page.text), chars) if visit.page else []
    return Read(url, visit, tuple(passages), tuple(tuple(content_words(passage)) for passage in passages))


def _pool(pages: Sequence[Read], wanted: str, most: int) -> Pool:
    query = content_words(wanted)
    chosen: list[Passage] = []
    for page in pages:
        scores = bm25(query, page.words)
        best = sorted(range(len(scores)), key=lambda at: (-scores[at], at))[:most]
        title = page.visit.page.title if page.visit.page else ""
        for at in sorted(best):
            identity = f"p{len(chosen) + 1}"
            chosen.append(Passage(id=identity, url=page.url, title=title, published=page.published, text=page.passages[at]))
    return Pool(tuple(chosen), tuple(pages))
