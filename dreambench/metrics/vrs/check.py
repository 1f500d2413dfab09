"""Verifiers decided by code, from the report's text alone: pass, fail, or None for what takes a reader.

A reading is an amount (or a word) that the report gives right behind the words of the verifier's subject, and no others: "true
unit cost is ₹103", `| True unit cost | ₹103 |`, `"true_unit_cost": 103`. Code passes a verifier when all its readings are
accepted, and fails it when none is and nothing that would be accepted stands anywhere in the report. All else is for the judge.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isinf
from typing import Any

from dreambench.language.amounts import Quantity
from dreambench.language.quantities import find_quantities
from dreambench.language.stemming import stem
from dreambench.language.tokens import sentences
from dreambench.metrics.vrs.verifier import Interval, Verifier, VerifierKind


@dataclass(frozen=True, slots=True)
class Finding:
    """What code found: the verdict, why, and where in the report (None: nowhere in particular)."""

    passed: bool
    why: str
    span: tuple[int, int] | None = None


_WORD = re.compile(r"[^\W_]+")
_IDLE = frozenset(
    "a an the of for in on at to and or per is are be by with from that this our we find finds found show shows gives so hence"
    " thus then therefore where here as".split()
)
"""Words that name nothing; all others tell one subject from another ("unit cost" is not "true unit cost")."""
_LINK = re.compile(
    r"(?:[\s|:*_=~→\"'`()\[\],–—-]|≈|\b(?:is|was|are|were|be|of|at|to|about|approximately|around|roughly|comes?|came|out|equals?"
    r"|equal|totals?|totalled|totaled|amounts?|reach(?:es|ed)?|therefore|thus|now|stands?|we|should)\b)*",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"\s*[+×*/÷−=x–-]\s*[^\w\s]?\s*\d")
_CLAUSE = re.compile(r"[,.;:!?|(){}\[\]\"*#>]|[-–—•]\s")
_UNREAL = re.compile(
    r"\b(?:if|suppose|assum\w+|would|could|instead of|rather than|not|never|wrong\w*|naive\w*|mistak\w*|quoted|listed)\b",
    re.IGNORECASE,
)
_SCALES = (100.0, 1e3, 1e5, 1e6, 1e7, 1e9)
"""Percent, thousand, lakh, million, crore, billion."""
_BLOCK = re.compile(r"```[\w-]*\n(?P<body>.*?)```", re.DOTALL)


def decide(verifier: Verifier, report: str) -> Finding | None:
    """The verdict of code on one verifier, None where it cannot tell."""
    match verifier.kind:
        case VerifierKind.VALUE | VerifierKind.RANGE | VerifierKind.INEQUALITY | VerifierKind.EXCLUSION:
            return _amount(verifier, report)
        case VerifierKind.DECISION:
            return _decision(verifier, report)
        case VerifierKind.KEYS:
            return _keys(verifier, report)
        case VerifierKind.JSON:
            return _json(report)
        case _:
            return None


def _amount(verifier: Verifier, report: str) -> Finding | None:
    verdicts = [
        (found, verdict) for found in _readings(verifier, report) if (verdict := _judge(verifier, found[0])) is not None
    ]
    if not verdicts or len({verdict for _, verdict in verdicts}) > 1:
        return None
    (quantity, start), passed = verdicts[0]
    if not passed and verifier.accepted and _stands_anywhere(verifier.accepted, report):
        return None
    span = (start + quantity.start, start + quantity.end)
    return Finding(
        passed, f"the report gives {quantity.text} for it" + (f", {len(verdicts)} times" if len(verdicts) > 1 else ""), span
    )


def _readings(verifier: Verifier, report: str) -> Iterator[tuple[Quantity, int]]:
    """The amounts right behind the subject's words, each with the offset of its sentence."""
    for sentence in sentences(report):
        ends = _ends(verifier.subject, sentence.text)
        if not ends or _UNREAL.search(sentence.text):
            continue
        amounts = find_quantities(sentence.text, "en")
        for end in ends:
            behind = [each for each in amounts if each.start >= end][:2]
            if not behind or (len(behind) > 1 and "|" in sentence.text):  # which column of a row is meant is for a reader
                continue
            first = behind[0]
            if _LINK.fullmatch(sentence.text, end, first.start) and not _GOES_ON.match(sentence.text, first.end):
                yield first, sentence.start


def _judge(verifier: Verifier, found: Quantity) -> bool | None:
    """Whether one reading is accepted, None where it cannot be compared."""
    if found.is_range or found.bound not in ("exact", "about"):
        return None
    same = [_in(excluded, found) for excluded in verifier.excluded]
    if True in same:
        return False
    if verifier.accepted is None:
        return None if None in same else True
    return _in(verifier.accepted, found)


