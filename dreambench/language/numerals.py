"""Numbers written as words: English cardinals and ordinals, Chinese numerals."""

from __future__ import annotations

import re

ONES = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
    "nineteen": 19,
}  # fmt: skip
TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
POWERS = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12, "dozen": 12}
ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "eleventh": 11, "twelfth": 12,
}  # fmt: skip
# What divides: "two thirds", "a quarter"
DENOMINATORS = {
    "half": 2, "halves": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "ninth": 9, "tenth": 10, "hundredth": 100,
}  # fmt: skip

_DIGITS = {"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_SMALL = {"十": 10, "百": 100, "千": 1000}
CHINESE_NUMERAL = "零〇一二两三四五六七八九十百千万亿"
_SPLIT = re.compile(r"[ -]+")


def english_number(words: str) -> float | None:
    """The value of "two hundred and thirty-five thousand", or None when the words are not one number."""
    total, group, seen = 0.0, 0.0, False
    for word in _SPLIT.split(words.strip().lower()):
        if word == "and" and seen:
            continue
        if word in ("a", "an") and not seen:
            group = 1
        elif word in ONES:
            if seen and group % 10 != 0:
                return None
            group += ONES[word]
        elif word in TENS:
            if seen and group % 100 != 0:
                return None
            group += TENS[word]
        elif word in ("hundred", "dozen"):
            group = (group or 1) * POWERS[word]
        elif word in POWERS:
            total += (group or 1) * POWERS[word]
            group = 0
        else:
            return None
        seen = True
    return total + group if seen else None


def chinese_number(text: str) -> float | None:
    """The value of 三十五, 一百二十, 两千零五, 三点五, 二〇二四; None when `text` is not one numeral."""
    whole, point, fraction = text.partition("点")
    value = _chinese_integer(whole)
    if value is None or (point and (not fraction or any(char not in _DIGITS for char in fraction))):
        return None
    return float(f"{int(value)}.{''.join(str(_DIGITS[char]) for char in fraction)}") if point else value


def _chinese_integer(text: str) -> float | None:
    if not text:
        return None
    if len(text) > 1 and all(char in _DIGITS for char in text):
        return float("".join(str(_DIGITS[char]) for char in text)) if len(text) <= 15 else None
    total, section, digit, last = 0.0, 0.0, 0.0, 1
    for char in text:
        if char in _DIGITS:
            if digit:
                return None
            digit = _DIGITS[char]
            last = 1 if char in "零〇" else last
        elif char in _SMALL:
            section += (digit or 1) * _SMALL[char]
            digit, last = 0, _SMALL[char]
        elif char in "万亿":
            power = 1e4 if char == "万" else 1e8
            total = (total + section + digit) * power if power == 1e8 or not total else total + (section + digit) * power
            section, digit, last = 0, 0, int(power)
        else:
            return None
    # 三万五 is 35,000 and 一百二 is 120: the last digit counts in the next lower place.
    return total + section + digit * (last // 10 if last > 10 and digit else 1)
