"""Comparisons of a claim with one aligned sentence beyond amounts and dates: denial, direction, opposites, strength, roles."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dreambench.language.checks import Aligned, Finding, other_name
from dreambench.language.concepts import find_similar
from dreambench.language.dates import overlapping
from dreambench.language.polarity import Cue, opposites
from dreambench.language.statements import Statement, share
from dreambench.language.text import CJK, fold_width


def check_negation(claim: Statement, aligned: Aligned) -> Finding | None:
    """A statement denied on one side only: the denied words are the claim's and are not affirmed beside the denial."""
    denied_here, affirmed_here = _denied(aligned.statement)
    denied, _ = _denied(claim)
    claim_words = set(claim.vocabulary) | _turning(claim.directions)
    if not claim.negations and aligned.statement.negations:
        # Words affirmed anywhere in the sentence are no sign: "did not fall in cities, but fell in villages".
        shared = {word for word in claim_words if find_similar(word, denied_here)}
        only = {word for word in shared if not find_similar(word, affirmed_here)}
        if only and (
            any(word.startswith("goes ") for word in only)
            or len(only) >= 2
            or len(shared) * 3 >= len(claim_words - claim.entity_words)
            or len(claim_words) <= 4
        ):
            return Finding("disagrees", "negation", aligned.index, f"the passage denies: {_listed(only)}")
    if claim.negations and not _shares_denial(denied, denied_here):
        shared = {word for word in denied if find_similar(word, affirmed_here)}
        if shared and share(denied, affirmed_here | aligned.context) >= 0.6:
            return Finding("disagrees", "negation", aligned.index, f"the claim denies: {_listed(shared)}")
    if claim.negations and _shares_denial(denied, denied_here):
        return Finding("agrees", "negation", aligned.index, f"both deny: {_listed(denied)}")
    return None


def _shares_denial(denied: set[str], denied_here: set[str]) -> bool:
    return any(find_similar(word, denied_here) for word in denied)


def _denied(statement: Statement) -> tuple[set[str], set[str]]:
    """Content and direction words inside and outside of all negation scopes."""
    scopes = [(cue.end, cue.scope_end) for cue in statement.negations]
    inside = statement.words_in(scopes)
    turning_inside = _turning([cue for cue in statement.directions if any(a <= cue.start < b for a, b in scopes)])
    outside = {token.norm for token in statement.words if not any(a <= token.start and token.end <= b for a, b in scopes)}
    turning_outside = _turning([cue for cue in statement.directions if not any(a <= cue.start < b for a, b in scopes)])
    return inside | turning_inside, outside | turning_outside


def _turning(cues: Sequence[Cue]) -> set[str]:
    return {f"goes {cue.value}" for cue in cues}


def _listed(words: set[str]) -> str:
    return ", ".join(sorted(words)[:6])


def check_direction(claim: Statement, aligned: Aligned, at: int = -1) -> Finding | None:
    """Up against down, read next to the agreeing amount or date `at`, else in the clause that shares most words."""
    wanted = _sign(claim.directions)
    if wanted == 0 or (claim.dates and aligned.statement.dates and not overlapping(claim.dates, aligned.statement.dates)):
        return None
    spans = sorted(aligned.statement.clauses, key=lambda span: -share(claim.vocabulary, aligned.statement.words_in([span])))
    said = _affirmed(aligned.statement) if not claim.negations else aligned.statement.directions
    inside = [cue for cue in said if spans and spans[0][0] <= cue.start < spans[0][1]]
    nearest = min(said, key=lambda cue: abs(cue.start - at), default=None) if at >= 0 else None
    found = _sign([nearest]) if nearest else _sign(inside) or _sign(said)
    if found == 0:
        return None
    names = {1: "up", -1: "down"}
    if found == wanted:
        return Finding("agrees", "direction", aligned.index, f"both go {names[wanted]}")
    if not (aligned.on_topic and aligned.names_found) or other_name(claim, aligned) or claim.negations:
        return None
    return Finding("disagrees", "direction", aligned.index, f"the claim goes {names[wanted]}, the passage {names[found]}")


def _affirmed(statement: Statement) -> tuple[Cue, ...]:
    scopes = [(cue.end, cue.scope_end) for cue in statement.negations]
    return tuple(cue for cue in statement.directions if not any(a <= cue.start < b for a, b in scopes))


def _sign(cues: Sequence[Cue]) -> int:
    values = {cue.value for cue in cues}
    return (1 if "up" in values else -1) if len(values) == 1 else 0


