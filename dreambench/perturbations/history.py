"""What a page said earlier: amounts, counts, dates and names of a claim as the corpus had them at a cutoff.

A sentence of the report is matched with a sentence of the current version of a page, that one with a sentence of the earlier
version; what stands in the same role in both, and differs, is put back. The earlier version of a page is its newest one by the
cutoff or, where pages are dated issues (`.../saturn-2023`, `.../saturn-2025`), the newest earlier issue.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from dreambench.documents import normalize_url
from dreambench.language.amounts import Quantity
from dreambench.language.dates import DateMention
from dreambench.language.entities import Entity, find_entities
from dreambench.language.tokens import content_words, overlap, sentences
from dreambench.perturbations.edits import Change
from dreambench.perturbations.facts.dates import dates
from dreambench.perturbations.facts.numbers import quantities
from dreambench.perturbations.perturbation import Source
from dreambench.perturbations.prose import Line
from dreambench.tools.corpus import Corpus
from dreambench.tools.page import Page

ALIKE = 0.5
"""Share of a claim's content words that a page's sentence must have to be about the same fact."""
COVERED = 0.75
"""Share of a page's sentence that a longer claim must have, where the claim says more than the page."""
SAME_BUT_NAMES = 0.7
"""Share of content words, names aside, that two versions of a sentence must have in common for a name to have changed."""


@dataclass(frozen=True, slots=True)
class Stated:
    """Something a sentence states at `start:end`; `role` says what can stand for it, `value` what it is."""

    start: int
    end: int
    text: str
    role: tuple[str, ...]
    value: object


def restored(source: Source, line: Line, cutoff: date) -> list[Change]:
    """Changes that put the sentence's facts back to what its pages said at the cutoff; empty without a corpus."""
    if source.corpus is None:
        return []
    for now, then in _versions(source, source.corpus, line, cutoff):
        if changes := _differences(line, now, then):
            return changes
    return []


def is_news(source: Source, line: Line, cutoff: date) -> bool:
    """Whether all that the sentence cites lies in the corpus and was published after the cutoff."""
    cited = [citation.url for citation in source.view.citations_of.get(line.index, ()) if citation.url]
    if source.corpus is None or not cited:
        return False
    now = [source.corpus.visit(url, source.task.as_of) for url in cited]
    return all(page is not None and page.published is not None for page in now) and not any(
        source.corpus.visit(url, cutoff) for url in cited
    )


def _versions(source: Source, corpus: Corpus, line: Line, cutoff: date) -> list[tuple[Page, Page]]:
    """(current, earlier) versions: of the pages that the sentence cites, else of all pages that have changed."""
    known = {normalize_url(page.url) for page in corpus.pages}
    cited = [citation.url for citation in source.view.citations_of.get(line.index, ()) if citation.url]
    urls = [url for url in cited if normalize_url(url) in known] or [page.url for page in corpus.pages]
    pairs = []
    for url in dict.fromkeys(urls):
        now, then = corpus.visit(url, source.task.as_of), corpus.visit(url, cutoff)
        if now is not None and then is None:
            then = _earlier_issue(source, corpus, now, cutoff)
        if now is not None and then is not None and now.snapshot != then.snapshot:
            pairs.append((now, then))
    return pairs


def _earlier_issue(source: Source, corpus: Corpus, now: Page, cutoff: date) -> Page | None:
    """The newest page by the cutoff whose address differs from this one's in its year alone."""
    key = (id(corpus), "issues")
    if key not in source.view.memo:
        series: dict[str, list[Page]] = {}
        for page in corpus.pages:
            if page.published is not None and _YEAR.search(page.url):
                series.setdefault(_YEAR.sub("*", page.url), []).append(page)
        source.view.memo[key] = series
    issues: Mapping[str, list[Page]] = source.view.memo[key]
    out = [page for page in issues.get(_YEAR.sub("*", now.url), ()) if page.published and page.published <= cutoff]
    return max(out, key=lambda page: page.published or date.min, default=None)


_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


def _differences(line: Line, now: Page, then: Page) -> list[Change]:
    """What the earlier page puts in the place of the sentence's facts, all from one pair of page sentences."""
    mine = [fact for fact in stated(line.text) if line.is_free(fact.start, fact.end)]
    for current in _near(line.words, now.text):
        known = [fact for fact in mine if any(fact.value == other.value for other in stated(current))]
        if not known:
            continue
        for earlier in _near(current, then.text):
            swaps = _counterparts(current, earlier)
            note = f"{then.url} on {then.published}"
            changes = [
                Change(line.start + fact.start, line.start + fact.end, swaps[fact.value], "restored", note)
                for fact in known
                if swaps.get(fact.value, fact.text) != fact.text
            ]
            if changes:
                return _apart(changes)
    return []


