"""What a domain name and a site's page about itself say of its publisher, by the words of `sites.yaml`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from dreambench.judges.embedded.lexicon import either, read_words
from dreambench.judges.kinds.classify_domain import Category
from dreambench.language.polarity import negations
from dreambench.language.text import fold_width

RESERVED = frozenset({"example", "test", "invalid", "localhost"})
"""Suffixes that nobody owns (RFC 2606): their names say nothing, only their pages do."""

SUFFIX_WEIGHT: Mapping[Category, float] = {
    "government": 4.0,
    "academic": 4.0,
    "ngo": 1.0,
    "news": 2.0,
    "social": 3.0,
    "commercial": 0.6,
    "other": 0.0,
}
FIRST = 240
"""Characters of an about page in which a site says what it is."""


@dataclass(frozen=True, slots=True)
class Cue:
    """A practice that an about page tells of: its name, the words, what it adds to authority."""

    name: str
    text: str
    weight: float


def well_known(domain: str) -> tuple[Category, int] | None:
    """Category and authority of a domain that (or whose parent) most readers know; None for all others."""
    labels = domain.split(".")
    return next((found for at in range(len(labels)) if (found := _well_known().get(".".join(labels[at:])))), None)


def suffix_category(domain: str) -> tuple[Category, str] | None:
    """What the end of a domain says about who may register it: `gov`, `ac.uk`, `org`, ..."""
    labels = domain.split(".")
    before_country = labels[-2:-1] if len(labels) > 2 and len(labels[-1]) == 2 else []
    hosted = labels[-2:-1] if len(labels) > 2 else []  # somebody.blogspot.com
    suffixes: Mapping[Category, Sequence[str]] = _sites()["suffixes"]
    for category, ends in suffixes.items():
        inner = hosted if category == "social" else before_country
        for end in (".".join(labels[-2:]), labels[-1], *inner):
            if end in ends and not (end == "ac" and end == labels[-1]):  # .ac alone is an island's
                return category, end
    return None


def host_categories(domain: str) -> list[tuple[Category, str]]:
    """Words of a domain's name (before its last label) that speak for a category.

    A word counts as a whole part, at the end of a part (`northpost`) or, of six letters and more, at its beginning.
    """
    found = []
    for part in re.split(r"[.\-_]", domain.rpartition(".")[0]):
        for word, category in _host_words().items():
            if part == word or (len(word) > 3 and part.endswith(word)) or (len(word) > 5 and part.startswith(word)):
                found.append((category, word))
                break
    return found


def category_cues(text: str) -> list[tuple[Category, str, bool]]:
    """Words of an about page that speak for a category, denied ones left out; True for those within its first sentences."""
    folded = fold_width(text)
    denied = [(cue.start, cue.scope_end) for cue in negations(folded)]
    return [
        (category, match[0].lower(), match.start() < FIRST)
        for category, pattern in _about_patterns().items()
        for match in pattern.finditer(folded)
        if not any(start <= match.start() < end for start, end in denied)
    ]


def practice_cues(text: str) -> list[Cue]:
    """How content is made and checked, each practice once. A denied good practice counts against, a denied bad one is none."""
    folded = fold_width(text)
    denied = [(cue.start, cue.scope_end) for cue in negations(folded)]
    found = []
    for name, adds, pattern in _practice_patterns():
        hits = [(match[0], any(start < match.start() < end for start, end in denied)) for match in pattern.finditer(folded)]
        said = [words for words, is_denied in hits if not is_denied]
        if said:
            found.append(Cue(name, said[0].lower(), adds))
        elif hits and adds > 0:
            found.append(Cue(f"no {name}", hits[0][0].lower(), -1.0))
    return found


@cache
def _sites() -> dict[str, Any]:
    sites: dict[str, Any] = read_words("sites.yaml")
    return sites


@cache
def _well_known() -> dict[str, tuple[Category, int]]:
    return {host: (entry["category"], entry["score"]) for entry in _sites()["well_known"] for host in entry["sites"]}


@cache
def _host_words() -> dict[str, Category]:
    return {word: category for category, words in _sites()["host_words"].items() for word in words}


@cache
def _about_patterns() -> dict[Category, re.Pattern[str]]:
    return {category: re.compile(either(words), re.IGNORECASE) for category, words in _sites()["about"].items()}


@cache
def _practice_patterns() -> list[tuple[str, float, re.Pattern[str]]]:
    return [(entry["name"], entry["adds"], re.compile(either(entry), re.IGNORECASE)) for entry in _sites()["practices"]]
