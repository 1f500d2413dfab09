"""Dates and periods in text, each as the first and the last day that it covers.

A mention keeps the precision it was written with, so that "2024" and "13 September 2024" compare as the longer period that
holds the shorter one. Days without a year cannot be placed and are not mentions; `yearless_spans` still gives where they
are, because their digits are not amounts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Literal

from dreambench.language.date_rules import ANY_RULE, DAY, MONTH, RULES, YEAR, Period, Precision, years
from dreambench.language.text import blank_out, fold_width

Comparison = Literal["same", "inside", "contains", "overlaps", "disjoint"]


@dataclass(frozen=True, slots=True)
class DateMention:
    """A period named at `start:end`; `first` and `last` are days, both included."""

    start: int
    end: int
    text: str
    first: date
    last: date
    precision: Precision


# Most positions cannot start a date; two letters tell, at a tenth of the cost of trying every rule.
_GUARD = "(?=[0-9]|ja|fe|ma|ap|ju|au|se|oc|no|de|q[1-4]|h[12]|fi|th|fo|ea|mi|la|be|st|en|sp|su|fa|fr)"
_PATTERN = re.compile(rf"(?<![A-Za-z0-9./$€£¥-]){_GUARD}(?:{ANY_RULE})", re.IGNORECASE)
_CHINESE_YEAR = re.compile("[一二][〇零一二三四五六七八九]{3}(?=年)")
_CHINESE_DIGITS = str.maketrans("〇零一二三四五六七八九", "00123456789")
_BARE_YEAR = re.compile(rf"(?<![0-9A-Za-z.,/$€£¥%#§_+-])({YEAR})(?![0-9A-Za-z/%_°€£¥+]|[.,][0-9]|-[0-9]|[\u4e00-\u9fff])")
_YEARLESS = re.compile(
    r"(?=[0-9]|(?<![A-Za-z])(?:ja|fe|ma|ap|ju|au|se|oc|no|de))"
    rf"(?:\b(?:{DAY}(?:st|nd|rd|th)? (?:of )?{MONTH}|{MONTH} {DAY}(?:st|nd|rd|th)?)(?![a-z0-9,]{{0,8}}[0-9a-z])"
    rf"|(?<![0-9])(?:(?:1[0-2]|0?[1-9]) ?月(?:份|{DAY} ?[日号])?|{DAY} ?[日号](?![元码])|[1-9]0 ?年代)"
    r"|(?<![0-9:])[0-2]?[0-9]:[0-5][0-9](?::[0-5][0-9])?(?![0-9:])|\b[1-9]0s\b)",
    re.IGNORECASE,
)
_YEAR_LEAD = re.compile(
    r"(?:\b(?:in|since|by|until|till|from|during|of|before|after|through|for|to|around|circa|c\.|year|and|or|between"
    r"|late|early|mid|fiscal"
    rf"|fy|ad|ce|the|this|winter|{MONTH})|[(\[,;:/-]|(?:于|在|自|从|到|至|截至)) ?$",
    re.IGNORECASE,
)
_FIRM_LEAD = re.compile(r"(?:\b(?:in|since|during|circa|year|fy|the|before|after|until)|[(\[]) ?$", re.IGNORECASE)
_COUNTED_NEXT = re.compile(
    r" (?:[a-z]+ )?(?:[a-z]{2,}s\b(?<!ss)|people|men|women|children|percent|per cent|million|billion|thousand|km|kg|m"
    r"|mm|MW|GW|kWh|tonnes)"
)
_BEFORE_OR_AFTER = 24


def find_dates(text: str) -> list[DateMention]:
    """Every date or period with a year in `text`, in order, without overlaps; offsets are into `text`."""
    folded = _CHINESE_YEAR.sub(lambda match: match[0].translate(_CHINESE_DIGITS), fold_width(text))
    found: list[DateMention] = []
    position = 0
    while match := _PATTERN.search(folded, position):
        period = RULES[int((match.lastgroup or "rule0")[4:])][1](match)
        position = match.start() + 1
        if period is not None:
            position = match.end()
            found.append(_mention(text, match, period))
    rest = blank_out(folded, [(mention.start, mention.end) for mention in found], " ")
    for match in _BARE_YEAR.finditer(rest):
        period = years(int(match[1]), int(match[1]), "year")
        if period is not None and _is_year(rest, *match.span()):
            found.append(_mention(text, match, period))
    return sorted(found, key=lambda mention: mention.start)


def _mention(text: str, match: re.Match[str], period: Period) -> DateMention:
    start, end = match.span()
    return DateMention(start, end, text[start:end], *period)


def _is_year(folded: str, start: int, end: int) -> bool:
    """Whether four bare digits are a year: by what stands before them, and by no counted noun after them."""
    before = folded[max(0, start - _BEFORE_OR_AFTER) : start]
    after = folded[end : end + _BEFORE_OR_AFTER]
    year = int(folded[start:end])
    if _COUNTED_NEXT.match(after) and not _FIRM_LEAD.search(before):
        return False
    return 1900 <= year <= 2099 or _YEAR_LEAD.search(before) is not None


def yearless_spans(text: str) -> list[tuple[int, int]]:
    """Where days, months, clock times and short decades stand without a year."""
    return [match.span() for match in _YEARLESS.finditer(fold_width(text))]


def compare_dates(a: DateMention, b: DateMention) -> Comparison:
    """How the period of `a` lies to that of `b`: "inside" means that `b` covers all of `a`."""
    if (a.first, a.last) == (b.first, b.last):
        return "same"
    if a.last < b.first or b.last < a.first:
        return "disjoint"
    if b.first <= a.first and a.last <= b.last:
        return "inside"
    return "contains" if a.first <= b.first and b.last <= a.last else "overlaps"


def overlapping(a: Iterable[DateMention], b: Iterable[DateMention]) -> bool:
    """Whether any period of `a` shares a day with any period of `b`."""
    others = list(b)
    return any(compare_dates(one, other) != "disjoint" for one in a for other in others)
