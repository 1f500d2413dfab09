"""Reads a scoring rubric in Markdown: per-cell bands, accepted values, caps, deductions and automatic zeros.

A clause at a time. Bands that name no tier are those of a full mark. A cap, deduction or zero whose condition code cannot
see is kept as `other`: cells with one are left to a judge, never graded as if the condition did not exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dreambench.metrics.deepweb.cells import find_cells, sections
from dreambench.metrics.deepweb.model import Band, Condition, Dimension, Key, Modifier, Rule

_CLAUSE = re.compile(r"[;；。\n]|\.\s|\|")
_BAND = re.compile(
    r"(?:±|\+/-|\bwithin|误差(?:不超过|在)?)\s*(?P<sign>[$€£¥]|US\$|CNY\s|USD\s)?(?P<number>\d+(?:\.\d+)?)\s*"
    r"(?P<unit>pp\b|ppt\b|percentage points?|points?\b|个?百分点|%|[KMBkmb]\b|bn\b|million\b|billion\b|亿|万)?",
    re.IGNORECASE,
)
_HALF = re.compile(r"(?<![\d.])0?\.5(?!\d)|\bhalf\b|半分", re.IGNORECASE)
_QUARTER = re.compile(r"(?<![\d.])0?\.25(?!\d)|\bquarter\b", re.IGNORECASE)
_CAP = re.compile(r"\bcap(?:ped|s)?\b|\bat most\b|\bmaximum\b|\bmax\b|封顶|上限|最高", re.IGNORECASE)
_DEDUCT = re.compile(
    r"(?:(?<![\d./+])[-−–]\s?(?P<signed>0?\.\d+|1)(?!\d)(?!\s*(?:%|pp|x\b|个?百分点))|\bdeduct\w*\s+(?P<worded>0?\.\d+|1)|扣\s?(?P<zh>0?\.\d+|1))",
    re.I,
)
_ZERO = re.compile(
    r"\bauto(?:matic(?:ally)?)?[- ]?(?:zero|0)\b|\bscores?\s+(?:0|zero)\b(?!\.)|\bzero if\b|=\s?0\b(?!\.)|直接0分|零分|得0分",
    re.I,
)
_WITHOUT = r"\b(?:no|without|missing|lacks?)\s+(?:(?:a|any|stated|shown)\s+)*"
_SPELLINGS: tuple[tuple[Condition, str], ...] = (
    ("no_citation", rf"{_WITHOUT}(?:citation|source|url|link|reference)s?\b|\buncited\b|无引用|无来源|没有来源|未注明来源"),
    ("no_method", rf"{_WITHOUT}method\w*|无方法|未说明方法"),
    ("no_derivation", rf"{_WITHOUT}(?:derivation|calculation|computation|working|formula)|无推导|没有推导|无计算"),
    ("no_reason", rf"{_WITHOUT}(?:reason|explanation)|无理由|没有理由"),
    ("precise_value", r"\b(?:any\s+)?(?:precise|exact|point)\s+(?:value|number|figure|estimate)|精确(?:值|数)"),
    (
        "abstained",
        r"\b(?:says?|saying|answers?|states?)\b.{0,20}\b(?:unknown|not available|undisclosed|n/?a)\b|\babstain\w*|回答未知",
    ),
)
_CONDITIONS = [(name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _SPELLINGS]
# What the table of tiers says of every cell anyway; a rubric that repeats it adds no condition.
_USUAL_ZERO = re.compile(
    r"\b(?:blank|empty|unanswered|(?:no|missing) answer|otherwise|else|wrong|incorrect|outside)\b|未作答|空白|错误|否则",
    re.I,
)
_USUAL_CAP = re.compile(r"\b(?:direction|magnitude|tolerance|order)\b|方向|数量级", re.I)
_FIGURE = r"[$€£¥]?\d[\d.,]*\s?[kKmMbB%亿万]*"
_ACCEPTED = re.compile(
    rf"(?P<value>{_FIGURE}(?:\s?[-–~至]\s?{_FIGURE})?)\s*(?:disclosed|accepted|also accepted|acceptable|可接受)"
)
_PARTS = re.compile(r"\b(?:multi-?part|(?:1/(?P<share>[2-9]))\s+each|(?P<number>two|three|four|[2-9]) parts)\b", re.IGNORECASE)
_NUMBERS = {"two": 2, "three": 3, "four": 4}


def read_rules(rubric: str, dimensions: tuple[Dimension, ...], entities: tuple[str, ...]) -> dict[Key, Rule]:
    """A rule for every cell: the rubric's general words, its dimension's and the cell's own, in this order."""
    general, by_dimension = sections(rubric, dimensions)
    own = find_cells(rubric, dimensions, entities)
    rules = {}
    for dimension in dimensions:
        shared = by_dimension.get(dimension.id, "")
        for entity in entities:
            cell = own.get((dimension.id, entity))
            words = cell.text if cell else shared
            rules[dimension.id, entity] = read_rule(words, general)
    return rules


