"""How dates and periods are written: one pattern and one reader a form, tried in this order at each position."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from datetime import date
from typing import Literal

Precision = Literal["day", "month", "quarter", "half", "part", "year", "range", "decade", "century"]
_MONTH_NAMES = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
MONTH = (
    r"(?:jan(?:uary|\.)?|feb(?:ruary|\.)?|mar(?:ch|\.)?|apr(?:il|\.)?|may|june?\.?|july?\.?|aug(?:ust|\.)?|sept?(?:ember|\.)?"
    r"|oct(?:ober|\.)?|nov(?:ember|\.)?|dec(?:ember|\.)?)"
)
YEAR = r"(?:1[0-9]{3}|20[0-9]{2}|21[0-9]{2})"
DAY = r"(?:3[01]|[12][0-9]|0?[1-9])"
_EDGE = r"(?![0-9]|[.,][0-9])"
_PART_WORDS = {
    "early": (1, 4),
    "mid": (5, 8),
    "late": (9, 12),
    "beginning": (1, 4),
    "start": (1, 4),
    "middle": (5, 8),
    "end": (9, 12),
}
_SEASONS = {"spring": (3, 5), "summer": (6, 8), "autumn": (9, 11), "fall": (9, 11)}
_NUMBER_WORDS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_CHINESE_NUMBERS = {"一": 1, "二": 2, "三": 3, "四": 4, "1": 1, "2": 2, "3": 3, "4": 4, "上": 1, "下": 2}

Period = tuple[date, date, Precision]


def _month_number(name: str) -> int:
    return _MONTH_NAMES.index(name[:3].lower()) + 1


def _day(year: int, month: int, day: int) -> Period | None:
    try:
        found = date(year, month, day)
    except ValueError:
        return None
    return found, found, "day"


def _months(year: int, first: int, last: int, precision: Precision) -> Period | None:
    if not (1 <= first <= last <= 12 and year >= 1):
        return None
    return date(year, first, 1), date(year, last, calendar.monthrange(year, last)[1]), precision


def years(first: int, last: int, precision: Precision) -> Period | None:
    """From the first day of one year to the last of another; None for years that are no dates or in the wrong order."""
    return (date(first, 1, 1), date(last, 12, 31), precision) if 1 <= first <= last <= 9999 else None


def _year_range(first: str, last: str) -> Period | None:
    end = int(last) if len(last) == 4 else int(first[: 4 - len(last)] + last)
    return years(int(first), end, "range")


def _month_or_range(year: str, tail: str) -> Period | None:
    # 2010-12 is three years, 2024-09 and 2012-12 are months.
    return _year_range(year, tail) if tail[0] == "1" and tail > year[2:] else _months(int(year), int(tail), int(tail), "month")


def _span(first: Period | None, last: Period | None) -> Period | None:
    return (first[0], last[1], "range") if first and last and first[0] <= last[1] else None


def _slashed(first: int, second: int, year: int) -> Period | None:
    # 03/04/2024 is two different days on two continents; only the unambiguous forms are read.
    if first > 12:
        return _day(year, second, first)
    return _day(year, first, second) if second > 12 or first == second else None


def _century(number: int) -> Period | None:
    return years((number - 1) * 100 + 1, number * 100, "century") if 1 <= number <= 30 else None


def _ordinal_part(ordinal: str, unit: str, year: int) -> Period | None:
    number = _NUMBER_WORDS[ordinal]
    if unit == "half":
        return _months(year, 6 * number - 5, 6 * number, "half")
    return _months(year, 3 * number - 2, 3 * number, "quarter")


def _part(word: str, year: int, decade: bool) -> Period | None:
    if not decade:
        return _months(year, *_PART_WORDS[word], "part")
    first = year + {"early": 0, "mid": 3, "late": 6}.get(word, 0)
    return years(first, min(first + 3, year + 9), "part")


def _decade(year: int) -> Period | None:
    if year % 100 == 0:
        return years(year, year + 99, "century") if year < 2000 else years(year, year + 9, "decade")
    return years(year, year + 9, "decade") if year % 10 == 0 else None


Reader = Callable[[re.Match[str]], Period | None]
RULES: list[tuple[str, Reader]] = [
    (  # 13-15 September 2024
        rf"(?P<a1>{DAY})(?:st|nd|rd|th)? ?(?:-|to|and) ?(?P<a2>{DAY})(?:st|nd|rd|th)? (?:of )?(?P<a3>{MONTH}),?"
        rf" (?P<a4>{YEAR}){_EDGE}",
        lambda m: _span(
            _day(int(m["a4"]), _month_number(m["a3"]), int(m["a1"])), _day(int(m["a4"]), _month_number(m["a3"]), int(m["a2"]))
        ),
    ),
    (
        rf"(?P<b1>{DAY})(?:st|nd|rd|th)? (?:of )?(?P<b2>{MONTH}),? (?P<b3>{YEAR}){_EDGE}",
        lambda m: _day(int(m["b3"]), _month_number(m["b2"]), int(m["b1"])),
    ),
    (
        rf"(?P<c1>{MONTH}) (?P<c2>{DAY})(?:st|nd|rd|th)?,? (?P<c3>{YEAR}){_EDGE}",
        lambda m: _day(int(m["c3"]), _month_number(m["c1"]), int(m["c2"])),
    ),
    (
        rf"(?P<d1>{MONTH}) ?(?:-|to) ?(?P<d2>{MONTH}),? (?P<d3>{YEAR}){_EDGE}",
        lambda m: _months(int(m["d3"]), _month_number(m["d1"]), _month_number(m["d2"]), "range"),
    ),
    (
        rf"(?:(?:early|mid|late)[ -])?(?P<e1>{MONTH})(?:,| of)? (?P<e2>{YEAR}){_EDGE}",
        lambda m: _months(int(m["e2"]), _month_number(m["e1"]), _month_number(m["e1"]), "month"),
    ),
    (
        rf"(?P<f1>{YEAR})(?P<f0>[-/.])(?P<f2>1[0-2]|0?[1-9])(?P=f0)(?P<f3>{DAY})(?:T[0-9:]{{4,8}}Z?)?(?![0-9])",
        lambda m: _day(int(m["f1"]), int(m["f2"]), int(m["f3"])),
    ),
    (
        rf"(?P<g1>0?[1-9]|[12][0-9]|3[01])(?P<g0>[/.])(?P<g2>0?[1-9]|[12][0-9]|3[01])(?P=g0)(?P<g3>{YEAR})(?![0-9])",
        lambda m: _slashed(int(m["g1"]), int(m["g2"]), int(m["g3"])),
    ),
    (
        rf"(?P<h1>{YEAR}) ?年(?P<h2>1[0-2]|0?[1-9]) ?月(?P<h3>{DAY}) ?[日号]",
        lambda m: _day(int(m["h1"]), int(m["h2"]), int(m["h3"])),
    ),
    (
        rf"(?P<i1>{YEAR}) ?年?(?:-|至|到)(?P<i2>{YEAR}) ?年",
        lambda m: _year_range(m["i1"], m["i2"]),
    ),
    (
        rf"(?P<j1>{YEAR}) ?年 ?(?P<j2>1[0-2]|0?[1-9])(?:-|至|到)(?P<j3>1[0-2]|0?[1-9]) ?月",
        lambda m: _months(int(m["j1"]), int(m["j2"]), int(m["j3"]), "range"),
    ),
    (
        rf"(?P<k1>{YEAR}) ?年 ?(?P<k2>1[0-2]|0?[1-9]) ?月(?:份|[初中底上下]旬?)?",
        lambda m: _months(int(m["k1"]), int(m["k2"]), int(m["k2"]), "month"),
    ),
    (
        rf"(?P<l1>{YEAR}) ?年?第?(?P<l2>[一二三四1-4])季度",
        lambda m: _months(int(m["l1"]), 3 * _CHINESE_NUMBERS[m["l2"]] - 2, 3 * _CHINESE_NUMBERS[m["l2"]], "quarter"),
    ),
    (
        rf"(?P<n1>{YEAR}) ?年?(?P<n2>[上下])半年",
        lambda m: _months(int(m["n1"]), 6 * _CHINESE_NUMBERS[m["n2"]] - 5, 6 * _CHINESE_NUMBERS[m["n2"]], "half"),
    ),
    (
        rf"(?P<o1>{YEAR}) ?年(?P<o2>初|中期?|年中|底|末|春|夏|秋)",
        lambda m: _months(
            int(m["o1"]),
            *{"初": (1, 4), "底": (9, 12), "末": (9, 12), "春": (3, 5), "夏": (6, 8), "秋": (9, 11)}.get(m["o2"][0], (5, 8)),
            "part",
        ),
    ),
    (
        rf"(?P<p1>{YEAR}) ?年(?P<p2>代)?",
        lambda m: _decade(int(m["p1"])) if m["p2"] else years(int(m["p1"]), int(m["p1"]), "year"),
    ),
    (
        r"(?P<q1>[12]?[0-9]) ?世纪(?P<q2>[1-9])0 ?年代",
        lambda m: _decade((int(m["q1"]) - 1) * 100 + 10 * int(m["q2"])),
    ),
    (r"(?P<r1>[12]?[0-9]) ?世纪", lambda m: _century(int(m["r1"]))),
    (r"(?P<s1>[12]?[0-9])(?:st|nd|rd|th)[ -]century", lambda m: _century(int(m["s1"]))),
    (
        rf"Q(?P<t1>[1-4])(?:,| of|/)? ?(?P<t2>{YEAR}){_EDGE}",
        lambda m: _months(int(m["t2"]), 3 * int(m["t1"]) - 2, 3 * int(m["t1"]), "quarter"),
    ),
    (
        rf"(?P<u1>{YEAR})[ -]?Q(?P<u2>[1-4])(?![0-9])",
        lambda m: _months(int(m["u1"]), 3 * int(m["u2"]) - 2, 3 * int(m["u2"]), "quarter"),
    ),
    (
        rf"(?P<v1>first|second|third|fourth|1st|2nd|3rd|4th) (?P<v2>half|quarter) of (?:the )?(?P<v3>{YEAR}){_EDGE}",
        lambda m: _ordinal_part(m["v1"].lower(), m["v2"].lower(), int(m["v3"])),
    ),
    (
        rf"H(?P<w1>[12]) ?(?P<w2>{YEAR}){_EDGE}",
        lambda m: _months(int(m["w2"]), 6 * int(m["w1"]) - 5, 6 * int(m["w1"]), "half"),
    ),
    (
        rf"(?P<x1>early|mid|late|beginning of|start of|middle of|end of)[ -](?:the )?(?:year"
        rf" )?(?P<x2>{YEAR})(?P<x3>'?s)?{_EDGE}",
        lambda m: _part(m["x1"].lower().split()[0], int(m["x2"]), bool(m["x3"])),
    ),
    (
        rf"(?P<y1>spring|summer|autumn|fall) (?:of )?(?P<y2>{YEAR}){_EDGE}",
        lambda m: _months(int(m["y2"]), *_SEASONS[m["y1"].lower()], "part"),
    ),
    (rf"(?P<z1>{YEAR})'?s(?![a-z])", lambda m: _decade(int(m["z1"]))),
    (
        rf"(?P<A1>{YEAR}) ?[-/] ?(?P<A2>{YEAR}|1[3-9]|[2-9][0-9])(?![0-9/-]|[.,][0-9])",
        lambda m: _year_range(m["A1"], m["A2"]),
    ),
    (
        rf"(?:from|between) (?P<B1>{YEAR}) (?:to|and|until|through) (?P<B2>{YEAR}){_EDGE}",
        lambda m: _year_range(m["B1"], m["B2"]),
    ),
    (rf"(?P<C1>{YEAR}) (?:to|until|through) (?P<C2>{YEAR}){_EDGE}", lambda m: _year_range(m["C1"], m["C2"])),
    (rf"(?P<E1>{YEAR})-(?P<E2>0[1-9]|1[0-2])(?![0-9-/])", lambda m: _month_or_range(m["E1"], m["E2"])),
    (  # March 3-5, 2021
        rf"(?P<D1>{MONTH}) (?P<D2>{DAY}) ?(?:-|to) ?(?P<D3>{DAY}),? (?P<D4>{YEAR}){_EDGE}",
        lambda m: _span(
            _day(int(m["D4"]), _month_number(m["D1"]), int(m["D2"])), _day(int(m["D4"]), _month_number(m["D1"]), int(m["D3"]))
        ),
    ),
]  # fmt: skip

ANY_RULE = "|".join(f"(?P<rule{index}>{pattern})" for index, (pattern, _) in enumerate(RULES))
