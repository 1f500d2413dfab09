"""Facts by page: pairs of fact and address, grouped by page, the same fact of one page once. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dreambench.documents import normalize_url
from dreambench.language.tokens import words

_EMPTY_WORDS = frozenset({"a", "an", "the", "be"})
"""Normal forms that two wordings of one fact may differ in; "not", "before" and "more" are none of them."""


@dataclass(frozen=True, slots=True)
class CitedPage:
    """One page with the facts that it is cited for; `url` is as first written."""

    url: str
    facts: tuple[str, ...]


def by_page(pairs: Iterable[tuple[str, str]]) -> list[CitedPage]:
    """Pages in the order of first citation from (fact, address) pairs; addresses are compared normalised."""
    groups: dict[str, tuple[str, list[str]]] = {}
    for fact, url in pairs:
        groups.setdefault(normalize_url(url), (url, []))[1].append(" ".join(fact.split()))
    return [CitedPage(url, tuple(distinct(facts))) for url, facts in groups.values()]


def distinct(facts: Sequence[str]) -> list[str]:
    """Facts without those that repeat an earlier one: the same words in the same order, case, endings, articles and
    punctuation apart. Other wordings of one fact stay: telling them apart from other facts needs a reader."""
    first: dict[tuple[str, ...], str] = {}
    for fact in facts:
        first.setdefault(_essence(fact), fact)
    return list(first.values())


def _essence(fact: str) -> tuple[str, ...]:
    kept = tuple(word for word in words(fact) if word not in _EMPTY_WORDS)
    return kept or (fact.casefold(),)
