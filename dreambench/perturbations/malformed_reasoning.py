"""Malformed reasoning: unsupported causes, circular arguments, false equivalence, picked cherries; the sources stay the same.

A sentence is changed in one of four ways (`flaws`), by another wording of its own or by a sentence behind it that is composed
of the report's words. The report's length stays within 10 %: sentences become eligible in a seeded order until all changes
together could add up to `ROOM` of its length, so every dose stays inside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial
from random import Random
from typing import Any, ClassVar, Literal

from dreambench.documents import BlockKind
from dreambench.errors import ConfigError, Problem
from dreambench.judges.rubric import RubricShelf
from dreambench.language.text import alternation
from dreambench.perturbations.edits import Author, Change, Role
from dreambench.perturbations.facts.target import same_case
from dreambench.perturbations.perturbation import Make, Perturbation, Source, Unit
from dreambench.perturbations.prose import Line, View, excluded
from dreambench.perturbations.wording import (
    Words,
    capitalise,
    fill,
    has_clause,
    is_standalone,
    phrases,
    points_back,
    say,
    templates,
    words_of,
)

Flaw = Literal["unsupported_cause", "circular", "false_equivalence", "cherry_picked"]
FLAWS: tuple[Flaw, ...] = ("unsupported_cause", "circular", "false_equivalence", "cherry_picked")
ROOM = 0.09
_LISTS = {"unsupported_cause": "causal", "false_equivalence": "equal", "cherry_picked": "certain"}


class MalformedReasoning(Perturbation):
    """Makes the report argue badly with the facts and sources that it has."""

    id: ClassVar[str] = "malformed_reasoning"
    kind: ClassVar[Role] = "flaw"
    check: ClassVar[Mapping[str, Any]] = {"keep": "markers", "shortest": 0.7, "longest": 1.6}

    def __init__(
        self,
        *,
        dose: float = 1.0,
        seed: int = 0,
        author: Author = "embedded",
        flaws: list[Flaw] | None = None,
        name: str = "",
        shelf: RubricShelf | None = None,
    ) -> None:
        """`flaws` are mixed; one alone gives that one only; None means all four. Raises ConfigError when empty."""
        super().__init__(dose=dose, seed=seed, author=author, name=name, shelf=shelf)
        self.flaws: tuple[Flaw, ...] = tuple(FLAWS if flaws is None else flaws)
        if not self.flaws:
            raise ConfigError(Problem(f"perturbation.{self.name}.flaws", "is empty", FLAWS))

    def settings(self) -> Mapping[str, Any]:
        return {"flaws": list(self.flaws)}

    def units(self, source: Source) -> list[Unit]:
        view, words = source.view, words_of(source.view)
        room = ROOM * len(source.text)
        units: list[Unit] = []
        for line in source.draws.shuffled([line for line in view.prose if _argues(line)], "lines"):
            ways = {flaw: found for flaw in self.flaws if (found := _WAYS[flaw](line, view, words))}
            if not ways:
                continue
            rng = source.draws.stream("flaw", line.start)
            flaw = rng.choice(sorted(ways))
            unit = Unit(line.start, line.end, rng.choice(ways[flaw]), flaw)
            made = unit.make(source.draws.stream("unit", unit.start, unit.end))
            cost = sum(abs(len(change.after) - (change.end - change.start)) for change in made)
            if cost <= room:
                room -= cost
                units.append(unit)
        return sorted(units, key=lambda unit: unit.start)

    def instruction(self, source: Source, unit: Unit) -> dict[str, Any]:
        """Length bounds that keep the whole report within 10 % at any dose."""
        length = unit.end - unit.start
        slack = int(ROOM * len(source.text) / max(1, len(self.units(source))))
        return {"mode": unit.mode, "material": "", "least": max(length // 2, length - slack), "most": length + slack}


def _argues(line: Line) -> bool:
    return excluded(line.words) not in ("self_reference", "question", "heading", "reference")


def _unsupported_cause(line: Line, view: View, words: Words) -> list[Make]:
    return [*_reworded(line, "unsupported_cause"), *_connected(line, view, words)]


def _circular(line: Line, view: View, words: Words) -> list[Make]:
    own = line.words
    if (line.core.start > 0 and view.chinese) or not words.lexicon.knows(own):
        return []
    if not (
        line.is_closed and is_standalone(line) and has_clause(own, view.chinese) and len(own) <= (60 if view.chinese else 150)
    ):
        return []
    if own.startswith(("值得注意", "需要", "应当", "总之")):
        return []
    if not view.chinese and re.search(r"[;—]|\bbecause\b|\"|“|\(|\d\)", own):
        return []
    return [partial(_append, line, view.chinese, "circular", {"s": words.lexicon.lower_first(own)}, "circular")]


def _false_equivalence(line: Line, view: View, words: Words) -> list[Make]:
    ways = _reworded(line, "false_equivalence")
    topic, others = words.topics(line.block)[0], [other for other in words.others(line.block) if not _TWO_THINGS.search(other)]
    if others and not _TWO_THINGS.search(topic) and words.is_topic(topic) and _ends_paragraph(line, view):
        ways.append(partial(_equate, line, view.chinese, topic, tuple(others)))
    return ways


_TWO_THINGS = re.compile(r"\band\b|[与和及、]|\bor\b")
_PLURAL = re.compile(r"(?<![siu])s(?: (?:of|in|for|to|on) .*)?$")


def _cherry_picked(line: Line, view: View, words: Words) -> list[Make]:
    ways = _reworded(line, "cherry_picked")
    topic = words.topics(line.block)[0]
    if (
        words.is_topic(topic)
        and _ends_paragraph(line, view)
        and re.search(r"\d|\b(?:study|trial|survey|case|example)\b|研究|案例", line.words)
    ):
        ways.append(partial(_append, line, view.chinese, "settle", {"topic": topic}, "cherry_picked"))
    return ways


_WAYS: Mapping[str, Callable[[Line, View, Words], list[Make]]] = {
    "unsupported_cause": _unsupported_cause,
    "circular": _circular,
    "false_equivalence": _false_equivalence,
    "cherry_picked": _cherry_picked,
}


def _ends_paragraph(line: Line, view: View) -> bool:
    """Whether a sentence may follow: the sentence is closed and the last of running text."""
    return line.is_closed and view.next_in_block(line) is None and line.kind is not BlockKind.QUOTE and len(line.words) > 20


@cache
def _patterns(name: str) -> tuple[Mapping[str, tuple[str, ...]], re.Pattern[str]]:
    data = phrases("reasoning")
    pairs = {
        left.strip(): tuple(word.strip() for word in right.split(","))
        for language in ("en", "zh")
        for left, _, right in (line.partition("|") for line in data[name][language])
    }
    english, chinese = [word for word in pairs if word.isascii()], [word for word in pairs if not word.isascii()]
    guard = "|".join(map(re.escape, data["zh_guard"]))
    return pairs, re.compile(
        rf"(?<![A-Za-z-])(?:{alternation(english)})(?![A-Za-z-])|(?<![不有尽])(?!{guard})(?:{alternation(chinese)})(?![性器屏])",
        re.IGNORECASE,
    )


@lru_cache(maxsize=65536)
def _matches(text: str, name: str) -> tuple[tuple[int, int, tuple[str, ...]], ...]:
    pairs, pattern = _patterns(name)
    found = []
    for match in pattern.finditer(text):
        word = match[0]
        if word == "May" and match.start() > 0:
            continue
        after = text[match.end() : match.end() + 12]
        if word.lower() in ("may", "might", "could") and not re.match(r" (?!not\b|also\b|well\b|have\b)[a-z]", after):
            continue
        found.append((match.start(), match.end(), pairs.get(word.lower(), pairs.get(word, ()))))
    return tuple(item for item in found if item[2])


def _reworded(line: Line, flaw: str) -> list[Make]:
    core = line.core
    return [
        partial(_reword, line, start, end, others, flaw)
        for start, end, others in _matches(line.text, _LISTS[flaw])
        if start >= core.start and line.is_free(start, end)
    ]


def _reword(line: Line, start: int, end: int, others: tuple[str, ...], flaw: str, rng: Random) -> list[Change]:
    new = same_case(line.text[start:end], rng.choice(others))
    return [Change(line.start + start, line.start + end, new, flaw)]


def _connected(line: Line, view: View, words: Words) -> list[Make]:
    """A causal opening for a sentence that only stands behind another one."""
    same = view.by_block[line.block]
    if same[0] is line or line.core.start > 0 or points_back(line.words) or not has_clause(line.words, view.chinese):
        return []
    if not view.chinese and not (re.match(r"[A-Z][A-Za-z]*[ -]", line.text) and words.lexicon.knows(line.text)):
        return []
    return [partial(_connect, line, view.chinese, words)]


def _connect(line: Line, chinese: bool, words: Words, rng: Random) -> list[Change]:
    topic = words.topics(line.block)[0]
    listed = [t for t in templates("reasoning", chinese, "connect") if "{topic}" not in t or words.is_topic(topic)]
    opening = capitalise(fill(rng.choice(listed), rng, topic=topic))
    lowered = words.lexicon.lower_first(line.text)
    head = 0 if lowered == line.text else 1
    return [Change(line.start, line.start + head, opening + lowered[:head], "unsupported_cause")]


def _append(line: Line, chinese: bool, key: str, slots: Mapping[str, str], flaw: str, rng: Random) -> list[Change]:
    sentence = say("reasoning", chinese, key, rng, **slots)
    return [Change(line.end, line.end, sentence if chinese else f" {sentence}", flaw)]


def _equate(line: Line, chinese: bool, topic: str, others: tuple[str, ...], rng: Random) -> list[Change]:
    verb = "are" if _PLURAL.search(topic) and not topic.startswith("The ") else "is"
    return _append(line, chinese, "equate", {"topic": topic, "other": rng.choice(others), "is": verb}, "false_equivalence", rng)
