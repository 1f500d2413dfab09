"""What a page said earlier: amounts and dates of a claim as the corpus's version at a cutoff has them.

A sentence is matched with the newest version of a page that states its amount; the sentence of the earlier version that is
most like it gives the amount of that day.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import lru_cache

from dreambench.documents import normalize_url
from dreambench.language.amounts import Quantity
from dreambench.language.tokens import overlap, sentences
from dreambench.perturbations.edits import Change
from dreambench.perturbations.facts.numbers import quantities
from dreambench.perturbations.perturbation import Source
from dreambench.perturbations.prose import Line
from dreambench.tools.page import Page

ALIKE = 0.5
"""Share of a claim's content words that a page's sentence must have to be about the same fact."""


def restored(source: Source, line: Line, cutoff: date) -> list[Change]:
    """Changes that put the sentence's amounts back to what its pages said at the cutoff; empty without a corpus."""
    if source.corpus is None:
        return []
    for now, then in _versions(source, line, cutoff):
        if changes := _differences(line, now, then):
            return changes
    return []


def _versions(source: Source, line: Line, cutoff: date) -> list[tuple[Page, Page]]:
    """(current, earlier) versions: of the pages that the sentence cites, else of all pages that have changed."""
    corpus = source.corpus
    assert corpus is not None
    cited = [citation.url for citation in source.view.citations_of.get(line.index, ()) if citation.url]
    known = {normalize_url(page.url) for page in corpus.pages}
    urls = [url for url in cited if normalize_url(url) in known] or [page.url for page in corpus.pages]
    pairs = []
    for url in dict.fromkeys(urls):
        now, then = corpus.visit(url, source.task.as_of), corpus.visit(url, cutoff)
        if now is not None and then is not None and now.snapshot != then.snapshot:
            pairs.append((now, then))
    return pairs


def _differences(line: Line, now: Page, then: Page) -> list[Change]:
    changes = []
    words = line.words
    for quantity in quantities(line.text):
        if quantity.kind == "ordinal" or not line.is_free(quantity.start, quantity.end):
            continue
        current = [sentence for sentence in _near(words, now.text) if _same_among(quantity, sentence)]
        if not current:
            continue
        for sentence in _near(current[0], then.text):
            others = [other for other in quantities(sentence) if _comparable(other, quantity)]
            if others and not any(_equal(other, quantity) for other in others):
                start, end = line.start + quantity.start, line.start + quantity.end
                note = f"{then.url} on {then.published}"
                changes.append(Change(start, end, others[0].text, "restored", note))
                break
    return changes


def _near(words: str, text: str) -> Sequence[str]:
    """Sentences of a page that have enough of the words, the most alike first."""
    ranked = sorted(((overlap(words, sentence), sentence) for sentence in _sentences(text)), reverse=True)
    return [sentence for alike, sentence in ranked if alike >= ALIKE]


@lru_cache(maxsize=4096)
def _sentences(text: str) -> tuple[str, ...]:
    return tuple(sentence.text for sentence in sentences(text))


def _same_among(quantity: Quantity, sentence: str) -> bool:
    return any(_comparable(other, quantity) and _equal(other, quantity) for other in quantities(sentence))


def _comparable(a: Quantity, b: Quantity) -> bool:
    return a.kind == b.kind and a.dimension == b.dimension


def _equal(a: Quantity, b: Quantity) -> bool:
    return abs(a.base_value - b.base_value) <= 0.01 * max(abs(a.base_value), abs(b.base_value))
