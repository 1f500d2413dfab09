"""A frozen corpus of dated pages: full-text search in English and Chinese, and look-up by URL, as of a date.

Indexed with tantivy in memory. Chinese has no spaces, so it is indexed and searched by pairs of characters.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, cast

from dreambench.documents import normalize_url
from dreambench.tools.page import Page
from dreambench.tools.passage import EMPTY_WORDS, passage
from dreambench.tools.results import SearchHit, Undated

if TYPE_CHECKING:
    import tantivy

_WORD = re.compile(r"[^\W_]+")
_CJK = re.compile(r"[㐀-鿿豈-﫿]+")
_NO_DATE = -1
_HEAP = 64_000_000
_AHEAD = 4
"""How many times `k` are looked at before the date is made part of the query: most pages are early enough."""
_SPARE = 10
"""Rows fetched beyond `k`, so that equal scores at the end are cut in the order of the corpus."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result: the page and its BM25 score."""

    page: Page
    score: float


class Corpus:
    """Pages, searchable. Several versions of a page have the same URL and different dates."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self.pages = list(pages)
        self._versions: dict[str, list[Page]] = {}
        for page in self.pages:
            self._versions.setdefault(normalize_url(page.url), []).append(page)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hex) over the pages: equal corpora have equal fingerprints, whatever their order and place."""
        digest = hashlib.sha256()
        for snapshot in sorted(page.snapshot for page in self.pages):
            digest.update(bytes.fromhex(snapshot))
        return digest.hexdigest()

    def visit(self, url: str, as_of: date | None, undated: Undated = "keep") -> Page | None:
        """The newest version of the page that was out by `as_of`; None when there was none."""
        versions = [page for page in self._versions.get(normalize_url(url), []) if _is_out(page, as_of, undated)]
        return max(versions, key=lambda page: page.published or date.min, default=None)

    def search(self, query: str, as_of: date | None, k: int, undated: Undated = "keep") -> list[Hit]:
        """The `k` best pages for `query` that were out by `as_of`, best first; ties in the order of the corpus."""
        parsed = self._parsed(query)
        if parsed is None or k < 1:
            return []
        most = _AHEAD * k + _SPARE
        found = self._best(parsed, most)
        hits = [hit for hit in found if _is_out(hit.page, as_of, undated)]
        if as_of and len(hits) < k and len(found) == most:
            hits = self._best(self._dated(parsed, as_of, undated), k + _SPARE)
        return hits[:k]

    def _parsed(self, query: str) -> tantivy.Query | None:
        """The words and the pairs of Chinese characters of `query`, any of which a page may have; None without a word."""
        words = [word.lower() for word in _WORD.findall(query)]  # AND, OR and NOT are words here
        words = [word for word in words if word not in EMPTY_WORDS] or words  # they stand in every page: slow, and no help
        pairs = _pairs(query)
        latin = [word for word in words if not _CJK.fullmatch(word)]
        parts = [
            self._index.parse_query_lenient(text, [field])[0]
            for text, field in ((" ".join(latin), "text"), (pairs, "pairs"))
            if text
        ]
        return self._any(parts) if len(parts) > 1 else next(iter(parts), None)

    def _any(self, parts: Sequence[tantivy.Query]) -> tantivy.Query:
        import tantivy

        return tantivy.Query.boolean_query([(tantivy.Occur.Should, part) for part in parts])

    def _dated(self, parsed: tantivy.Query, as_of: date, undated: Undated) -> tantivy.Query:
        import tantivy

        first = _NO_DATE if undated == "keep" else 0
        days = first, as_of.toordinal()
        dated = tantivy.Query.range_query(self._index.schema, "published", tantivy.FieldType.Integer, *days)
        return tantivy.Query.boolean_query(
            [(tantivy.Occur.Must, parsed), (tantivy.Occur.Must, tantivy.Query.const_score_query(dated, 0.0))]
        )

    def _best(self, query: tantivy.Query, most: int) -> list[Hit]:
        searcher = self._searcher
        hits = searcher.search(query, most).hits
        rows = searcher.fast_field_values("row", [address for _, address in hits])
        found = sorted((-score, cast("int", row)) for (score, _), row in zip(hits, rows, strict=True))
        return [Hit(self.pages[row], -score) for score, row in found]

    @cached_property
    def _searcher(self) -> tantivy.Searcher:
        return self._index.searcher()

    def find(self, query: str, as_of: date | None, k: int, undated: Undated = "keep") -> list[SearchHit]:
        """`search`, each page with the passage that fits the query best."""
        return [
            SearchHit(hit.page.url, hit.page.title, passage(hit.page.text, query), hit.page.published)
            for hit in self.search(query, as_of, k, undated)
        ]

    @cached_property
    def _index(self) -> tantivy.Index:
        import tantivy

        builder = tantivy.SchemaBuilder()
        builder.add_integer_field("row", fast=True)
        builder.add_integer_field("published", indexed=True, fast=True)
        for field, tokenizer in (("text", "en_stem"), ("pairs", "default")):
            builder.add_text_field(field, tokenizer_name=tokenizer, index_option="freq")
        index = tantivy.Index(builder.build())
        writer = index.writer(heap_size=_HEAP, num_threads=1)
        for row, page in enumerate(self.pages):
            writer.add_document(
                tantivy.Document(
                    row=row,
                    published=page.published.toordinal() if page.published else _NO_DATE,
                    text=f"{page.title} {page.title} {page.text}",  # a word of the title counts twice more
                    pairs=_pairs(f"{page.title} {page.text}"),
                )
            )
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        return index


def _is_out(page: Page, as_of: date | None, undated: Undated) -> bool:
    if as_of is None:
        return True
    return page.published <= as_of if page.published else undated == "keep"


def _pairs(text: str) -> str:
    """Neighbouring pairs of Chinese characters, as words."""
    return " ".join(run[at : at + 2] for run in _CJK.findall(text) for at in range(max(len(run) - 1, 1)))
