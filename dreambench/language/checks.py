"""The single comparisons between a claim and one aligned sentence: amounts, dates, negation, direction, names, opposites.

Each check gives `Finding`s. "disagrees" is given only when the sentence is about the same thing: the callers in
`entailment` add the test that the whole sentence covers enough of the claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dreambench.language.comparison import same_quantity
from dreambench.language.concepts import find_similar
from dreambench.language.dates import DateMention, compare_dates, overlapping
from dreambench.language.statements import Counted, Statement, share
from dreambench.language.text import has_cjk

Outcome = Literal["agrees", "disagrees", "weaker", "missing"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One compared point: its `outcome`, what was compared, where (sentence, offset `at` in it), and a short text."""

    outcome: Outcome
    point: Literal["quantity", "ordinal", "date", "negation", "direction", "entity", "quantifier", "opposite", "hedge"]
    sentence: int
    text: str
    at: int = -1


@dataclass(frozen=True, slots=True)
class Aligned:
    """A sentence of the passage beside the claim: shares of the claim's words in it (`local`) and with context (`total`).

    `predicate` is the share of the words that are no names, `subject_found` whether the claim's first content word occurs.
    """

    index: int
    statement: Statement
    context: frozenset[str]
    context_dates: tuple[DateMention, ...]
    pairs: dict[str, str]
    local: float
    total: float
    names_found: bool = True
    predicate: float = 1.0
    subject_found: bool = True

    @property
    def on_topic(self) -> bool:
        """Whether a disagreement here may count as a contradiction: subject, predicate and most words are shared."""
        return self.total >= 0.5 and self.local >= 0.25 and self.predicate >= 0.6 and self.subject_found


_MIN_TOPIC = 0.4
# Half of the Chinese bigrams span two words and match only by chance.
_MIN_TOPIC_CHINESE = 0.3


def check_quantities(claim: Statement, sentences: Sequence[Aligned]) -> list[Finding]:
    """For every amount of the claim the best comparable amount of the sentences."""
    return [_check_quantity(claim, counted, sentences) for counted in claim.counted]


def _check_quantity(claim: Statement, counted: Counted, sentences: Sequence[Aligned]) -> Finding:
    wanted = counted.quantity
    point: Literal["ordinal", "quantity"] = "ordinal" if wanted.kind == "ordinal" else "quantity"
    best: tuple[float, Finding] | None = None
    for aligned in sentences:
        for other in aligned.statement.counted:
            verdict = same_quantity(wanted, other.quantity)
            if verdict == "incomparable" or _other_date(counted, other, aligned) or other_name(claim, aligned):
                continue
            same = verdict != "different"
            topic = _topic_score(claim, counted, other, aligned)
            noun = _noun_match(counted, other, aligned.statement)
            least = _MIN_TOPIC_CHINESE if has_cjk(claim.text) else _MIN_TOPIC
            doubtful = noun is False or topic < least or not (aligned.on_topic and aligned.names_found)
            if not same and (doubtful or (point == "ordinal" and not noun)):
                continue
            score = topic + (0.5 if same else 0.0) + (0.2 if noun else 0.0)
            text = f"{wanted.text} {'agrees with' if same else 'against'} {other.quantity.text}"
            if best is None or score > best[0]:
                best = score, Finding("agrees" if same else "disagrees", point, aligned.index, text, other.quantity.start)
    return best[1] if best else Finding("missing", point, -1, f"{wanted.text} not found")


def _topic_score(claim: Statement, counted: Counted, other: Counted, aligned: Aligned) -> float:
    topic = counted.topic or tuple(claim.vocabulary)
    near = share(topic, _inherited_topic(other, aligned.statement))
    return 0.6 * near + 0.4 * share(topic, aligned.statement.vocabulary | aligned.context)


def _noun_match(counted: Counted, other: Counted, statement: Statement) -> bool | None:
    """Whether the words behind the two numbers meet; None when units say what is counted or one has no such word."""
    if counted.quantity.kind not in ("plain", "ordinal") or not counted.noun:
        return None
    noun = other.noun or _inherited_noun(other, statement)
    if not noun:
        near = has_cjk(counted.noun[0]) or find_similar(counted.noun[0], _inherited_topic(other, statement))
        return None if near else False
    return any(find_similar(word, noun) for word in counted.noun[:2])


