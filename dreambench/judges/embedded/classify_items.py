"""`classify_items` by rules, one per aspect: cue words for the four verticals, simple features for the quality of items.

Settings: `aspect` (required), `answers`. Weak on purpose: cue words know nothing of what a text is after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from dreambench.errors import nearest
from dreambench.judges.kinds.classify_items import Context, labels_of
from dreambench.language.dates import find_dates
from dreambench.language.quantities import find_quantities
from dreambench.language.tokens import overlap, words

NONE = "none"
HEAD = 2.0
"""Weight of a cue in the first line, which names what a criterion is about; cues below it weigh 1."""
ON_TOPIC, NEAR_TOPIC = 0.25, 0.1
"""Shares of a text's content words that stand in the question, for the ratings 3 and 2."""
SHORT, LONG = 40, 80
"""Words of a text up to which it is rated 3 and 2 for clarity."""

Rule = Callable[[str, str], tuple[str, str]]
"""Question and text -> label and reason."""


def refusal(settings: Mapping[str, Any]) -> str | None:
    """Why a rubric cannot be answered: it names no aspect that rules exist for, or wants other labels."""
    aspect = settings.get("aspect")
    wanted = labels_of(settings)
    if aspect not in _RULES:
        near = nearest(str(aspect), _RULES)
        hint = f"; did you mean {near}?" if near else f"; rules exist for {', '.join(sorted(_RULES))}"
        return f"there are no rules for the aspect {aspect!r}{hint}"
    given = {*_cues(), NONE} if aspect == "vertical" else {"1", "2", "3"}
    return None if given == set(wanted) else f"its labels for {aspect} are {', '.join(sorted(given))}"


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """One label under each text's id."""
    rule = _RULES[settings["aspect"]]
    found = {name: rule(context.question, text) for name, text in context.items.items()}
    return {name: {"reason": reason, "label": label} for name, (label, reason) in found.items()}


def _vertical(question: str, text: str) -> tuple[str, str]:
    """The vertical with the heaviest cues; the first of equals in the order of the cue file, `none` without any."""
    head, _, rest = text.casefold().partition("\n")
    hits = {
        name: ([cue for cue in cues if cue in head], [cue for cue in cues if cue in rest]) for name, cues in _cues().items()
    }
    weights = {name: HEAD * len(first) + len(below) for name, (first, below) in hits.items()}
    best = max(weights, key=lambda name: weights[name])
    if not weights[best]:
        return NONE, "No cue word of any vertical."
    return best, f"Cue words: {', '.join(dict.fromkeys([*hits[best][0], *hits[best][1]]))}."


def _relevance(question: str, text: str) -> tuple[str, str]:
    share = overlap(text, question)
    label = "3" if share >= ON_TOPIC else "2" if share >= NEAR_TOPIC else "1"
    return label, f"{100 * share:.0f} % of its content words stand in the question."


def _verifiability(question: str, text: str) -> tuple[str, str]:
    exact = bool(find_quantities(text) or find_dates(text))
    source = "://" in text
    said = [name for name, there in (("an amount or a date", exact), ("a page", source)) if there]
    return str(1 + exact + source), f"Names {' and '.join(said) or 'neither an amount, a date nor a page'}."


def _clarity(question: str, text: str) -> tuple[str, str]:
    count = len(words(text.partition("\n")[0]))
    label = "3" if count <= SHORT else "2" if count <= LONG else "1"
    return label, f"Its first line has {count} words."


@cache
def _cues() -> dict[str, list[str]]:
    path = Path(__file__).with_name("verticals.yaml")
    loaded: dict[str, list[str]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return loaded


_RULES: dict[str, Rule] = {
    "vertical": _vertical,
    "relevance": _relevance,
    "verifiability": _verifiability,
    "clarity": _clarity,
}
