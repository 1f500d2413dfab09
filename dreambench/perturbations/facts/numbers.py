"""Wrong numbers: another value in the same notation (commas, decimals, unit, currency), clearly away from the true one."""

from __future__ import annotations

import re
from functools import lru_cache, partial
from random import Random

from dreambench.language.amounts import Quantity
from dreambench.language.quantities import find_quantities
from dreambench.perturbations.facts.target import Target, same_case
from dreambench.perturbations.prose import Line, View

_DIGITS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,])|(?<![\d.,])\d+(?:\.\d+)?(?![\d])")
_WORDS = "two three four five six seven eight nine ten eleven twelve".split()
_WORD = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b", re.IGNORECASE)
# Numbers that are parts of names and methods: a wrong one would read as a slip of the pen, not as a claim.
_NAME_BEFORE = re.compile(
    r"(?:[A-Za-z]-|[A-Z]\w*[ -]|[#№/^_=<>≈~°]|\d[–—~～-]|\b(?:phase|type|level|stage|step|part|figure|table|section|chapter"
    r"|version|model|class"
    r"|category|grade|tier|q|top|p|n|r|web|industry|number|no\.)\s?|第|表|图|阶段|级|级别|等级|版|型|类|前)$",
    re.IGNORECASE,
)
_NAME_AFTER = re.compile(
    r"^(?:[A-Za-z0-9]*[A-Z]|\s?[–—~～-]\s?[$€£¥]?\d|[:/_^×x*=]|-[A-Za-z]|\.\d|D\b|号|版|代|级|型|类|期|章|节|条|G\b|/\d|°)"
)


@lru_cache(maxsize=32768)
def quantities(text: str) -> tuple[Quantity, ...]:
    """The amounts of a sentence."""
    return tuple(find_quantities(text)) if re.search(r"\d|\b[A-Za-z]{3,}\b", text) else ()


def targets(line: Line, view: View) -> list[Target]:
    """Amounts whose number is written in digits, or in a word from two to twelve."""
    found: list[Target] = []
    for quantity in quantities(line.text):
        start, end = quantity.start, quantity.end
        if quantity.kind in ("ordinal", "multiple") or not line.is_free(start, end) or _is_name(line.text, quantity):
            continue
        inside = list(_DIGITS.finditer(line.text, start, end))
        if inside and all(float(match[0].replace(",", "")) != 0 for match in inside) and len(inside) <= 2:
            found.append(Target(start, end, partial(_scaled, line.text, quantity, tuple(m.span() for m in inside))))
        elif not inside and (word := _WORD.search(line.text, start, end)) and word.start() == start:
            found.append(Target(word.start(), word.end(), partial(_other_word, word[0])))
    return found


_YEAR = re.compile(r"(?:19|20)\d\d")


def _is_name(text: str, quantity: Quantity) -> bool:
    if quantity.kind == "plain" and _YEAR.fullmatch(quantity.text.strip()):
        return True  # 2018后: a year that is not written as a date
    if quantity.kind == "plain" and quantity.text.strip().startswith(("+", "-")):
        return True
    if quantity.kind != "plain":
        return bool(re.search(r"[A-Za-z]-$|[/^_]$|\d[–—~～-]$", text[max(0, quantity.start - 2) : quantity.start]))
    return bool(
        _NAME_BEFORE.search(text[max(0, quantity.start - 14) : quantity.start])
        or _NAME_AFTER.match(text[quantity.end : quantity.end + 6])
    )


def _other_word(word: str, rng: Random) -> str:
    at = _WORDS.index(word.lower())
    near = [other for other in range(max(0, at - 3), min(len(_WORDS), at + 4)) if other != at]
    return same_case(word, _WORDS[rng.choice(near)])


def _scaled(text: str, quantity: Quantity, spans: tuple[tuple[int, int], ...], rng: Random) -> str:
    """The quantity with all its numbers (two in a range) scaled by one factor, each in its own notation."""
    percent = quantity.kind in ("percent", "percentage_points")
    values = [float(text[start:end].replace(",", "")) for start, end in spans]
    factor = _factor(max(values), percent, rng)
    pieces, position = [], quantity.start
    floor, ceiling = 0.0, float("inf")
    if percent and max(values) < 100:
        ceiling = 9.0 if "成" in quantity.text else 99.0
    for start, end in spans:
        written = text[start:end]
        new = _write(written, factor, at_least=floor, at_most=ceiling)
        floor = float(new.replace(",", "")) if len(spans) > 1 else 0.0
        pieces += [text[position:start], new]
        position = end
    return "".join([*pieces, text[position : quantity.end]])


def _factor(highest: float, percent: bool, rng: Random) -> float:
    up = rng.uniform(1.35, 2.4)
    down = rng.uniform(0.35, 0.7)
    if percent and highest <= 100:
        if highest * 1.3 > 97:
            return down
        up = min(up, 97 / highest)
    if highest <= 2:
        return up
    return up if rng.random() < 0.5 else down


def _write(written: str, factor: float, at_least: float, at_most: float = float("inf")) -> str:
    """`written` times `factor`, with as many decimals and trailing zeros as it had; never its old value, 0 or 1."""
    decimals = len(written.partition(".")[2])
    digits = written.replace(",", "")
    value = float(digits)
    if decimals:
        new = round(value * factor, decimals)
        new = new if f"{new:.{decimals}f}" != f"{value:.{decimals}f}" else value + 2 * 10**-decimals
        new = max(new, at_least + 10**-decimals)
        if new == int(new):
            new += 10**-decimals * (3 if decimals == 1 else 7)
        return _grouped(f"{new:.{decimals}f}", "," in written)
    zeros = len(digits) - len(digits.rstrip("0"))
    step = 10 ** max(0, min(zeros, len(digits) - 1) - (1 if len(digits) - zeros == 1 and zeros > 1 else 0))
    step = step if zeros else (5 if digits.endswith("5") and value > 20 else 1)
    units: float = round(value * factor / step) * step
    if units == value:
        units = value + step * (1 if factor > 1 or value <= 2 * step else -1)
    units = max(units, at_least + step, 2 if value < 20 else step)
    if units == value:
        units += step
    while units > at_most and units > step:
        units -= step if units - step != value else 2 * step
    return _grouped(str(int(units)), "," in written)


def _grouped(digits: str, commas: bool) -> str:
    if not commas:
        return digits
    whole, dot, rest = digits.partition(".")
    return f"{int(whole):,}{dot}{rest}"
