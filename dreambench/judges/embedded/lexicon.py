"""What the words of `lexicon.yaml` find in a text: connecting words by kind, empty phrases, openings, closings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, Literal

import yaml

from dreambench.language.text import alternation

RelationKind = Literal["cause", "contrast", "comparison", "condition", "addition", "example", "time", "summary"]


def read_words(name: str) -> Any:
    """The content of a YAML file of this package."""
    return yaml.safe_load(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))


def either(words: Mapping[str, Sequence[str]]) -> str:
    """A regular expression for any English (as whole words) or Chinese word of an entry `{en: [...], zh: [...]}`."""
    return rf"(?:\b(?:{alternation(words['en'])})\b|(?:{alternation(words['zh'])}))"


def relations(text: str) -> list[tuple[RelationKind, str]]:
    """Connecting words in `text` with their kinds, kind by kind."""
    return [(kind, match[0].lower()) for kind, pattern in _relations().items() for match in pattern.finditer(text)]


def fillers(text: str) -> int:
    """How many empty phrases stand in `text`."""
    return sum(1 for _ in _pattern("empty_phrases").finditer(text))


def refers_back(sentence: str) -> bool:
    """Whether a sentence begins with a word that points to what was said before."""
    return _pattern("back_references").match(sentence) is not None


def opens(title: str) -> bool:
    """Whether a heading announces an opening part."""
    return _pattern("opening_titles").search(title) is not None


def closes(title: str) -> bool:
    """Whether a heading announces a closing part."""
    return _pattern("closing_titles").search(title) is not None


def is_generic(title: str) -> bool:
    """Whether a heading would fit any report."""
    return _pattern("general_titles").fullmatch(title.strip(" .:：")) is not None


@cache
def _lexicon() -> dict[str, Any]:
    lexicon: dict[str, Any] = read_words("lexicon.yaml")
    return lexicon


@cache
def _relations() -> dict[RelationKind, re.Pattern[str]]:
    return {kind: re.compile(either(words), re.IGNORECASE) for kind, words in _lexicon()["relations"].items()}


@cache
def _pattern(entry: str) -> re.Pattern[str]:
    return re.compile(either(_lexicon()[entry]), re.IGNORECASE)