def _in(interval: Interval, found: Quantity) -> bool | None:
    """Whether an amount is accepted; None for other units, and where it is only by another scale (1.2 for 1.2 million)."""
    if interval.dimension and found.dimension:
        return interval.holds(found.base_value) if interval.dimension == found.dimension else None
    if interval.dimension and interval.factor != 1.0:
        return None
    accepted = interval.holds(found.value)
    if not isinf(interval.low) and not isinf(interval.high):
        scaled = any(interval.holds(found.value / scale) or interval.holds(found.value * scale) for scale in _SCALES)
        return None if scaled and not accepted else accepted
    end = interval.high if isinf(interval.low) else interval.low
    same_unit = interval.dimension == found.dimension and abs(found.value) < _SCALES[1] * max(abs(end), 1.0)
    return accepted if same_unit else None


def _stands_anywhere(accepted: Interval, report: str) -> bool:
    return any(_in(accepted, found) for found in find_quantities(report, "en"))


def _decision(verifier: Verifier, report: str) -> Finding | None:
    wanted = verifier.decision.casefold()
    verdicts: list[tuple[bool, tuple[int, int]]] = []
    for sentence in sentences(report):
        for end in _ends(verifier.subject, sentence.text, _IDLE | {"final"}):
            place = _LINK.match(sentence.text, end)
            at = place.end() if place else end
            word = re.match(r"[A-Z][A-Za-z-]*(?: [A-Z]{2,}[A-Z-]*)*", sentence.text[at:])
            if word is None or _UNREAL.search(sentence.text):
                continue
            said = word[0].casefold()
            if said == wanted or said.startswith(f"{wanted} "):
                verdicts.append((True, (sentence.start + at, sentence.start + at + len(wanted))))
            elif word[0].isupper() and len(word[0]) > 1:
                verdicts.append((False, (sentence.start + at, sentence.start + at + len(word[0]))))
    if not verdicts or len({passed for passed, _ in verdicts}) > 1:
        return None
    passed, span = verdicts[0]
    if not passed and re.search(rf"\b{re.escape(verifier.decision)}", report, re.IGNORECASE):
        return None
    return Finding(passed, f"the report decides {report[span[0] : span[1]]}", span)


def _keys(verifier: Verifier, report: str) -> Finding:
    objects = list(_objects(report))
    if not objects:
        return Finding(False, "the report holds no JSON object")
    for found, span in objects:
        if tuple(found) == verifier.keys:
            return Finding(True, f"a JSON object has the keys {', '.join(found)} in this order", span)
    found, span = objects[0]
    return Finding(False, f"the JSON object has the keys {', '.join(found)}", span)


def _json(report: str) -> Finding | None:
    """Nothing but one JSON object passes, none at all fails; text around it is for a reader."""
    objects = list(_objects(report))
    if not objects:
        return Finding(False, "the report holds no JSON object")
    block = _BLOCK.fullmatch(report.strip())
    whole = (block["body"] if block else report).strip()
    try:
        json.loads(whole)
    except (ValueError, RecursionError):
        return None
    return Finding(True, "the report is one JSON value and nothing else", objects[0][1])


def _objects(report: str) -> Iterator[tuple[dict[str, Any], tuple[int, int]]]:
    """The JSON objects of a report that are in no other one, each with its place."""
    decoder, at = json.JSONDecoder(), 0
    while (at := report.find("{", at)) >= 0:
        try:
            found, end = decoder.raw_decode(report, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        if found:
            yield found, (at, end)
        at = end


def _ends(subject: str, text: str, idle: frozenset[str] = _IDLE) -> list[int]:
    """Where in `text` the words of `subject` have just been said, all of them and no others in the same breath."""
    wanted = {word for word, _, _ in _words(re.sub(r"\([^)]*\)", " ", subject), idle)}
    if not any(len(word) > 2 for word in wanted):
        return []
    said = _words(text, idle)
    ends = []
    for last in range(len(wanted) - 1, len(said)):
        first = last - len(wanted) + 1
        if {word for word, _, _ in said[first : last + 1]} != wanted:
            continue
        before = said[first - 1][2] if first else None
        if before is None or _CLAUSE.search(text, before, said[first][1]):
            ends.append(said[last][2])
    return ends


def _words(text: str, idle: frozenset[str]) -> Sequence[tuple[str, int, int]]:
    """The words that name something, stemmed, with their places; a single capital ("Supplier B") is a name."""
    found = []
    for match in _WORD.finditer(text):
        word = match[0]
        if len(word) == 1 and word.isupper():
            found.append((word, match.start(), match.end()))
        elif word.casefold() not in idle:
            found.append((stem(word.casefold()), match.start(), match.end()))
    return found