def check_opposites(claim: Statement, aligned: Aligned) -> Finding | None:
    """Opposite words ("accept", "reject") in two sentences that agree in most other words."""
    pairs = opposites(set(claim.all_words), set(aligned.statement.all_words))
    if not pairs or not aligned.on_topic:
        return None
    word, other = pairs[0]
    rest = {w for w in claim.vocabulary if w != word}
    if share(rest, aligned.statement.vocabulary | aligned.context) < 0.65 or bool(claim.negations) != bool(
        aligned.statement.negations
    ):
        return None
    return Finding("disagrees", "opposite", aligned.index, f'"{word}" against "{other}"')


_STRENGTH = {"all": 4, "most": 3, "many": 2, "some": 1, "few": 1}


def check_quantifier(claim: Statement, aligned: Aligned) -> Finding | None:
    """A claim of "all" or "most" where the passage says less is only partly supported."""
    wanted = max((_STRENGTH.get(cue.value, 0) for cue in claim.quantifiers), default=0)
    found = max((_STRENGTH.get(cue.value, 0) for cue in aligned.statement.quantifiers), default=0)
    if wanted > found > 0:
        return Finding("weaker", "quantifier", aligned.index, "the claim says more of them than the passage")
    return None


def check_hedge(claim: Statement, aligned: Aligned, at: int = -1) -> Finding | None:
    """A plain claim where the clause of the agreeing amount `at`, or else a clause that shares words, is hedged."""
    if claim.hedges or not aligned.statement.hedges:
        return None
    matched = set(aligned.pairs.values())
    for cue in aligned.statement.hedges:
        clause = next(((a, b) for a, b in aligned.statement.clauses if a <= cue.start < b), (0, 0))
        beside = clause[0] <= at < clause[1] if at >= 0 else bool(aligned.statement.words_in([clause]) & matched)
        if beside:
            return Finding("weaker", "hedge", aligned.index, f'the passage only says "{cue.text}"')
    return None


# What precedes a name in a role that one name fills: "designed by", "owned by"; places only for events that happen once.
_ROLE = re.compile(r"\b([a-z]+) (by)(?: (?:the|a|an))?(?: [a-z]+){0,2} $")
# Many people write studies; that another one wrote one contradicts nothing.
_OPEN_ROLES = frozenset(
    ["study", "report", "survey", "analysis", "article", "research", "paper", "book", "estimate", "review", "trial"]
)
_COPULA = re.compile(r"[a-z] (?:is|was|are|were)(?: the)? $")
_EVENT_PLACE = re.compile(
    r"\b(born|founded|performed|signed|held|built|located|headquartered|based|died|premiered|launched|buried) (in|at|from) $"
)
_CHINESE_ROLE = re.compile(
    f"由([{CJK}]{{2,8}}?)(设计|建造|创办|创立|撰写|导演|主持|运营|领导|担任|制作|出版|发明|发现|收购|执导|主演)"
)


def check_roles(claim: Statement, aligned: Aligned) -> Finding | None:
    """Another name in a role that only one name fills ("designed by X"), all else being the same."""
    ours, theirs = _roles(claim), _roles(aligned.statement)
    for role, name in ours.items():
        other = theirs.get(role)
        if not aligned.on_topic and not _same_but_for(claim, aligned, name):
            continue
        if role == "is" and share(claim.vocabulary - claim.entity_words, aligned.statement.vocabulary | aligned.context) < 0.99:
            continue
        if other and _different_names(name, other) and name not in fold_width(aligned.statement.text).lower():
            return Finding("disagrees", "entity", aligned.index, f'{role}: "{name}" against "{other}"')
    return None


def _different_names(name: str, other: str) -> bool:
    """Whether two names end differently and neither is a part of the other ("Mount Tarn", "Mount Perrin")."""
    ours, theirs = name.split(), other.split()
    return ours[-1] != theirs[-1] and not set(ours) <= set(theirs) and not set(theirs) <= set(ours)


def _same_but_for(claim: Statement, aligned: Aligned, name: str) -> bool:
    """Whether the sentence shares the claim's words apart from `name`, some of them itself and the rest by its context."""
    start = fold_width(claim.text).lower().find(name)
    end = start + len(name)
    rest = {token.norm for token in claim.words if start < 0 or not (token.start < end and token.end > start)}
    here = aligned.statement.vocabulary
    return share(rest, here | aligned.context) >= 0.65 and share(rest, here) >= 0.3


def _roles(statement: Statement) -> dict[str, str]:
    folded = fold_width(statement.text)
    roles: dict[str, str] = {}
    for entity in statement.entities:
        before = folded[max(0, entity.start - 48) : entity.start]
        match = _EVENT_PLACE.search(before) or _ROLE.search(before)
        if match and match[1] not in _OPEN_ROLES:
            roles[f"{match[1]} {match[2]}"] = entity.norm
        elif _COPULA.search(before):
            roles["is"] = entity.norm
    for match in _CHINESE_ROLE.finditer(folded):
        roles[match[2]] = match[1]
    return roles
