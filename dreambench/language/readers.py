"""From the written form of a numeral to its value and precision: digits, words, Chinese numerals, fractions, ordinals."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dreambench.language import amounts
from dreambench.language.amounts import Numeral
from dreambench.language.numerals import DENOMINATORS, ORDINALS, chinese_number, english_number
from dreambench.language.units import unit_spellings

_MAX_DIGITS = 18
_TIMES = {"twice": 2, "double": 2, "twofold": 2, "thrice": 3, "triple": 3, "tripl": 3, "threefold": 3, "quadrupl": 4,
          "fourfold": 4, "fivefold": 5, "tenfold": 10, "doubl": 2, "翻两番": 4}  # fmt: skip


def numerals(hidden: str) -> Iterator[Numeral]:
    """The numbers of a text in their order; `hidden` has blanks where digits are no amounts (dates, addresses)."""
    for match in amounts.CANDIDATE.finditer(hidden):
        form = match.lastgroup or "digits"
        written = match[0]
        numeral = _READERS[form](match.start(), match.end(), written)
        if numeral is not None:
            yield numeral


def read_digits(start: int, end: int, written: str) -> Numeral | None:
    """A number in digits with commas and a point; None where it is an identifier (leading zeros, too many digits)."""
    plain = written.replace(",", "").replace(" ", "")
    if len(plain) > _MAX_DIGITS or (len(plain) > 1 and plain[0] == "0" and plain[1] != "."):
        return None
    decimals = len(plain.partition(".")[2])
    return Numeral(start, end, float(plain), 10.0**-decimals)


def _read_words(start: int, end: int, written: str) -> Numeral | None:
    value = english_number(written)
    if value is None:
        head = re.split(r"[ -]", written, maxsplit=1)[0]
        value, end = english_number(head), start + len(head)
    return (
        None
        if value is None or written.lower() in ("a", "an")
        else Numeral(start, end, value, _last_digit(value), form="words")
    )


def _read_chinese(start: int, end: int, written: str) -> Numeral | None:
    value = chinese_number(written)
    return None if value is None else Numeral(start, end, value, _last_digit(value), form="chinese")


def _last_digit(value: float) -> float:
    """The worth of the last digit that is not zero: number words are precise to what was said."""
    if value == 0 or value != int(value):
        return 1.0 if value == 0 else 10.0 ** -len(str(value).partition(".")[2])
    step = 1.0
    while value % (step * 10) == 0:
        step *= 10
    return step


def _any_number(written: str) -> float | None:
    if re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", written):
        return float(written)
    return chinese_number(written) or english_number(written)


def _read_fraction(start: int, end: int, written: str) -> Numeral | None:
    percent = unit_spellings()[0]["%"]
    word = written.lower()
    if word.startswith("百分之"):
        value = _any_number(word[3:])
        decimals = len(word.partition(".")[2]) or len(word.partition("点")[2])
        return None if value is None else Numeral(start, end, value, 10.0**-decimals, form="fraction", unit=percent)
    share = _share(word)
    return None if share is None else Numeral(start, end, 100 * share, 1.0, form="fraction", unit=percent)


def _share(word: str) -> float | None:
    if word in ("half", "a half", "一半", "半数"):
        return 0.5
    if "分之" in word:
        below, _, above = word.partition("分之")
        top, bottom = _any_number(above), _any_number(below)
    elif "成" in word:
        tens, _, tail = word.partition("成")
        extra = 0.5 if tail == "半" else (_any_number(tail) or 0.0 if tail else 0.0)
        top, bottom = (_any_number(tens) or 0.0) + extra / 10 if tail != "半" else (_any_number(tens) or 0.0) + 0.5, 10.0
    elif word.startswith("one in "):
        top, bottom = 1.0, _any_number(word[7:])
    else:
        parts = re.split("[ -]", word)
        below = parts[-1] if parts[-1] in DENOMINATORS else parts[-1].removesuffix("s")
        top, bottom = (
            (1.0 if parts[0] in ("a", "an") or len(parts) == 1 else _any_number(parts[0])),
            float(DENOMINATORS.get(below, 0)),
        )
    return top / bottom if top and bottom and top <= bottom else None


def _read_ordinal(start: int, end: int, written: str) -> Numeral | None:
    word = written.lower().removeprefix("第").strip()
    value: float | None = ORDINALS.get(word)
    if value is None:
        digits = re.match("[0-9]+", word)
        value = float(digits[0]) if digits else chinese_number(word)
    return None if value is None else Numeral(start, end, float(value), 1.0, form="ordinal")


def _read_multiple(start: int, end: int, written: str) -> Numeral | None:
    word = written.lower().removesuffix("ed").removesuffix("ing")
    return Numeral(start, end, float(_TIMES.get(word, 2)), 1.0, form="multiple")


_READERS = {
    "digits": read_digits,
    "words": _read_words,
    "chinese": _read_chinese,
    "fraction": _read_fraction,
    "ordinal": _read_ordinal,
    "multiple": _read_multiple,
}
