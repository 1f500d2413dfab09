"""`queries` by rules: the claim without its value, its names with what is counted, its names with the question's words.

The value is every amount of the claim, or its dates where it has no amount. A value that is a name or an adjective is not
recognised; such a query repeats it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dreambench.errors import AnswerError
from dreambench.judges.kinds.queries import Context, repeated_value
from dreambench.language.claims import quantity_topic
from dreambench.language.dates import find_dates
from dreambench.language.entities import find_entities
from dreambench.language.quantities import find_quantities
from dreambench.language.text import blank_out, has_cjk
from dreambench.language.tokens import is_content, tokens

MOST = 4
"""Queries that there are at most for one claim."""
_MOST_WORDS = 12


def refusal(settings: Mapping[str, Any]) -> str | None:
    """None: settings belong to the wording."""
    return None


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """At most `count` different queries. Raises AnswerError when claim and question leave no word to search for."""
    found: dict[frozenset[str], str] = {}
    for words in _candidates(context.claim, context.question):
        query = _joined(words)
        if query and repeated_value(context.claim, query) is None:
            found.setdefault(frozenset(query.lower().split()), query)
    if not found:
        raise AnswerError("claim and question have no words to search for", code="unreadable")
    return {"queries": list(found.values())[: context.count]}


def _candidates(claim: str, question: str) -> Iterable[Sequence[str]]:
    """Word lists in order of promise."""
    hidden = _without_value(claim)
    names = list(dict.fromkeys(entity.text for entity in find_entities(hidden)))
    counted = [word for quantity in find_quantities(claim) for word in quantity_topic(claim, quantity)[:4]]
    years = [date.text for date in find_dates(hidden)]
    yield _plain_words(hidden)
    if not has_cjk(claim):  # Chinese topics are bigrams, which nobody would type
        yield [*names, *_written(counted, claim), *years]
    yield [*names, *_plain_words(question)[:6]]
    yield _plain_words(question)


def _without_value(claim: str) -> str:
    amounts = [(quantity.start, quantity.end) for quantity in find_quantities(claim)]
    return blank_out(claim, amounts or [(date.start, date.end) for date in find_dates(claim)], " ")


def _plain_words(text: str) -> list[str]:
    """The content words of a text as written; a Chinese text in stretches between punctuation and function words."""
    if has_cjk(text):
        return _chinese_stretches(text)
    return [token.text for token in tokens(text) if is_content(token)]


def _chinese_stretches(text: str) -> list[str]:
    stretches: list[tuple[int, int]] = []
    for token in tokens(text):
        if is_content(token):
            if stretches and token.start <= stretches[-1][1]:
                stretches[-1] = (stretches[-1][0], token.end)
            else:
                stretches.append((token.start, token.end))
    return [text[start:end] for start, end in stretches]


def _written(norms: Sequence[str], text: str) -> list[str]:
    """Normal forms as they are written in the text."""
    forms = {token.norm: token.text for token in reversed(tokens(text))}
    return [forms.get(norm, norm) for norm in norms]


def _joined(words: Sequence[str]) -> str:
    kept: list[str] = []
    for word in words:
        if not any(word.lower() in other.lower() for other in kept):
            kept.append(word)
    return " ".join(kept[:_MOST_WORDS])
