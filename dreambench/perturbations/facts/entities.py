"""Wrong names: a country, city, company, body or people replaced by another of its class, from the report where it has one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache, partial
from random import Random

from dreambench.perturbations.facts.target import Target
from dreambench.perturbations.prose import Line, View
from dreambench.perturbations.wording import phrases

_LATIN = "A-Za-zÀ-ÖØ-öø-ÿ"
# Inside a longer name ("Bank of China", "Tokyo Metropolitan Government") a change would make up another thing.
_LONGER_NAME = re.compile(r"(?:[A-Z]\w+ (?:of |for )?|[A-Z]\w+ and |[\w]-|\.|@|/|《[^》]*|“[A-Z]?)$")
_LONGER_AFTER = re.compile(r"^(?:[ -](?:of )?[A-Z]\w|-\w|\.\w|/\w|@|’s [A-Z]|'s [A-Z])")
_HAN_BEFORE = re.compile(r"(?:[《“「\w]|(?<=[一-鿿])[·])$")
_HAN_AFTER = re.compile(
    r"^(?:[》”」·]|人民|银行|证券|工商|农业|建设|移动|联通|电信|石油|石化|平安|人寿|太保|人保|大学|科学|民族|特色|社会|共产|制造|市场监督|交通|理工|师范|日报|新闻|时报|协会|学会|公司|[A-Za-z])"
)


@cache
def _classes(language: str) -> tuple[Mapping[str, str], Mapping[str, Sequence[str]], re.Pattern[str]]:
    data = {name: tuple(names) for name, names in phrases("names")[language].items() if names}
    of = {name: group for group, names in data.items() for name in names}
    listed = "|".join(re.escape(name) for name in sorted(of, key=len, reverse=True))
    if language == "en":
        return of, data, re.compile(rf"(?<![{_LATIN}\d])(?:{listed})(?![{_LATIN}\d])")
    return of, data, re.compile(f"(?:{listed})")


@lru_cache(maxsize=32768)
def _found(text: str, language: str) -> tuple[tuple[int, int, str], ...]:
    of, _, pattern = _classes(language)
    found = []
    for match in pattern.finditer(text):
        before, after = text[max(0, match.start() - 24) : match.start()], text[match.end() : match.end() + 6]
        if language == "zh":
            odd: object = re.search(r"《[^》]*$", before) or before[-1:] in ("“", "「", "·", "“") or _HAN_AFTER.match(after)
            longer = of[match[0]] not in ("countries", "regions") and re.search(r"[一-鿿]$", before) and len(match[0]) == 2
            odd = odd or re.search(r"(?:开源|新|数字|健康|美丽|平安|红色|智慧)$", before)
            odd = odd or (longer and not re.search(r"[在于从自至到和与及、，以由对向为是及如]$", before))
        else:
            odd = _LONGER_NAME.search(before) or _LONGER_AFTER.match(after)
        if not odd:
            found.append((match.start(), match.end(), match[0]))
    return tuple(found)


def targets(line: Line, view: View) -> list[Target]:
    """Names of a known class that are no part of a longer name."""
    language = "zh" if view.chinese else "en"
    of, groups, _ = _classes(language)
    core = line.core
    result = []
    for start, end, name in _found(line.text, language):
        if start < core.start or not line.is_free(start, end):
            continue
        group = groups[of[name]]
        others = [other for other in group if other not in line.text and other.lower() != name.lower()]
        if _article(line.text, start):
            others = [other for other in others if (other[0] in "AEIOU") == (name[0] in "AEIOU")]
        own = [other for other in others if other in view.text]
        if others:
            result.append(Target(start, end, partial(_pick, tuple(own), tuple(others))))
    return result


def _article(text: str, start: int) -> bool:
    return re.search(r"\b[Aa]n? $", text[max(0, start - 3) : start]) is not None


def _pick(own: tuple[str, ...], others: tuple[str, ...], rng: Random) -> str:
    return rng.choice(own) if own and rng.random() < 0.7 else rng.choice(others)
