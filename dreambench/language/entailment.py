"""What a passage says about a claim: a transparent rule system, the weak offline baseline behind the embedded judge.

The passage is cut into sentences; those that share most of the claim's words are aligned with it; then amounts on the same
topic, dates, negation, direction, roles and opposite words are compared one by one. A number for another year, place or
quantity is no contradiction, and absence is "unrelated". Paraphrase beyond a short list of synonyms is not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from dreambench.language import checks, polarity_checks
from dreambench.language.checks import Aligned, Finding
from dreambench.language.concepts import concept
from dreambench.language.dates import DateMention
from dreambench.language.entities import Entity
from dreambench.language.statements import Statement, analyse, coverage, share
from dreambench.language.text import has_cjk, normalise
from dreambench.language.tokens import PASSAGE, Sentence, is_content, sentences, tokens, words
from dreambench.remembered import remembered

Label = Literal["supports", "partially", "contradicts", "unrelated"]


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence of the passage, exactly as it stands at `start:end`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Relation:
    """The label, how sure the rules are (in [0, 1], not calibrated), the sentences it rests on, and why."""

    label: Label
    confidence: float
    quote: tuple[Quote, ...]
    why: str


_CONTEXT_CREDIT = 0.7
_CANDIDATES = 6
_FLOOR = 0.15


@dataclass(frozen=True, slots=True)
class _Near:
    """A sentence of a passage with what stands around it: the words of the passage's first sentence and of its neighbours,
    content words (`context`) and all of them, its own included (`known`), and the dates that were given last before it."""

    statement: Statement
    context: frozenset[str]
    known: frozenset[str]
    dates: tuple[DateMention, ...]


class _Passage:
    """A passage taken apart as far as somebody asked, once for all claims that are compared with it."""

    def __init__(self, text: str) -> None:
        self.sentences = sentences(text)
        self._near: dict[int, _Near] = {}

    def near(self, index: int) -> _Near:
        """The sentence at `index` with what stands around it."""
        if index not in self._near:
            self._near[index] = self._look_around(index)
        return self._near[index]

    def _look_around(self, index: int) -> _Near:
        cut = self.sentences
        first, last = max(0, index - 2), min(len(cut), index + 2)
        statement = analyse(cut[index].text)
        around = [analyse(cut[i].text) for i in sorted({0, *range(first, last)} - {index})]
        before = [analyse(cut[i].text) for i in range(first, index)]
        return _Near(
            statement,
            frozenset[str]().union(*(other.vocabulary for other in around)),
            statement.all_words.union(*(other.all_words for other in around)),
            next((other.dates for other in reversed(before) if other.dates), ()),
        )

    @cached_property
    def rough(self) -> tuple[tuple[str, ...], ...]:
        """The meanings of each sentence's words, every word of its own."""
        return tuple(tuple(concept(word) for word in frozenset(words(one.text))) for one in self.sentences)

    @cached_property
    def text(self) -> str:
        """The sentences as they are compared with names."""
        return normalise(" ".join(sentence.text for sentence in self.sentences))

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of the passage."""
        return frozenset(words(self.text))


_passage = remembered(_Passage, border=PASSAGE, short=512)


def relate(claim: str, passage: str) -> Relation:
    """Judge one claim by one passage; neither depends on anything but its text."""
    wanted = analyse(claim)
    if not wanted.vocabulary and not wanted.counted:
        return Relation("unrelated", 0.0, (), "the claim has no content words")
    read = _passage(passage)
    aligned = _align(wanted, read)
    if not aligned:
        return Relation("unrelated", 0.9, (), "no sentence of the passage shares enough words with the claim")
    return _decide(wanted, aligned, read, _findings(wanted, aligned))


def _align(claim: Statement, passage: _Passage) -> list[Aligned]:
    """The sentences that share most with the claim, best first; only these are analysed in full."""
    found: list[Aligned] = []
    weights = {word: claim.weight(word) for word in claim.vocabulary}
    total_weight = sum(weights.values()) or 1.0
    for index in _shortlist(claim, passage):
        near = passage.near(index)
        pairs = coverage(claim, near.statement.vocabulary)
        local = sum(weights[word] for word in pairs) / total_weight
        if local >= _FLOOR or not claim.vocabulary:
            beside = coverage(claim, near.context)
            extra = sum(weights[word] for word in beside if word not in pairs) / total_weight
            found.append(
                Aligned(
                    index,
                    near.statement,
                    near.context,
                    near.dates,
                    pairs,
                    local,
                    local + _CONTEXT_CREDIT * extra,
                    all(_known(entity, near.known) for entity in claim.entities),
                    *_core(claim, {*pairs, *beside}),
                )
            )
    return sorted(found, key=lambda a: (-a.total - 0.5 * a.local, a.index))


def _core(claim: Statement, covered: set[str]) -> tuple[float, bool]:
    """The covered share of the words that are no names, and whether the claim's opening words are covered."""
    plain = claim.vocabulary - claim.entity_words
    opening = [token.norm for token in claim.words[: 2 if has_cjk(claim.text) else 1]]
    predicate = len(plain & covered) / len(plain) if plain else 1.0
    return predicate, not opening or any(word in covered for word in opening)


def _known(entity: Entity, words: frozenset[str]) -> bool:
    """Whether at least half of a name's parts occur."""
    parts = [token.norm for token in tokens(entity.text) if is_content(token)]
    return not parts or share(parts, words) >= 0.5