def read_rule(words: str, general: str = "") -> Rule:
    """The rule that `words` state; modifiers of the `general` part apply as well, its bands only where `words` have none."""
    full, half = _bands(words)
    if full is None and half is None:
        full, half = _bands(general)
    modifiers = tuple(dict.fromkeys([*_modifiers(general), *_modifiers(words)]))
    accepted = tuple(dict.fromkeys(match["value"].strip() for match in _ACCEPTED.finditer(words)))
    return Rule(full=full, half=half, accepted=accepted, modifiers=modifiers, parts=_parts(words), text=words.strip())


def _clauses(text: str) -> Iterator[str]:
    for clause in _CLAUSE.split(text):
        if clause.strip():
            yield clause.strip()


def _bands(text: str) -> tuple[Band | None, Band | None]:
    full = half = None
    for clause in _clauses(text):
        for found in _BAND.finditer(clause):
            band = _band(found)
            # The tier that stands nearest before or after the band in its clause; one clause may name both.
            rest = clause[found.end() :]
            following = _BAND.search(rest)
            near = rest[: following.start()] if following else rest
            lead = clause[: found.start()]
            halved = bool(_HALF.search(near)) or (bool(_HALF.match(lead.strip())) and not re.search(r"\b1(?:\.0)?\b", near))
            if band is None or _QUARTER.search(near):
                continue
            if halved:
                half = half or band
            else:
                full = full or band
    return full, half


def _band(found: re.Match[str]) -> Band | None:
    number, unit = float(found["number"]), (found["unit"] or "").lower()
    if found["sign"] or unit in ("k", "m", "b", "bn", "million", "billion", "亿", "万"):
        return Band(absolute=f"{(found['sign'] or '').strip()}{found['number']}{found['unit'] or ''}")
    if unit == "%":
        return Band(relative=number / 100)
    if unit:
        return Band(points=number)
    return None


def _modifiers(text: str) -> Iterator[Modifier]:
    for clause in _clauses(text):
        when = next((name for name, pattern in _CONDITIONS if pattern.search(clause)), None)
        if deduct := _DEDUCT.search(clause):
            cost = float(deduct["signed"] or deduct["worded"] or deduct["zh"])
            yield Modifier(action="deduct", when=when or "other", amount=cost, text=clause)
        elif _CAP.search(clause) and (most := _tier(clause)) is not None:
            if when or not _USUAL_CAP.search(clause):
                yield Modifier(action="cap", when=when or "other", amount=most, text=clause)
        elif _ZERO.search(clause) and (when or not _USUAL_ZERO.search(clause)):
            yield Modifier(action="zero", when=when or "other", text=clause)


def _tier(clause: str) -> float | None:
    if _QUARTER.search(clause):
        return 0.25
    return 0.5 if _HALF.search(clause) else None


def _parts(text: str) -> int:
    found = _PARTS.search(text)
    if not found:
        return 1
    return int(found["share"] or _NUMBERS.get((found["number"] or "").lower(), found["number"] or 2))