def _inherited_noun(counted: Counted, statement: Statement) -> tuple[str, ...]:
    """The noun of the amount before, in one clause ("from 18 trips to 31") or before a bare one ("and 31")."""
    start = counted.quantity.start
    clause = next((span for span in statement.clauses if span[0] <= start < span[1]), (0, 0))
    before = _before(counted, statement, clause[0] if counted.topic else 0)
    return before.noun if before else ()


def _inherited_topic(counted: Counted, statement: Statement) -> tuple[str, ...]:
    """The words of a bare clause are those of the amount before it."""
    before = None if counted.topic else _before(counted, statement, 0)
    return before.topic if before else counted.topic


def _before(counted: Counted, statement: Statement, left: int) -> Counted | None:
    """The last amount of the same kind between `left` and `counted`."""
    start, kind = counted.quantity.start, counted.quantity.kind
    return next((c for c in reversed(statement.counted) if left <= c.quantity.start < start and c.quantity.kind == kind), None)


def _other_date(counted: Counted, other: Counted, aligned: Aligned) -> bool:
    """Whether the two amounts are said for different times; a sentence without a date takes that of the one before."""
    if not counted.dates:
        return False
    if other.dates:
        return not overlapping(counted.dates, other.dates)
    return bool(aligned.context_dates) and not overlapping(counted.dates, aligned.context_dates)


def other_name(claim: Statement, aligned: Aligned) -> bool:
    """Whether the sentence speaks of another named thing than the claim."""
    if not claim.entity_words or not aligned.statement.entity_words:
        return False
    return share(claim.entity_words, aligned.statement.all_words) == 0.0 and (
        share(claim.entity_words, aligned.context) == 0.0 or _opens_with_name(aligned.statement)
    )


def _opens_with_name(statement: Statement) -> bool:
    return any(entity.start <= 16 for entity in statement.entities)


def check_dates(claim: Statement, sentences: Sequence[Aligned]) -> list[Finding]:
    """Each date of a claim that gives no amounts, against the date of the sentences whose clause is nearest in words."""
    return [_check_date(claim, date, sentences) for date in claim.dates]


def _check_date(claim: Statement, wanted: DateMention, sentences: Sequence[Aligned]) -> Finding:
    best: tuple[float, Finding] | None = None
    for aligned in sentences:
        for other in aligned.statement.dates:
            relation = compare_dates(wanted, other)
            if relation == "disjoint" and (
                not (aligned.on_topic and aligned.names_found) or aligned.local < 0.4 or other_name(claim, aligned)
            ):
                continue
            clause = words_around(aligned.statement, other.start, other.end)
            # Names are left out of later clauses ("was begun in 1931 and finished in 1936"), so the other words decide.
            score = (
                share(claim.vocabulary - claim.entity_words or claim.vocabulary, clause)
                + 0.5 * aligned.local
                + (0.0 if relation == "disjoint" else 0.15)
            )
            outcome: Outcome = "disagrees" if relation == "disjoint" else "weaker" if relation == "inside" else "agrees"
            if best is None or score > best[0]:
                word = "against" if relation == "disjoint" else "agrees with"
                best = score, Finding(outcome, "date", aligned.index, f"{wanted.text} {word} {other.text}", other.start)
    if best is not None:
        return best[1]
    held = next((a for a in sentences if a.on_topic and overlapping([wanted], a.context_dates)), None)
    if held is not None:
        return Finding("agrees", "date", held.index, f"{wanted.text} is the date of the sentences before")
    return Finding("missing", "date", -1, f"{wanted.text} not found")


def words_around(statement: Statement, start: int, end: int) -> set[str]:
    """The content words of the clauses that hold the characters from `start` to `end`."""
    return statement.words_in(span for span in statement.clauses if span[0] <= start and end <= span[1])


def scope_dates(claim: Statement, used: Sequence[Aligned]) -> list[Finding]:
    """Whether the dates that a claim gives for its amounts are anywhere in the sentences that hold the amounts."""
    findings = []
    for date in claim.dates:
        known = [found for aligned in used for found in (*aligned.statement.dates, *aligned.context_dates)]
        if not overlapping([date], known):
            findings.append(Finding("weaker", "date", -1, f"{date.text} is not said"))
    return findings
