"""Wrong words: opposites of direction and judgement, negation put in or taken out, and other quantifiers.

The pairs lie in `phrases/opposites.yaml`; inflected forms are listed as they are written, so that grammar holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache, partial
from random import Random

from dreambench.language.text import alternation
from dreambench.perturbations.facts.target import Target, same_case
from dreambench.perturbations.prose import Line, View
from dreambench.perturbations.wording import in_quotes, phrases

_NEGATED = re.compile(r"\b(?:not|no|never|nor|neither|without|cannot|hardly|n't)\b|n't\b|不|没|未|无|非", re.IGNORECASE)
_PUT_NOT = re.compile(
    r"\b(?P<verb>is|are|was|were|can|could|will|would|should)(?= (?!not\b|no\b|n't|only\b|also\b|both\b|either\b|the\b|as\b"
    r"|why\b|how\b"
    r"|what\b|where\b|when\b|that\b|a\b|an\b|[A-Z\d*\"“(]|more\b|most\b|less\b|being\b|all\b|in\b|at\b|on\b|still\b|now\b"
    r"|about\b|among\b"
    r"|especially\b|particularly\b|often\b|likely\b|to\b|one\b|two\b|three\b|over\b|up\b|so\b|from\b|of\b|for\b|with\b|by\b"
    r"|than\b"
    r"|and\b|or\b|currently\b|already\b|typically\b|generally\b|usually\b|well\b|further\b|thus\b|therefore\b"
    r"|increasingly\b)[a-z]+)"
)
_INDIRECT = re.compile(r"\b(?:how|whether|which|what|why|where|when|if)\b[^,;.:]*$", re.IGNORECASE)
"""A denial inside an indirect question denies nothing."""
_TAKE_NOT = re.compile(
    r"\b(?P<verb>is|are|was|were|has|have|had|will|would|could|should) not (?!only|just|merely|necessarily|yet|all\b)"
    r"|\bcannot\b"
)


@cache
def _pairs(name: str) -> tuple[Mapping[str, tuple[str, ...]], re.Pattern[str], Mapping[str, tuple[str, ...]], re.Pattern[str]]:
    data = phrases("opposites")
    english, chinese = (_both_ways(data[name][language], two_way=name == "polarity") for language in ("en", "zh"))
    guard = "|".join(re.escape(word) for word in data["not_in_zh"])
    latin = re.compile(rf"(?<![A-Za-z-])(?:{alternation(english)})(?![A-Za-z-])", re.IGNORECASE)
    han = re.compile(rf"(?<![最更较很极为不需须要])(?!{guard})(?:{alternation(chinese)})(?!{data['not_before_zh']})")
    return english, latin, chinese, han


def _both_ways(lines: list[str], *, two_way: bool) -> dict[str, tuple[str, ...]]:
    """`a | b, c`: a becomes b or c; in a two-way list b and c become a as well."""
    found: dict[str, tuple[str, ...]] = {}
    for line in lines:
        left, _, right = line.partition("|")
        others = tuple(word.strip() for word in right.split(","))
        found[left.strip()] = (*found.get(left.strip(), ()), *others)
        if two_way:
            for other in others:
                found.setdefault(other, (left.strip(),))
    return found


def polarity(line: Line, view: View) -> list[Target]:
    """Words with an opposite, and verbs that can be denied or affirmed."""
    found = _replaceable(line, "polarity")
    if view.chinese:
        return found
    taken = [(target.start, target.end) for target in found]
    if not _NEGATED.search(line.text):
        for match in _PUT_NOT.finditer(line.text):
            if _INDIRECT.search(line.text, 0, match.start()) or in_quotes(line.text, match.start()):
                continue
            if line.is_free(*match.span()) and not any(a < match.end() + 1 and match.start() < b for a, b in taken):
                found.append(Target(match.start(), match.end(), partial(_deny, match["verb"])))
    for match in _TAKE_NOT.finditer(line.text):
        if line.is_free(*match.span()) and not in_quotes(line.text, match.start()):
            verb = match["verb"]
            new = f"{verb} " if verb else "can"
            found.append(Target(match.start(), match.end(), partial(_constant, new)))
    return found


def quantifiers(line: Line, view: View) -> list[Target]:
    """Words that say how many or how often."""
    return _replaceable(line, "quantifiers")


def _deny(verb: str, rng: Random) -> str:
    return {"can": "cannot"}.get(verb, f"{verb} not")


def _constant(text: str, rng: Random) -> str:
    return text


def _other(word: str, others: tuple[str, ...], rng: Random) -> str:
    return same_case(word, rng.choice(others))


@lru_cache(maxsize=65536)
def _matches(text: str, name: str) -> tuple[tuple[int, int, str, tuple[str, ...]], ...]:
    english, latin, chinese, han = _pairs(name)
    found = [(m.start(), m.end(), m[0], english[m[0].lower()]) for m in latin.finditer(text) if m[0].lower() in english]
    found += [(m.start(), m.end(), m[0], chinese[m[0]]) for m in han.finditer(text)]
    return tuple(sorted(found))


def _replaceable(line: Line, name: str) -> list[Target]:
    core = line.core
    return [
        Target(start, end, partial(_other, word, new))
        for start, end, word, others in _matches(line.text, name)
        if (new := tuple(other for other in others if name != "polarity" or other not in line.text))
        if start >= core.start
        and line.is_free(start, end)
        and not _idiom(line.text, start, end)
        and not in_quotes(line.text, start)
    ]


_NUMBER_NEXT = re.compile(r" (?:\d|two|three|four|five|six|seven|eight|nine|ten|but\b|in all\b|other\b)")
_MOST_THINGS = re.compile(r" (?:of|[a-z-]+ )?(?:[a-z-]+(?<![su])s\b|people|evidence|research|work|data)")
_PART_OF_PHRASE = re.compile(
    r"(?:\b(?:at|the|two|three|one|once and for|above|after|not|of|as|and|in|by|much|how|so|too|very)) $"
)


def _idiom(text: str, start: int, end: int) -> bool:
    """Whether a quantifier is a superlative ("most feasible"), counts on ("all three") or sits in a phrase ("after all")."""
    word, after = text[start:end].lower(), text[end : end + 40]
    if word in ("all", "some", "every", "many", "most", "several", "few"):
        if _NUMBER_NEXT.match(after) or after[:1] in "-,.;:)":
            return True
        if word == "most" and not _MOST_THINGS.match(after):
            return True
        if word != "some" and _PART_OF_PHRASE.search(text[max(0, start - 14) : start]):
            return True
    before = text[max(0, start - 12) : start]
    if (word in ("impaired", "enhanced") and before.endswith("ly ")) or (
        word in ("rise", "fall") and after.startswith(" time")
    ):
        return True
    if word in ("明显", "显著", "高度") and not re.match("[一-鿿]", after):
        return True
    if word in ("部分", "全部") and before.endswith("组成"):
        return True
    if word in ("before", "after") and (before.endswith("ed ") or re.match(r" an? ", after)):
        return True
    return word in ("before", "after", "above", "below", "early", "late") and (after[:1] in ",.;:)-" or not after)
