"""Verifiers as experts write them, a check a line, read into what code can decide.

`V3: Supplier B cost per unit = ₹105–110`, `V4 - throughput = 36.3 orders/hour (0.5 tolerance), NOT 28.4`, `margin ≥ 12 %`,
`V11: Final decision = ACCEPT`, `JSON keys in order: cost, risk, decision`. What is anything else stays `open`: for a reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from dreambench.language.amounts import Quantity
from dreambench.language.quantities import find_quantities


class VerifierKind(StrEnum):
    """What a verifier asks for."""

    VALUE = "value"
    RANGE = "range"
    INEQUALITY = "inequality"
    EXCLUSION = "exclusion"
    DECISION = "decision"
    KEYS = "keys"
    JSON = "json"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Interval:
    """Accepted amounts, in the base unit of `dimension` (empty: no unit was written); an open end is not accepted itself."""

    low: float = float("-inf")
    high: float = float("inf")
    low_open: bool = False
    high_open: bool = False
    dimension: str = ""
    factor: float = 1.0

    def holds(self, value: float) -> bool:
        """Whether `value`, in the same unit, is accepted; ends are compared with a relative slack of 1e-9."""
        slack = 1e-9 * max(1.0, abs(value))
        above = value > self.low + slack if self.low_open else value >= self.low - slack
        below = value < self.high - slack if self.high_open else value <= self.high + slack
        return above and below


@dataclass(frozen=True, slots=True)
class Verifier:
    """One check. `id` is V1, V2, ... in the order of the package; `text` is as written, without its number.

    `subject` names what is measured; `accepted` and `excluded` are for amounts, `decision` and `keys` for the others.
    """

    id: str
    text: str
    kind: VerifierKind = VerifierKind.OPEN
    subject: str = ""
    accepted: Interval | None = None
    excluded: tuple[Interval, ...] = ()
    decision: str = ""
    keys: tuple[str, ...] = ()


_NUMBER = re.compile(r"^\s*[-*•]?\s*(?:V\s*(?P<id>\d+[a-z]?)\s*[:.)\-–—]*\s*)?", re.IGNORECASE)
_NOT = re.compile(r"[,;(]*\s*(?:\bNOT\b|\bnot(?=\s*[^\w\s]?\s*\d))\s*(?P<what>[^);]*)\)?")
_TOLERANCE = re.compile(
    r"\(?\s*(?:tolerance\s*(?:of|:|=)?\s*)?(?:±|\+/-)\s*(?P<a>\d[\d,]*(?:\.\d+)?)\s*(?P<ap>%)?(?:\s*tolerance)?\s*\)?"
    r"|\(\s*(?P<b>\d[\d,]*(?:\.\d+)?)\s*(?P<bp>%)?\s*tolerance\s*\)"
    r"|\(\s*tolerance\s*(?:of|:|=)?\s*(?P<c>\d[\d,]*(?:\.\d+)?)\s*(?P<cp>%)?\s*\)",
    re.IGNORECASE,
)
_OPERATORS = {"=": "=", "≥": ">=", ">=": ">=", "≤": "<=", "<=": "<=", ">": ">", "<": "<"}
_OPERATOR = re.compile(r">=|<=|[=≥≤<>≈~]")
_WORDED = re.compile(
    r"\b(?:is |are |must be |should be )?(?:(?P<ge>at least|no less than|minimum of)"
    r"|(?P<le>at most|no more than|maximum of|up to)"
    r"|(?P<gt>more than|above|over|greater than)|(?P<lt>less than|below|under)|(?P<eq>between|equals|is))\s+(?=[^\w\s]?\s*\d)",
    re.IGNORECASE,
)
_WORDED_AS = {"ge": ">=", "le": "<=", "gt": ">", "lt": "<", "eq": "="}
_JOIN = re.compile(r"\s*(?:–|—|-|to|and)\s*")
_DECISION = re.compile(r"[\s\"'*]*(?P<word>[A-Z][A-Z]+(?:[- ][A-Z]{2,})*)\b")
_KEYS = re.compile(r"\bkeys?\b.{0,40}\border\b|\border\b.{0,20}\bkeys?\b", re.IGNORECASE)
_JSON = re.compile(r"\bjson\b.{0,40}\b(?:strict\w*|valid|only|followed|format)\b|\bvalid json\b", re.IGNORECASE)
_SCALE_JUMP = 100.0
"""Ends of a range that differ by more than this factor were not written in one scale."""


def parse_verifiers(lines: Iterable[str]) -> tuple[Verifier, ...]:
    """The verifiers of a package, numbered in order; blank lines are none."""
    texts = [text for line in lines if (text := line[_NUMBER.match(line).end() :].strip())]  # type: ignore[union-attr]
    return tuple(parse_verifier(text, f"V{number}") for number, text in enumerate(texts, 1))


def parse_verifier(text: str, name: str = "V1") -> Verifier:
    """One check, without its number; `open` where its meaning is not one of those that code decides."""
    plain = Verifier(name, text)
    if _KEYS.search(text):
        keys = _listed(text)
        return replace(plain, kind=VerifierKind.KEYS, keys=keys) if keys else plain
    if _JSON.search(text):
        return replace(plain, kind=VerifierKind.JSON)
    body, excluded, readable = _without_exclusions(text)
    tolerance = _TOLERANCE.search(body)
    if tolerance:
        body = f"{body[: tolerance.start()]} {body[tolerance.end() :]}"
    subject, operator, right = _split(body)
    if operator == "":
        if excluded and readable and not tolerance:
            return replace(plain, kind=VerifierKind.EXCLUSION, subject=subject, excluded=excluded)
        return plain
    if not re.search(r"\d", right):
        word = _DECISION.match(right)
        simple = operator == "=" and word and not tolerance
        return replace(plain, kind=VerifierKind.DECISION, subject=subject, decision=word["word"]) if word and simple else plain
    found = _accepted(right, operator, tolerance) if readable else None
    if found is None:
        return plain
    kind, accepted = found
    return replace(plain, kind=kind, subject=subject, accepted=accepted, excluded=excluded)


def _without_exclusions(text: str) -> tuple[str, tuple[Interval, ...], bool]:
    """The text without its "NOT x" parts, the amounts in them, and whether all of them are amounts (or another decision)."""
    excluded: list[Interval] = []
    readable = True
    for match in _NOT.finditer(text):
        found = find_quantities(match["what"], "en")
        excluded += [_around(quantity) for quantity in found]
        readable = readable and (bool(found) or bool(_DECISION.match(match["what"])))
    return _NOT.sub(" ", text).strip(" ,;"), tuple(excluded), readable


def _split(body: str) -> tuple[str, str, str]:
    """Subject, operator (empty: none) and right side at the first operator that is in no parentheses."""
    depth = 0
    for at, char in enumerate(body):
        depth += (char == "(") - (char == ")")
        match = _OPERATOR.match(body, at) if depth == 0 else None
        if match:
            operator, rest = match[0], body[match.end() :]
            while more := re.match(rf"\s*({_OPERATOR.pattern})", rest):
                operator, rest = more[1], rest[more.end() :]
            return body[:at].strip(" :-–"), _OPERATORS.get(operator, "?"), rest.strip()
    if worded := _WORDED.search(body):
        name = str(worded.lastgroup)
        return body[: worded.start()].strip(" :-–"), _WORDED_AS[name], body[worded.end() :].strip()
    head, colon, tail = body.partition(":")
    if colon and re.match(r"\s*[^\w\s]?\s*\d|\s*[A-Z]{2,}\b", tail):
        return head.strip(), "=", tail.strip()
    return body.strip(), "", ""


def _accepted(right: str, operator: str, tolerance: re.Match[str] | None) -> tuple[VerifierKind, Interval] | None:
    """What the right side accepts, None where it is not one amount or one range."""
    found = find_quantities(right, "en")
    if operator == "?" or not 1 <= len(found) <= 2:
        return None
    first, last = found[0], found[-1]
    if len(found) == 2 and not _JOIN.fullmatch(right[first.end : last.start]):
        return None
    if (len(found) == 2 or first.is_range) and operator == "=":
        return _range(first, last) if tolerance is None else None
    if len(found) == 2 or first.is_range:
        return None
    return _single(first, operator, tolerance)


def _range(first: Quantity, last: Quantity) -> tuple[VerifierKind, Interval] | None:
    unit = first if first.dimension else last
    if first.dimension and last.dimension and first.dimension != last.dimension:
        return None
    low, high = first.low, last.high
    if low > high or (low > 0 and high / low > _SCALE_JUMP):
        return None
    return VerifierKind.RANGE, Interval(low * unit.factor, high * unit.factor, dimension=unit.dimension, factor=unit.factor)


def _single(amount: Quantity, operator: str, tolerance: re.Match[str] | None) -> tuple[VerifierKind, Interval] | None:
    bound = {"at_least": ">=", "more_than": ">", "at_most": "<=", "less_than": "<"}.get(amount.bound)
    if amount.bound == "about" or (bound and operator not in ("=", bound)):
        return None
    operator = bound or operator
    unit = Interval(dimension=amount.dimension, factor=amount.factor)
    value = amount.base_value
    if operator == "=":
        margin = _margin(amount, tolerance)
        return None if margin is None else (VerifierKind.VALUE, replace(unit, low=value - margin, high=value + margin))
    if tolerance is not None:
        return None
    if operator in (">=", ">"):
        return VerifierKind.INEQUALITY, replace(unit, low=value, low_open=operator == ">")
    return VerifierKind.INEQUALITY, replace(unit, high=value, high_open=operator == "<")


def _margin(amount: Quantity, tolerance: re.Match[str] | None) -> float | None:
    """How far off an amount may be, in base units; half its last written digit without a tolerance.

    A tolerance in percent of a percentage could mean points or a share: None, for a reader.
    """
    if tolerance is None:
        return amount.step * amount.factor / 2
    name = next(each for each in ("a", "b", "c") if tolerance[each])
    size = float(tolerance[name].replace(",", ""))
    if not tolerance[f"{name}p"]:
        return size * amount.factor
    return None if amount.kind in ("percent", "percentage_points") else abs(amount.base_value) * size / 100


def _around(amount: Quantity) -> Interval:
    half = amount.step * amount.factor / 2
    low, high = amount.low * amount.factor, amount.high * amount.factor
    return Interval(low - half, high + half, dimension=amount.dimension, factor=amount.factor)


def _listed(text: str) -> tuple[str, ...]:
    """The keys that are listed after a colon, an equals sign or in brackets."""
    match = re.search(r"[:=(\[]\s*(?P<keys>[^()\[\]:=]+)[)\]]?\s*$", text)
    parts = re.split(r"\s*(?:,|→|->|>|;)\s*", match["keys"].strip(" .")) if match else []
    keys = tuple(part.strip(" \"'`") for part in parts)
    return keys if len(keys) > 1 and all(re.fullmatch(r"[\w .\-/]+", key) for key in keys) else ()
