"""Wrong dates: another year, or another month of the same year, in the same notation."""

from __future__ import annotations

import re
from functools import lru_cache, partial
from random import Random

from dreambench.language.dates import DateMention, find_dates
from dreambench.perturbations.facts.target import Target
from dreambench.perturbations.prose import Line, View

_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
_DECADE = re.compile(r"\d0(?:['’]?s\b|年代)")
_MONTHS = "January February March April May June July August September October November December".split()
_MONTH = re.compile(rf"\b(?:{'|'.join(_MONTHS)})\b")
_CHINESE_MONTH = re.compile(r"(?<=年)(\d{1,2})(?=月)")
# "Vision 2030", "Agenda 2030", 中国制造2025: the year is part of a name.
_NAME_BEFORE = re.compile(
    r"(?:\b(?!In|By|Since|From|Between|During|Until|After|Before|Through|As|For|January|February|March|April|May|June|July"
    r"|August"
    r"|September|October|November|December|Early|Late|Mid|Q[1-4]|FY|Spring|Summer|Fall|Autumn|Winter|Year|Around"
    r"|Of)[A-Z]\w+ ?|制造|愿景|议程|规划|计划|[A-Z]{2,}-?)$"
)


@lru_cache(maxsize=32768)
def dates(text: str) -> tuple[DateMention, ...]:
    """The dates of a sentence."""
    return tuple(find_dates(text)) if re.search(r"\d{4}|[〇零一二三四五六七八九]{4}年", text) else ()


def targets(line: Line, view: View) -> list[Target]:
    """Dates with a four-digit year that belong to no name, law or identifier."""
    found: list[Target] = []
    years = frozenset(int(match[0]) for match in _YEAR.finditer(line.text))
    latest = _latest(view)
    for mention in dates(line.text):
        before, after = line.text[max(0, mention.start - 14) : mention.start], line.text[mention.end : mention.end + 2]
        named = (
            _NAME_BEFORE.search(before)
            or line.text.startswith(("远景", "规划"), mention.end)
            or after[:1] in ("》", "-", "/", "_", "×", "*")
            or before[-1:] in ("/", "-", "_", "《")
        )
        written = re.findall(r"\d{4}", mention.text)
        plain = bool(written) and all(_YEAR.fullmatch(year) for year in written)
        if plain and line.is_free(mention.start, mention.end) and not named:
            found.append(Target(mention.start, mention.end, partial(_moved, mention.text, years, latest)))
    return found


@lru_cache(maxsize=64)
def _latest_in(text: str) -> int:
    """The year that 85 % of the report's years do not pass: a false date should not lie in the future."""
    years = sorted(int(year) for year in _YEAR.findall(text) if 1900 <= int(year) <= 2060)
    return years[int(0.85 * (len(years) - 1))] if years else 2020


def _latest(view: View) -> int:
    return _latest_in(view.text)


def _moved(text: str, taken: frozenset[int], latest: int, rng: Random) -> str:
    """The mention with every year moved by the same number of years, or with another month."""
    month = _MONTH.search(text)
    if month and rng.random() < 0.4:
        other = rng.choice([name for name in _MONTHS if name != month[0]])
        return text[: month.start()] + other + text[month.end() :]
    chinese = _CHINESE_MONTH.search(text)
    if chinese and rng.random() < 0.4:
        others = [str(number) for number in range(1, 13) if number != int(chinese[1])]
        return text[: chinese.start()] + rng.choice(others) + text[chinese.end() :]
    written = [int(year) for year in _YEAR.findall(text)]
    steps = (-30, -20, -10, 10, 20) if _DECADE.search(text) else (-9, -8, -7, -6, -5, -4, -3, -2, 2, 3, 4, 5)
    shifts = [s for s in steps if all(y + s not in taken for y in written) and max(written) + s <= latest]
    shifts = shifts or ([-40] if _DECADE.search(text) else [-11])
    shift = rng.choice(shifts)
    return _YEAR.sub(lambda match: str(int(match[0]) + shift), text)
