"""Rephrase: the same statement in another syntax.

Eligible units are the sentences that one of these fits: a clause moves (fronted time or place, `although`, `because`, `if`), a
semicolon becomes a full stop, or a construction of `phrases/rephrase.yaml` is written another way. No number, date, name or
citation moves out of its clause.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache, partial
from random import Random
from typing import Any, ClassVar

from dreambench.perturbations.edits import Change, Role
from dreambench.perturbations.facts.target import same_case
from dreambench.perturbations.perturbation import Perturbation, Source, Unit
from dreambench.perturbations.prose import Line
from dreambench.perturbations.wording import Lexicon, capitalise, in_quotes, phrases, words_of

Rewrite = tuple[int, int, str]


class Rephrase(Perturbation):
    """Rewrites the syntax of each chosen sentence and keeps its meaning."""

    id: ClassVar[str] = "rephrase"
    kind: ClassVar[Role] = "placebo"
    check: ClassVar[Mapping[str, Any]] = {"keep": "facts", "shortest": 0.7, "longest": 1.4}

    def units(self, source: Source) -> list[Unit]:
        lexicon = words_of(source.view).lexicon
        found = []
        for line in source.view.prose:
            ways = [*_moved(line, lexicon, source.view.chinese), *_constructions(line), *_split(line, source.view.chinese)]
            if ways:
                found.append(Unit(line.start, line.end, partial(_rewrite, line, tuple(ways))))
        return found


def _rewrite(line: Line, ways: tuple[Rewrite, ...], rng: Random) -> list[Change]:
    start, end, new = rng.choice(ways)
    return [Change(line.start + start, line.start + end, new, "rephrase")]


@cache
def _rules() -> tuple[tuple[re.Pattern[str], str], ...]:
    data = phrases("rephrase")
    return tuple((re.compile(pattern, re.IGNORECASE), new) for pattern, new in [*data["en"], *data["zh"]])


@lru_cache(maxsize=32768)
def _construction_places(text: str) -> tuple[Rewrite, ...]:
    found = []
    for pattern, new in _rules():
        for match in pattern.finditer(text):
            written = match.expand(new)
            found.append((match.start(), match.end(), same_case(match[0], written) if match[0][0].isupper() else written))
    return tuple(found)


def _constructions(line: Line) -> list[Rewrite]:
    core = line.core
    return [
        (start, end, new)
        for start, end, new in _construction_places(line.text)
        if start >= core.start and end <= core.end and line.is_free(start, end) and not in_quotes(line.text, start)
    ]


_FRONTED = re.compile(
    r"(?P<head>(?:In|During|By|Since|Throughout) (?:the )?(?:early |late |mid-)?(?:[A-Z][a-z]+ )?(?:(?:1[5-9]|20)\d\d(?:s"
    r"|[–-]\d{2,4})?)), (?P<rest>[^,;:()\"“*]{15,110})$"
)
_SUBORDINATE = re.compile(
    r"(?P<word>Although|Though|While|Because|If|When|Once"
    r"|Unless) (?P<sub>[^,;:()\"“*—]{10,90}), (?P<main>[^,;:()\"“*—]{15,110})$"
)
_NO_MOVE = re.compile(
    r"\b(?:that|which|who|whose|said|says|and|but|because|if|when|while|although|as|than|before|after|until|since|however"
    r"|also|too|not only"
    r"|then|both|this|these|those)\b"
)
_PRONOUN = re.compile(r"(?:it|they|he|she|this|these|those|such|both|its|their|his|her|there|then)\b", re.IGNORECASE)


def _moved(line: Line, lexicon: Lexicon, chinese: bool) -> list[Rewrite]:
    """The sentence with its first clause behind its second; only where neither points to the other."""
    core = line.core
    words = line.text[core.start : core.end]
    if chinese or not line.is_closed or not line.is_free(core.start, core.end):
        return []
    if match := _FRONTED.match(words):
        head, rest = match["head"], match["rest"]
        if not _NO_MOVE.search(rest) and not re.search(r"\b(?:1[5-9]|20)\d\d\b", rest) and rest[:1].isalpha():
            return [(core.start, core.end, f"{capitalise(rest)} {head[0].lower()}{head[1:]}")]
    if match := _SUBORDINATE.match(words):
        sub, main, word = match["sub"], match["main"], match["word"].lower()
        if (
            _PRONOUN.match(main)
            or _PRONOUN.match(sub)
            or re.search(r"\b(?:it|they|them|their|its)\b", main)
            or _NO_MOVE.search(main)
        ):
            return []
        if word == "while" and re.match(r"\w+ing\b", sub):
            return []
        comma = "," if word in ("although", "though", "while") else ""
        return [(core.start, core.end, f"{capitalise(main)}{comma} {word} {sub}")]
    return []


_SEMICOLON = re.compile(r"; (?P<next>[a-z]\w*)|；(?=[一-鿿])")


def _split(line: Line, chinese: bool) -> list[Rewrite]:
    """A semicolon between two full clauses as a full stop."""
    core = line.core
    if not line.is_closed:
        return []
    places = list(_SEMICOLON.finditer(line.text, core.start, core.end))
    if len(places) != 1:
        return []
    (match,) = places
    left, right = (
        line.text[core.start : match.start()],
        line.text[match.end("next") if match["next"] else match.end() : core.end],
    )
    if (
        min(len(left), len(right)) < (12 if chinese else 40)
        or not line.is_free(*match.span())
        or in_quotes(line.text, match.start())
    ):
        return []
    if left.count("(") > left.count(")") or left.count("（") > left.count("）"):
        return []
    if match["next"] is None:
        return [(match.start(), match.end(), "。")]
    if match["next"] in ("and", "or", "but", "which", "e", "i", "while", "whereas", "with", "including") or not _FINITE.search(
        right
    ):
        return []
    return [(match.start(), match.end(), f". {match['next'][0].upper()}{match['next'][1:]}")]


_FINITE = re.compile(r"\b(?:is|are|was|were|has|have|had|can|could|will|would|may|might|must|does|do|did)\b")
