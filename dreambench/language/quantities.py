"""Amounts in English and Chinese text: value, written precision, unit, bounds, ranges and rates.

A first pass hides digits that are no amounts (years, links, citation markers, section and law numbers, versions); a second
finds numerals; a third looks a few characters to the left and right of each for sign, currency, scale, unit and
approximation. Every look is bounded, so the time is linear in the text.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from dreambench.language import amounts
from dreambench.language.amounts import Bound, Kind, Numeral, Quantity
from dreambench.language.comparison import Verdict, same_quantity
from dreambench.language.dates import find_dates, yearless_spans
from dreambench.language.readers import numerals, read_digits
from dreambench.language.text import Language, alternation, blank_out, fold_width, guess_language
from dreambench.language.units import (
    CHINESE_SCALES,
    GLUED_SCALES,
    MONEY_SCALES,
    SCALES,
    Unit,
    currency,
    currency_signs,
    unit_spellings,
)

__all__ = ["Bound", "Kind", "Quantity", "Verdict", "find_quantities", "same_quantity"]

_LEFT = 24
_KINDS: dict[str, Kind] = {"percent": "percent", "percentage_points": "percentage_points", "multiple": "multiple"}


@cache
def _unit_pattern() -> re.Pattern[str]:
    any_case, exact = unit_spellings()
    latin = [word for word in any_case if word[-1].isascii() and word[-1].isalnum()]
    other = [word for word in any_case if word not in latin]
    latin_exact = [word for word in exact if word[-1].isascii() and word[-1].isalnum()]
    other_exact = [word for word in exact if word not in latin_exact]
    return re.compile(
        rf"[ -]?(?:(?P<exact>(?:{alternation(latin_exact)})(?![A-Za-z0-9])|(?:{alternation(other_exact)}))"
        rf"|(?P<loose>(?i:(?:{alternation(latin)})(?![A-Za-z0-9])|(?:{alternation(other)}))))"
    )


_SCALE = re.compile(rf"[ -]?(?P<word>(?i:{alternation(SCALES)}))(?![A-Za-z])|(?P<glued>[kKMBTb])(?![A-Za-z0-9])")
_MONEY_SCALE = re.compile(r" ?(?P<glued>[kKmMbBtT])(?![A-Za-z0-9])")


def find_quantities(text: str, language: Language | None = None) -> list[Quantity]:
    """Every amount in `text`, in order, without overlaps; `language` settles what "¥" is (guessed when None)."""
    folded = fold_width(text)
    hidden = _hide(folded, text)
    chinese = (language or guess_language(text)) == "zh"
    found: list[Quantity] = []
    pending: Quantity | None = None
    for numeral in numerals(hidden):
        quantity = _read(hidden, text, numeral, chinese)
        if quantity is None or (pending is not None and quantity.start < pending.end):
            continue
        joined = _join(hidden, text, pending, quantity) if pending is not None else None
        if joined is None and pending is not None:
            found.append(pending)
        pending = joined or quantity
    if pending is not None:
        found.append(pending)
    return found


def _hide(folded: str, text: str) -> str:
    spans = [(mention.start, mention.end) for mention in find_dates(text)]
    spans += yearless_spans(text)
    spans += [match.span() for match in amounts.NOT_AMOUNTS.finditer(folded)]
    spans += [match.span() for match in amounts.NAMED_NUMBER.finditer(folded) if _is_label(match)]
    return blank_out(folded, spans)


def _is_label(match: re.Match[str]) -> bool:
    """Whether "Section 4", "GPT-4" or "B12" is a label; "US5" and "cost 45" are amounts."""
    if match["gap"] in (None, "-"):
        if match[0].lower() in unit_spellings()[0]:  # km2
            return False
        return match["name"] not in currency_signs()
    return match["name"].lower() in amounts.LABELS


def _read(hidden: str, text: str, numeral: Numeral, chinese: bool) -> Quantity | None:
    """The numeral with what stands around it, or None when it counts nothing."""
    start, end = numeral.start, numeral.end
    money = amounts.CURRENCY_BEFORE.search(hidden[max(0, start - 5) : start]) if numeral.form in ("digits", "words") else None
    unit = numeral.unit or (_money(money[0], chinese) if money else None)
    start -= len(money[0]) if money else 0
    numeral = _margin(hidden, numeral, end)
    value, step, end, scaled = _scale(hidden, numeral, end, money is not None)
    if numeral.margin:
        end = max(end, numeral.end)
    unit, end = _unit(hidden, end, unit) if numeral.form not in ("ordinal", "multiple", "fraction") else (unit, end)
    if _counts_nothing(hidden, numeral, unit, scaled, end, money is not None):
        return None
    if sign := amounts.SIGN.search(hidden[max(0, start - 10) : start]):
        start -= len(sign[0])
        value = -value if sign[0] != "+" else value
    margin = numeral.margin * (value / numeral.value if scaled and numeral.value else 1.0)
    bound, start, end = _bound(hidden, start, end)
    per, end = _per(hidden, start, end) if numeral.form not in ("ordinal", "multiple") else ("", end)
    if bound == "exact":
        bound, start, end = _bound(hidden, start, end)
    kind: Kind = "ordinal" if numeral.form == "ordinal" else "multiple" if numeral.form == "multiple" else _kind(unit)
    if kind == "multiple":
        unit = unit_spellings()[0]["times"]
    margin = abs(margin)
    return Quantity(
        start, end, text[start:end], value, value - margin, value + margin, step, kind,
        unit.name if unit else "", unit.dimension if unit else "", unit.factor if unit else 1.0, bound, per,
    )  # fmt: skip


def _kind(unit: Unit | None) -> Kind:
    if unit is None:
        return "plain"
    return "money" if unit.dimension.startswith("money:") else _KINDS.get(unit.dimension, "measure")


def _money(sign: str, chinese: bool) -> Unit:
    sign = sign.strip()
    if sign == "人民币" or (sign == "¥" and chinese):
        return currency("CNY")
    return currency(currency_signs()[sign])


def _margin(hidden: str, numeral: Numeral, end: int) -> Numeral:
    match = amounts.PLUS_MINUS.match(hidden, end)
    if numeral.form != "digits" or match is None:
        return numeral
    margin = read_digits(match.start("margin"), match.end(), match["margin"])
    return replace(numeral, end=match.end(), margin=margin.value) if margin else numeral


def _scale(hidden: str, numeral: Numeral, end: int, money: bool) -> tuple[float, float, int, bool]:
    value, step, end = numeral.value, numeral.step, max(end, numeral.end)
    if numeral.form in ("ordinal", "multiple", "fraction"):
        return value, step, end, False
    scaled = False
    for _ in range(2):  # "two hundred million", "3 hundred thousand"
        factor, after = _scale_at(hidden, numeral, end, money and not scaled)
        if factor is None:
            break
        value, step, end, scaled = value * factor, step * factor, after, True
    if scaled and numeral.form == "digits":
        value, step, end = _compound(hidden, value, step, end)
    return value, step, end, scaled


def _scale_at(hidden: str, numeral: Numeral, end: int, money: bool) -> tuple[float | None, int]:
    if money and (match := _MONEY_SCALE.match(hidden, end)):
        return MONEY_SCALES[match["glued"]], match.end()
    if match := _SCALE.match(hidden, end):
        if match["word"]:
            return SCALES[match["word"].lower()], match.end()
        return (GLUED_SCALES[match["glued"]], match.end()) if numeral.form == "digits" else (None, end)
    if numeral.form == "digits" and (match := amounts.CHINESE_SCALE.match(hidden, end)):
        return CHINESE_SCALES[match[1]], match.end()
    return None, end


_COMPOUND = re.compile("([0-9]{1,4})(万|千)(?![0-9])")


def _compound(hidden: str, value: float, step: float, end: int) -> tuple[float, float, int]:
    """14亿5000万: a smaller scale right behind a larger one is added."""
    if hidden[end - 1] in "亿万" and (match := _COMPOUND.match(hidden, end)) and CHINESE_SCALES[match[2]] < step * 10:
        factor = CHINESE_SCALES[match[2]]
        return value + int(match[1]) * factor, factor, match.end()
    return value, step, end


def _unit(hidden: str, end: int, unit: Unit | None) -> tuple[Unit | None, int]:
    if more := amounts.CHINESE_MORE.match(hidden, end):
        end = more.end()
    match = _unit_pattern().match(hidden, end)
    if match is None:
        return unit, end
    any_case, exact = unit_spellings()
    found = exact[match["exact"]] if match["exact"] else any_case[re.sub(r"-", " ", match["loose"].lower())]
    if unit is not None and not (unit.dimension.startswith("money:") and found.dimension == unit.dimension):
        return unit, end
    return (unit or found), match.end()


_ORDINAL_ADVERB = re.compile(r" ?(?:,|and foremost|of all|time\b|times\b|thing|step)|party|-party")


def _counts_nothing(hidden: str, numeral: Numeral, unit: Unit | None, scaled: bool, end: int, money: bool) -> bool:
    if numeral.form == "words":
        return unit is None and not scaled and numeral.value == 1
    if hidden[end : end + 1] == "_":
        return True
    if numeral.form == "chinese" and unit is not None and unit.dimension == "money:CNY" and numeral.end - numeral.start == 1:
        return hidden[end - 1] == "元"  # 二元结构 has two parts, not two yuan
    if numeral.form == "chinese":
        return unit is None and _idle_chinese(hidden, numeral, end)
    if numeral.form == "ordinal":
        return _ORDINAL_ADVERB.match(hidden, end) is not None or hidden[numeral.start + 1 : end + 1] in ("三方", "三者")
    if numeral.form != "digits" or unit is not None or scaled or money:
        return False
    if hidden.startswith("per ", max(0, numeral.start - 4)):
        return True
    integer = numeral.step == 1 and numeral.end - numeral.start <= 4
    named = integer and amounts.NAME_LABEL.search(hidden[max(0, numeral.start - _LEFT) : numeral.start])
    return bool(named) and amounts.COUNTS_SOMETHING.match(hidden, end) is None


_CHINESE_WORDS = re.compile(
    "十分|万一|千万(?=别|不)|百姓|一些|一般|一定|一样|一直|一起|一旦|一切|一方面|一致|一带|万物|千古|百科|三星|四川|五角|九寨|两岸|两会|两国"
)
_CHINESE_TAIL = re.compile("[统唯之同万单专第某每另任这那哪几]$")


def _idle_chinese(hidden: str, numeral: Numeral, end: int) -> bool:
    """Whether a bare Chinese numeral is part of a word (统一, 十分) rather than an amount."""
    start = numeral.start
    if _CHINESE_WORDS.match(hidden, start) or _CHINESE_TAIL.search(hidden[max(0, start - 1) : start]):
        return True
    if numeral.value in (0, 1):
        return True
    long = numeral.end - start > 1 and any(char in "十百千万亿" for char in hidden[start + 1 : numeral.end])
    return not long and amounts.COUNTER.match(hidden, end) is None


def _bound(hidden: str, start: int, end: int) -> tuple[Bound, int, int]:
    if hidden[end - 1] in "多余" or (hidden[end - 2 : end - 1] in ("多", "余") and hidden[end - 1] in "万亿千百"):
        return "more_than", start, end
    if match := amounts.TRAIL.match(hidden, end):
        return _bound_name(match), start, match.end()
    if match := amounts.LEAD.search(hidden[max(0, start - _LEFT) : start]):
        return _bound_name(match), start - len(match[0]), end
    return "exact", start, end


def _bound_name(match: re.Match[str]) -> Bound:
    names: tuple[Bound, ...] = ("about", "more_than", "at_least", "less_than", "at_most")
    groups = match.groupdict()
    return next(name for name in names if groups.get(name))


def _per(hidden: str, start: int, end: int) -> tuple[str, int]:
    if match := amounts.PER.match(hidden, end):
        name = (match["en"] or match["adverb"] or match["zh"]).lower()
        return amounts.PER_NAMES.get(name, name), match.end()
    # "4.1 tonnes of wheat per hectare": the rate belongs to the amount, the words between do not.
    noun = amounts.PER_AFTER_NOUN.match(hidden, end)
    if noun and (match := amounts.PER.match(hidden, noun.end())) and match["en"]:
        name = match["en"].lower()
        return amounts.PER_NAMES.get(name, name), end
    if before := amounts.PER_BEFORE.search(hidden[max(0, start - 14) : start]):
        return ("person" if before["head"] else amounts.PER_NAMES.get(before["zh"] or "年", "year")), end
    return "", end


def _join(hidden: str, text: str, first: Quantity, second: Quantity) -> Quantity | None:
    """ "10-15 %", "$3 to $5 million", "between 3 and 5": one quantity, or None when these are two."""
    if first.is_range or second.is_range or "ordinal" in (first.kind, second.kind):
        return None
    if first.kind not in ("plain", second.kind) or (first.unit and first.unit != second.unit) or second.bound != "exact":
        return None
    gap = hidden[first.end : second.start]
    before = hidden[max(0, first.start - 14) : first.start]
    dash = amounts.TO.fullmatch(gap) and not (gap.strip() != "-" and amounts.FROM.search(before))
    between = amounts.AND.fullmatch(gap) and amounts.BETWEEN.search(before)
    if not dash and not between:
        return None
    low, scale = first.value, 1.0
    if not first.unit or first.value < second.step:
        scale = _shared_scale(hidden, first, second)
    low *= scale
    high = second.value if second.value >= 0 or gap.strip() != "-" else -second.value
    if low >= high:
        return None
    step = max(first.step * scale, second.step)
    return replace(
        second, start=first.start, text=text[first.start : second.end], value=(low + high) / 2, low=low, high=high, step=step,
        bound=first.bound,
    )  # fmt: skip


def _shared_scale(hidden: str, first: Quantity, second: Quantity) -> float:
    """The scale word of the second number, when the first has none: "3 to 5 million"."""
    written = re.search(amounts.DIGITS, hidden[second.start : second.end])
    if written is None or re.search(r"[A-Za-z万亿千百]", hidden[first.start : first.end].strip("$€£¥USCAHKNT")):
        return 1.0
    bare = float(written[0].replace(",", "").replace(" ", ""))
    return abs(second.value) / bare if bare else 1.0