def _apart(changes: Sequence[Change]) -> list[Change]:
    """The changes in order, none of them inside another."""
    kept: list[Change] = []
    for change in sorted(changes, key=lambda change: (change.start, -change.end)):
        if not kept or change.start >= kept[-1].end:
            kept.append(change)
    return kept


@lru_cache(maxsize=4096)
def _counterparts(now: str, then: str) -> dict[object, str]:
    """For each fact of a page's sentence, the text of what stands in its role in the earlier one, where that is certain."""
    found: dict[object, str] = {}
    before, after = stated(then), stated(now)
    for role in dict.fromkeys(fact.role for fact in after):
        new = [fact for fact in after if fact.role == role]
        old = [fact for fact in before if fact.role == role]
        if role[0] == "name":
            new, old = _only_here(new, old), _only_here(old, new)
            if len(new) != 1 or len(old) != 1 or not _same_but(now, then, new[0], old[0]):
                continue
        if len(new) == len(old):
            found |= {one.value: other.text for one, other in zip(new, old, strict=True) if one.value != other.value}
    return found


def _only_here(facts: Sequence[Stated], others: Sequence[Stated]) -> list[Stated]:
    values = {other.value for other in others}
    return [fact for fact in facts if fact.value not in values]


def _same_but(now: str, then: str, new: Stated, old: Stated) -> bool:
    """Whether two sentences say the same, one name aside."""
    one, other = now[: new.start] + now[new.end :], then[: old.start] + then[old.end :]
    return min(overlap(one, other), overlap(other, one)) >= SAME_BUT_NAMES


@lru_cache(maxsize=16384)
def stated(text: str) -> tuple[Stated, ...]:
    """The amounts, counts, dates and names that a sentence states, in order."""
    days = dates(text)
    facts = [_dated(mention) for mention in days]
    taken = [(mention.start, mention.end) for mention in days]
    for quantity in quantities(text):
        if quantity.kind != "ordinal" and not _inside(quantity.start, quantity.end, taken):
            facts.append(_counted(text, quantity))
    for entity in find_entities(text):
        if entity.kind in ("name", "organisation") and not _inside(entity.start, entity.end, taken):
            facts.append(_named(entity))
    return tuple(sorted(facts, key=lambda fact: (fact.start, fact.end)))


def _inside(start: int, end: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start < last and first < end for first, last in spans)


def _dated(mention: DateMention) -> Stated:
    return Stated(mention.start, mention.end, mention.text, ("date", mention.precision), (mention.first, mention.last))


_NEXT_WORD = re.compile(r"[\s-]*([A-Za-z]{3,}|[一-鿿])")


def _counted(text: str, quantity: Quantity) -> Stated:
    """A count is told apart from others by what is counted: the word behind it."""
    following = _NEXT_WORD.match(text, quantity.end) if quantity.kind == "plain" else None
    role = ("amount", quantity.kind, quantity.dimension, following[1].lower() if following else "")
    return Stated(quantity.start, quantity.end, quantity.text, role, (quantity.kind, round(quantity.base_value, 6)))


def _named(entity: Entity) -> Stated:
    return Stated(entity.start, entity.end, entity.text, ("name",), entity.norm)


def _near(words: str, text: str) -> Sequence[str]:
    """Sentences of a page that are about the same as the words, the most alike first."""
    ranked = sorted(((_alike(words, sentence), sentence) for sentence in _sentences(text)), reverse=True)
    return [sentence for alike, sentence in ranked if alike > 0]


def _alike(words: str, sentence: str) -> float:
    mine, theirs = overlap(words, sentence), overlap(sentence, words)
    covered = theirs >= COVERED and len(set(content_words(sentence))) >= 4
    return mine + theirs if mine >= ALIKE or covered else 0.0


@lru_cache(maxsize=4096)
def _sentences(text: str) -> tuple[str, ...]:
    """The sentences of a page; rows of tables belong together and say nothing alone."""
    return tuple(sentence.text for sentence in sentences(text) if not sentence.text.lstrip().startswith(("|", "#")))
