"""A sentence taken apart once: its content words, amounts with their topic and date, names, negations, directions.

Everything that compares two sentences reads these records; `analyse` is cached, because a judge puts the same page to many
claims.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache

from dreambench.language.amounts import Quantity
from dreambench.language.claims import clauses, counted_noun, topic_in, without_amounts
from dreambench.language.concepts import find_similar, vocabulary
from dreambench.language.dates import DateMention, find_dates
from dreambench.language.entities import Entity, find_entities
from dreambench.language.polarity import Cue, find_cues, negations
from dreambench.language.quantities import find_quantities
from dreambench.language.text import fold_width, has_cjk
from dreambench.language.tokens import Token, is_content, tokens

Span = tuple[int, int]
_UNUSUAL_SIDE = 8
# A "sentence" with more amounts is a table or noise; the rest is not compared.
_MAX_AMOUNTS = 24


@dataclass(frozen=True, slots=True)
class Counted:
    """An amount with the words it counts, the words of its clause, and the dates it is said for."""

    quantity: Quantity
    noun: tuple[str, ...]
    topic: tuple[str, ...]
    dates: tuple[DateMention, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence taken apart; offsets are into `text`."""

    text: str
    words: tuple[Token, ...]
    vocabulary: frozenset[str]
    all_words: frozenset[str]
    counted: tuple[Counted, ...]
    dates: tuple[DateMention, ...]
    entities: tuple[Entity, ...]
    entity_words: frozenset[str]
    negations: tuple[Cue, ...]
    directions: tuple[Cue, ...]
    hedges: tuple[Cue, ...]
    quantifiers: tuple[Cue, ...]
    clauses: tuple[Span, ...]

    def weight(self, word: str) -> float:
        """How much a content word counts: a part of a name half as much again."""
        return 1.5 if word in self.entity_words else 1.0

    def words_in(self, spans: Iterable[Span]) -> set[str]:
        """Content words that lie inside any of `spans`."""
        listed = list(spans)
        return {token.norm for token in self.words if any(a <= token.start and token.end <= b for a, b in listed)}


@lru_cache(maxsize=2048)
def analyse(text: str) -> Statement:
    """Take one sentence apart."""
    folded = fold_width(text)
    quantities = find_quantities(text)[:_MAX_AMOUNTS]
    dates = tuple(find_dates(text))
    blanked = without_amounts(text, quantities, dates)
    found = tokens(text)
    taken = [(q.start, q.end) for q in quantities if q.kind != "ordinal"] + [(d.start, d.end) for d in dates]
    denials = tuple(cue for cue in negations(text) if "until" not in folded[cue.end : cue.scope_end])
    directions = tuple(cue for cue in find_cues(text, "direction") if not _inside(cue.start, cue.end, taken))
    turned = [(cue.start, cue.end) for cue in (*denials, *directions)]
    words = tuple(token for token in found if is_content(token) and not _touches(token, taken) and not _touches(token, turned))
    entities = tuple(entity for entity in find_entities(text) if not _inside(entity.start, entity.end, taken))
    entity_words = frozenset(
        token.norm for token in words if _inside(token.start, token.end, [(e.start, e.end) for e in entities])
    )
    return Statement(
        text=text,
        words=words,
        vocabulary=frozenset(token.norm for token in words),
        all_words=frozenset(token.norm for token in found),
        counted=tuple(_counted(text, blanked, quantity, quantities, dates) for quantity in quantities),
        dates=dates,
        entities=entities,
        entity_words=entity_words,
        negations=denials,
        directions=directions,
        hedges=tuple(cue for cue in find_cues(text, "hedge") if not _inside(cue.start, cue.end, taken)),
        quantifiers=tuple(cue for cue in find_cues(text, "quantifier") if not _inside(cue.start, cue.end, taken)),
        clauses=tuple(clauses(folded)),
    )


def _inside(start: int, end: int, spans: Iterable[Span]) -> bool:
    return any(a <= start and end <= b for a, b in spans)


def _touches(token: Token, spans: Iterable[Span]) -> bool:
    return any(a < token.end and token.start < b for a, b in spans)


def _counted(text: str, blanked: str, quantity: Quantity, others: list[Quantity], dates: tuple[DateMention, ...]) -> Counted:
    return Counted(
        quantity,
        tuple(counted_noun(text, quantity)),
        tuple(topic_in(blanked, quantity)),
        _dates_of(text, quantity, others, dates),
    )


def _dates_of(text: str, quantity: Quantity, others: list[Quantity], dates: tuple[DateMention, ...]) -> tuple[DateMention, ...]:
    """The date an amount is said for: the nearest with no other amount of its kind in between, else all of the sentence."""
    rivals = [q for q in others if q is not quantity and q.kind == quantity.kind and q.unit == quantity.unit]

    def free(date: DateMention) -> bool:
        low, high = min(quantity.start, date.start), max(quantity.end, date.end)
        return not any(low < rival.start and rival.end < high for rival in rivals)

    if not rivals:
        return dates
    # English says "5 percent in 2019", Chinese 2019年为5%: on the usual side a date may be a little farther away.
    usual_after = not has_cjk(text)
    near = sorted((date for date in dates if free(date)), key=lambda date: _distance(quantity, date, usual_after))
    return tuple(near[:1])


def _distance(quantity: Quantity, date: DateMention, usual_after: bool) -> int:
    after = date.start >= quantity.end
    distance = date.start - quantity.end if after else quantity.start - date.end
    return distance if after == usual_after else distance + _UNUSUAL_SIDE


def coverage(wanted: Statement, words: frozenset[str]) -> dict[str, str]:
    """For each content word of `wanted` that has a similar word in `words`, that word."""
    find = vocabulary(words).find
    found = {word: find(word) for word in wanted.vocabulary}
    return {word: other for word, other in found.items() if other is not None}


def share(wanted: Collection[str], words: Collection[str]) -> float:
    """Share of `wanted` with a similar word in `words`; 0.0 when `wanted` is empty."""
    if not wanted:
        return 0.0
    if isinstance(words, frozenset):  # as statements and their contexts have them: looked through again and again
        find = vocabulary(words).find
        return sum(find(word) is not None for word in wanted) / len(wanted)
    return sum(find_similar(word, words) is not None for word in wanted) / len(wanted)
