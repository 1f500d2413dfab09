"""Sums that a text states: changes, shares, differences, parts of a whole, durations, and whether they compute.

A sum is read only where the words leave no other reading: "rose from 40 to 50, by 25 percent", "12 of 48 (25 percent)",
"30 in total: 20 and 10", "from May 2014 to May 2016, two years". What is rounded, approximate or bounded is held to no more
than it says. Everything else is passed over: a sum that is not seen is never a wrong one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise

from dreambench.language.amounts import Quantity
from dreambench.language.dates import DateMention, find_dates
from dreambench.language.quantities import find_quantities
from dreambench.language.text import fold_width

_ABOUT = 0.05
"""Relative slack of "about"."""
_ROUGH = 0.2
"""Relative slack of a multiple in words ("doubled")."""
_DAYS: dict[str, float] = {"day": 1.0, "week": 7.0, "month": 30.44, "year": 365.25}


@dataclass(frozen=True, slots=True)
class Sum:
    """A stated sum at `start:end`: what to calculate, what is stated, what comes out, and whether both agree."""

    start: int
    end: int
    expression: str
    stated: str
    value: float
    holds: bool


def find_sums(text: str) -> list[Sum]:
    """The sums stated in one sentence, in order; each amount is the stated result of at most one."""
    folded = fold_width(text)
    amounts = [amount for amount in find_quantities(text) if amount.kind != "ordinal" and not amount.is_range]
    amounts = [_with_unit_of(one, other, folded) for one, other in zip(amounts, [*amounts[1:], None], strict=False)]
    found = [*_equations(folded, text), *_changes(folded, amounts), *_differences(folded, amounts), *_shares(folded, amounts)]
    found += [*_parts(folded, amounts), *_durations(folded, text, amounts)]
    kept: dict[tuple[int, str], Sum] = {}
    for one in found:
        kept.setdefault((one.end, one.stated), one)
    return sorted(kept.values(), key=lambda one: one.start)


def _with_unit_of(amount: Quantity, other: Quantity | None, folded: str) -> Quantity:
    """The bare number of "from 40 to 50 million euros" with the unit and the scale that stand behind the second one."""
    if other is None or amount.unit or not other.unit or not _TO.fullmatch(folded[amount.end : other.start]):
        return amount
    if not _FROM.search(folded[: amount.start]):
        return amount
    bare = amount.step == _written_step(folded, amount)
    scale = other.step / _written_step(folded, other) if bare else 1.0
    scaled = {key: getattr(amount, key) * scale for key in ("value", "low", "high", "step")}
    said = {key: getattr(other, key) for key in ("kind", "unit", "dimension", "factor")}
    return replace(amount, **scaled, **said)


def _written_step(folded: str, amount: Quantity) -> float:
    """The worth of the last digit before any scale word."""
    written = re.search(r"\d+(?:[.](\d+))?", folded[amount.start : amount.end].replace(",", ""))
    return float(10 ** -len(written[1] or "")) if written else 1.0


_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_OPERATOR = r"(?:[+\-−–×*/÷]|plus|minus|times|加|减|乘以|除以)"
_EQUATION = re.compile(
    rf"(?<![\w.,/\-])({_NUMBER}(?: ?%)?(?:\s*{_OPERATOR}\s*{_NUMBER}(?: ?%)?)+)"
    rf"\s*(?:=|equals|等于)\s*({_NUMBER})(?![\w/]|[.,]\d)",
    re.IGNORECASE,
)
_SIGNS = {"plus": "+", "minus": "-", "times": "*", "加": "+", "减": "-", "乘以": "*", "除以": "/", "×": "*", "÷": "/"}


def _equations(folded: str, text: str) -> Iterator[Sum]:
    """Written out: "12 + 30 = 42"."""
    for match in _EQUATION.finditer(folded):
        expression = re.sub(_OPERATOR, lambda sign: f" {_SIGNS.get(sign[0].lower(), sign[0])} ", match[1], flags=re.IGNORECASE)
        expression = " ".join(re.sub(r"[−–]", "-", expression).replace(",", "").split())
        value = _evaluate(expression)
        if value is not None:
            stated = float(match[2].replace(",", ""))
            half = 0.5 * 10 ** -len(match[2].partition(".")[2])
            yield Sum(match.start(), match.end(), expression, match[2], value, abs(value - stated) <= half * 1.001)


def _evaluate(expression: str) -> float | None:
    """A chain of numbers and signs, multiplication first; None when it divides by zero."""
    words = expression.replace("%", "").split()
    terms = [float(words[0])]
    for sign, number in zip(words[1::2], words[2::2], strict=True):
        value = float(number)
        if sign in "*/" and not (sign == "/" and value == 0):
            terms[-1] = terms[-1] * value if sign == "*" else terms[-1] / value
        elif sign in "+-":
            terms.append(value if sign == "+" else -value)
        else:
            return None
    return sum(terms)


_TO = re.compile(
    r"\s*(?:[a-z]+ ){0,4}?(?:to|up to|down to)\s*|\D{0,12}(?:提高|上升|增加|增长|增|升|延迟|下降|降低|减少|降|减)?(?:到|至|为)",
    re.I,
)
_FROM = re.compile(r"(?:\bfrom|从|由)\s*(?:[a-z]+ ){0,2}$", re.IGNORECASE)
_BY = re.compile(
    r"(?:\bby|\b(?:increase|rise|gain|growth|addition|drop|decline|decrease|fall|reduction|change|difference) of|\b(?:up|down)"
    r"|\bis|\bor|[(,:;]|=|增加了?|增长了?|上升了?|提高了?|增幅为?|减少了?|下降了?|降低了?|降幅为?|差距?为?|，|（)\s*$",
    re.IGNORECASE,
)
_BEHIND = re.compile(r"[\s,(:;—–-]*(?:[a-z]+[ ,]+){0,6}?", re.IGNORECASE)
_NEAR = 60


def _changes(folded: str, amounts: Sequence[Quantity]) -> Iterator[Sum]:
    """From A to B, and by how much: in the same unit, in percent, as a multiple."""
    for first, second in pairwise(amounts):
        between = folded[first.end : second.start]
        if not _alike(first, second) or not _TO.fullmatch(between) or not _FROM.search(folded[: first.start]):
            continue
        before = _FROM.search(folded[: first.start])
        opening = before.start() if before else first.start
        for result in amounts:
            if result in (first, second) or not _said_of(folded, result, opening, second.end):
                continue
            if made := _change(first, second, result):
                yield made
        yield from _worded_multiple(folded, first, second, opening)


def _said_of(folded: str, result: Quantity, opening: int, end: int) -> bool:
    """Whether `result` is given as the amount of the change that stands at `opening:end`."""
    if result.start >= end:
        gap = folded[end : result.start]
        other = re.search(r"[.。;；]|\bfrom\b|\bin \d|\b(?:each|every|per)\b|[从每]", gap)
        return len(gap) <= _NEAR and not other and bool(_BY.search(gap))
    gap = folded[result.end : opening]
    by = re.search(
        r"(?:\bby|(?:increase|rise|drop|decline|decrease|fall|reduction) of|增加|减少|下降|上升)\s*$",
        folded[: result.start],
        re.I,
    )
    return len(gap) <= 20 and not re.search(r"[.,;。，；]", gap) and by is not None


def _change(first: Quantity, second: Quantity, result: Quantity) -> Sum | None:
    a, b = first.value, second.value
    start, end = min(first.start, result.start), max(second.end, result.end)
    if result.kind == "percent" and first.kind != "percent":
        if a == 0 or result.per:
            return None
        return _sum(
            start, end, f"({_n(b)} - {_n(a)}) / {_n(a)} * 100", (b - a) / a * 100, result, _percent_slack(first, second)
        )
    if result.kind == "multiple":
        return None if a == 0 else _sum(start, end, f"{_n(b)} / {_n(a)}", b / a, result, _ROUGH * abs(b / a))
    points = result.kind == "percentage_points" and first.kind == "percent"
    if points or (_alike(first, result) and first.kind != "percent"):
        return _sum(start, end, f"{_n(b)} - {_n(a)}", b - a, result, _half(first) + _half(second))
    return None


_MULTIPLES = (
    (re.compile(r"\b(?:doubled|doubling)\b|翻(?:了)?一番|翻倍|增加(?:了)?一倍", re.I), 2.0),
    (re.compile(r"\b(?:tripled|trebled|tripling)\b", re.I), 3.0),
    (re.compile(r"\bquadrupled\b|翻(?:了)?两番", re.I), 4.0),
    (re.compile(r"\b(?:halved|halving)\b|减半", re.I), 0.5),
)


def _worded_multiple(folded: str, first: Quantity, second: Quantity, opening: int) -> Iterator[Sum]:
    """Doubled, tripled, halved from A to B."""
    lead = folded[max(0, opening - 25) : opening]
    for pattern, factor in _MULTIPLES:
        word = pattern.search(lead)
        if word is None or first.value == 0 or re.search(r"[.;。；]", lead[word.end() :]):
            continue
        ratio = second.value / first.value
        bound = lead[: word.start()]
        if re.search(r"more than\s*$|超过\s*$", bound):
            holds = ratio >= factor * 0.99 if factor > 1 else ratio <= factor * 1.01
        elif re.search(r"(?:nearly|almost|about|roughly)\s*$|[近约]\s*$", bound):
            holds = abs(ratio - factor) <= 2 * _ROUGH * factor
        else:
            holds = abs(ratio - factor) <= _ROUGH * factor
        expression = f"{_n(second.value)} / {_n(first.value)}"
        yield Sum(opening, second.end, expression, word[0], ratio, holds)


_DIFFERENCE = re.compile(
    r"\b(?:difference|distance|gap|margin|lead|surplus) (?:\w+ )?(?:of|is|was)\s*$"
    r"|\b(?:leads?|led|ahead|behind)(?: \w+){0,2} by\s*$"
    r"|(?:相差|差距为?|相差为)\s*$",
    re.IGNORECASE,
)


def _differences(folded: str, amounts: Sequence[Quantity]) -> Iterator[Sum]:
    """A and B with the difference between them, where the sentence has just these two."""
    for result in amounts:
        if not _DIFFERENCE.search(folded[: result.start]):
            continue
        others = [one for one in amounts if one is not result and _alike(one, result)]
        if len(others) == 2 and others[0].bound == others[1].bound == "exact":
            a, b = (one.value for one in others)
            start, end = min(one.start for one in amounts), max(one.end for one in (*others, result))
            large, small = max(a, b), min(a, b)
            yield _sum(start, end, f"{_n(large)} - {_n(small)}", large - small, result, _half(others[0]) + _half(others[1]))


_OF = re.compile(r"\s+(?:[a-z]+ )?(?:out of|of)\s+(?:the |all |its |their |a total of )?", re.IGNORECASE)
_THAT_IS = re.compile(
    r"[^.;。；]{0,40}?(?:\(|（|, or |, i\.e\.,? |, that is |, a share of |, which is |即|，占)\s*(?:a share of |占)?$", re.I
)
_SHARE_BEFORE = re.compile(r"\s*[^.;。；]{0,20}?(?:\(|（)\s*$")


def _shares(folded: str, amounts: Sequence[Quantity]) -> Iterator[Sum]:
    """A of B, and the percentage that it makes."""
    for part, whole in pairwise(amounts):
        counts = part.kind in ("plain", "measure", "money") and _alike(part, whole)
        if not counts or not _OF.fullmatch(folded[part.end : whole.start]) or whole.value <= 0:
            continue
        for result in amounts:
            behind = result.start >= whole.end and _THAT_IS.fullmatch(folded[whole.end : result.start])
            ahead = result.end <= part.start and _SHARE_BEFORE.fullmatch(folded[result.end : part.start])
            if result.kind == "percent" and (behind or ahead):
                a, b = part.value, whole.value
                slack = 100 * (_half(part) + _half(whole) * a / b) / b if not _whole_counts(part, whole) else 0.0
                start, end = min(part.start, result.start), max(whole.end, result.end)
                yield _sum(start, end, f"{_n(a)} / {_n(b)} * 100", a / b * 100, result, slack)


_JOINS = re.compile(
    r"\s*[^.;。；:：\d]{0,40}?(?:,? and|,|、|，|和|与|以及|\+)\s*(?:the (?:other|remaining|rest) |其余|另外)?", re.IGNORECASE
)
_IN_TOTAL = re.compile(
    r"[^.;。；\d]{0,30}?(?:together|in total|altogether|a total of|in all|合计|共计|总计|总共|一共)\s*(?:of |make |are |is )?$",
    re.I,
)
_OF_WHICH = re.compile(
    r"[^.;。；\d]{0,30}?(?:,? of which|,? of whom|,? of them|，?其中(?:有|包括)?)\s*(?:\w+ )?$", re.IGNORECASE
)
_REST = re.compile(
    r"(?:the (?:other|remaining|rest)(?: of them)?|其余(?:的)?(?:为|有|是)?|剩下)\s*(?:are |is |is )?$", re.IGNORECASE
)


def _parts(folded: str, amounts: Sequence[Quantity]) -> Iterator[Sum]:
    """Parts of a whole: "30, of which 20 ... and the other 10 ...", "20 ... and 10 ..., 30 in total"."""
    for at in range(len(amounts) - 2):
        one, two, three = amounts[at : at + 3]
        if not (_alike(one, two) and _alike(two, three)) or one.kind in ("percentage_points", "multiple"):
            continue
        slack = _half(one) + _half(two) + _half(three) if not _whole_counts(one, two, three) else 0.0
        first, second = folded[one.end : two.start], folded[two.end : three.start]
        if _OF_WHICH.fullmatch(first) and _JOINS.fullmatch(second) and _REST.search(second):
            yield _total(one, (two, three), slack)
        elif _JOINS.fullmatch(first) and _IN_TOTAL.fullmatch(second) and not _listed_before(folded, amounts, at):
            yield _total(three, (one, two), slack)


def _listed_before(folded: str, amounts: Sequence[Quantity], at: int) -> bool:
    """Whether an amount of the same unit stands right before, so that the list may be longer than two."""
    return (
        at > 0
        and _alike(amounts[at - 1], amounts[at])
        and bool(_JOINS.fullmatch(folded[amounts[at - 1].end : amounts[at].start]))
    )


def _total(whole: Quantity, parts: tuple[Quantity, Quantity], slack: float) -> Sum:
    a, b = (part.value for part in parts)
    start, end = min(whole.start, parts[0].start), max(whole.end, parts[1].end)
    return _sum(start, end, f"{_n(a)} + {_n(b)}", a + b, whole, slack)


_SPAN = re.compile(r"\s*(?:to|until|till|and|–|-|至|到)\s*", re.IGNORECASE)
_SINCE = re.compile(r"(?:\bfrom|\bbetween|从|自|由)\s*(?:[a-z]+ ){0,2}$", re.IGNORECASE)
_LASTS = re.compile(
    r"[^.;。；\d]{0,30}?(?:\(|，|,|:|—|–|\bover|\bfor|\bby|\bwithin|\bin|\blasting|(?:delay|period|gap|interval) of"
    r"|共|历时|为期|推迟|相隔|间隔)"
    r"\s*(?:a (?:delay|period) of |period of )?$",
    re.IGNORECASE,
)


def _durations(folded: str, text: str, amounts: Sequence[Quantity]) -> Iterator[Sum]:
    """From one date to another, and how long that is."""
    spans = [one for one in amounts if one.unit in _DAYS and not one.per]
    for start, end, first, last, blur in _periods(folded, text) if spans else ():
        for length in spans:
            behind = length.start >= end and _LASTS.fullmatch(folded[end : length.start])
            ahead = length.end <= start and not folded[length.end : start].strip(" ,(")
            if not behind and not ahead:
                continue
            unit = _DAYS[length.unit]
            days = (last - first).days
            exact = replace(length, bound="exact") if length.text.lower().startswith("over ") else length
            where = min(start, length.start), max(end, length.end)
            yield _sum(*where, f"{days} / {_n(unit)}", days / unit, exact, max(blur, unit) / unit)


def _periods(folded: str, text: str) -> Iterator[tuple[int, int, date, date, float]]:
    """Where a stretch between two dates stands, its first days, and the days that they leave open."""
    dates = find_dates(text)
    for mention in dates:
        years = re.findall(r"(?<!\d)\d{4}(?!\d)", folded[mention.start : mention.end])
        if mention.precision == "range" and len(years) == 2 and mention.first.month == 1 and mention.last.month == 12:
            yield mention.start, mention.end, mention.first, date(mention.last.year, 1, 1), 366.0
    for first, second in pairwise(dates):
        since = _SINCE.search(folded[: first.start])
        if since and _SPAN.fullmatch(folded[first.end : second.start]) and second.first >= first.first:
            yield since.start(), second.end, first.first, second.first, max(_blur(first), _blur(second))


def _blur(mention: DateMention) -> float:
    """Days that a date leaves open."""
    return float((mention.last - mention.first).days + 1)


def _alike(a: Quantity, b: Quantity) -> bool:
    """The same unit; "5 tonnes" may be short for "5 tonnes a year"."""
    return (a.kind, a.unit) == (b.kind, b.unit) and (a.per == b.per or not (a.per and b.per))


def _whole_counts(*amounts: Quantity) -> bool:
    return all(one.step == 1 and one.kind == "plain" and one.value % 100 for one in amounts)


def _half(amount: Quantity) -> float:
    """Half the worth of the last digit, in base units; none for a whole number, which is counted."""
    return 0.0 if amount.step == 1 and amount.value < 10_000 else amount.step / 2


def _percent_slack(first: Quantity, second: Quantity) -> float:
    a, b = first.value, second.value
    return 100 * (_half(second) / abs(a) + _half(first) * abs(b) / (a * a))


def _sum(start: int, end: int, expression: str, value: float, stated: Quantity, slack: float) -> Sum:
    return Sum(start, end, expression, stated.text, value, _agrees(value, stated, slack))


def _agrees(value: float, stated: Quantity, slack: float) -> bool:
    """Whether `value` is what is stated, regardless of sign, by the precision of the writing and the bound that it has."""
    wanted, got = abs(stated.value), abs(value)
    half = stated.step / 2 * 1.001 + slack
    if stated.kind == "plain" and stated.step == 1 and stated.bound == "exact" and float(got).is_integer():
        half = slack + 1e-9
    if stated.bound == "about":
        half = max(half, _ABOUT * 2 * wanted)
    if stated.bound in ("more_than", "at_least"):
        return got >= wanted - half
    if stated.bound in ("less_than", "at_most"):
        return got <= wanted + half
    return abs(got - wanted) <= half


def _n(value: float) -> str:
    return f"{value:.10g}"