def _shortlist(claim: Statement, passage: _Passage) -> list[int]:
    """Indices of the sentences with the highest rough overlap; the fine comparison is too slow for a whole page."""
    if len(passage.sentences) <= _CANDIDATES:
        return list(range(len(passage.sentences)))
    wanted = {concept(word): claim.weight(word) for word in claim.vocabulary}
    rough = [(-sum(wanted.get(word, 0.0) for word in meanings), index) for index, meanings in enumerate(passage.rough)]
    return [index for score, index in sorted(rough)[:_CANDIDATES] if score < 0]


def _findings(claim: Statement, aligned: Sequence[Aligned]) -> list[Finding]:
    found = checks.check_quantities(claim, aligned)
    if any(counted.quantity.kind != "ordinal" for counted in claim.counted):
        used = [a for a in aligned if any(f.sentence == a.index and f.outcome == "agrees" for f in found)]
        found += checks.scope_dates(claim, used) if used else []
    else:
        found += checks.check_dates(claim, aligned)
    held = {finding.sentence for finding in found if finding.outcome == "agrees"}
    for one in _near_best(aligned, held):
        at = next((f.at for f in found if f.sentence == one.index and f.outcome == "agrees"), -1)
        findings = (
            polarity_checks.check_opposites(claim, one),
            polarity_checks.check_negation(claim, one),
            polarity_checks.check_direction(claim, one, at),
            polarity_checks.check_roles(claim, one),
        )
        for finding in findings:
            if finding is not None and (finding.outcome != "disagrees" or one.on_topic or finding.point == "entity"):
                found.append(finding)
    best = aligned[0]
    at = next((f.at for f in found if f.sentence == best.index and f.outcome == "agrees"), -1)
    weaker = (polarity_checks.check_quantifier(claim, best), polarity_checks.check_hedge(claim, best, at))
    return found + [finding for finding in weaker if finding is not None]


def _near_best(aligned: Sequence[Aligned], held: set[int]) -> list[Aligned]:
    """The best sentence, others that share nearly as much of the claim, and those that hold an agreeing amount or date."""
    local, total = max(one.local for one in aligned), max(one.total for one in aligned)
    return [one for one in aligned if one.index in held or one.local >= 0.75 * local or one.total >= 0.9 * total][:4]


def _decide(claim: Statement, aligned: Sequence[Aligned], passage: _Passage, found: list[Finding]) -> Relation:
    cut = passage.sentences
    best = aligned[0]
    against = [finding for finding in found if finding.outcome == "disagrees"]
    if against and not _overruled(against, found):
        sentence = next(one for one in aligned if one.index == against[0].sentence)
        return _relation("contradicts", 0.4 + 0.5 * sentence.total, against, [sentence], cut)
    label = _label(claim, best, found)
    if label == "supports" and (absent := _absent_names(claim, passage)):
        label, found = "partially", [*found, Finding("weaker", "entity", best.index, f"not named: {absent}")]
    used = [one for one in aligned if any(f.sentence == one.index and f.outcome == "agrees" for f in found)] or [best]
    if label == "unrelated":
        return _relation(label, 1.0 - 0.5 * best.total, [f for f in found if f.outcome == "missing"], [], cut)
    total = max(one.total for one in used)
    return _relation(label, 0.3 + 0.6 * total, [f for f in found if f.outcome != "missing"] or found, used[:2], cut)


def _absent_names(claim: Statement, passage: _Passage) -> str:
    """The names of the claim that stand nowhere in the passage."""
    text = passage.text
    absent = [
        entity.text
        for entity in claim.entities
        if entity.norm not in text and not (_known(entity, passage.words) and entity.norm.split()[-1] in text)
    ]
    return ", ".join(absent)


def _overruled(against: Sequence[Finding], found: Sequence[Finding]) -> bool:
    """A direction or a denial read against the claim in one sentence, when another sentence says the same as the claim."""
    soft = {"direction", "negation"}
    return all(
        finding.point in soft and any(f.outcome == "agrees" and f.point == finding.point for f in found) for finding in against
    )


def _label(claim: Statement, best: Aligned, found: Sequence[Finding]) -> Label:
    amounts = [finding for finding in found if finding.point == "quantity"]
    agreed = [finding for finding in amounts if finding.outcome == "agrees"]
    weaker = any(finding.outcome == "weaker" for finding in found)
    enough = 0.45 if has_cjk(claim.text) else 0.5
    if amounts:
        if not agreed or best.total < enough - 0.15:
            return "unrelated"
        return "supports" if len(agreed) == len(amounts) and not weaker and best.total >= enough else "partially"
    dates = [finding for finding in found if finding.point == "date"]
    if dates:
        if any(finding.outcome == "missing" for finding in dates):
            return "partially" if best.on_topic and best.total >= 0.7 else "unrelated"
        enough += 0.05
    else:
        enough += 0.2
    if best.total >= enough:
        return "partially" if weaker or not best.names_found else "supports"
    return "partially" if best.total >= enough - 0.06 and best.names_found else "unrelated"


def _relation(
    label: Label, confidence: float, found: Sequence[Finding], used: Sequence[Aligned], cut: Sequence[Sentence]
) -> Relation:
    quote = tuple(Quote(cut[one.index].start, cut[one.index].end, cut[one.index].text) for one in used)
    reasons = "; ".join(dict.fromkeys(f"{finding.point}: {finding.text}" for finding in found))
    fallback = {"supports": "the words of the claim are covered", "partially": "part of the claim's words is covered"}
    why = reasons or fallback.get(label, "too few words of the claim are covered")
    return Relation(label, round(min(0.95, max(0.05, confidence)), 3), quote, why)
