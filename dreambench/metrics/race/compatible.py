"""How DeepResearch Bench's own scorer reads an answer, oddities included. Pure; written from its observed behaviour.

- A criterion is matched by exact text, then without case, then as a part of the other's text either way, else it gets
  the mean weight of the dimension. No score is checked against 0-10.
- An entry without criterion or first score is passed over; so is one whose scores are no numbers ("8/10").
- An entry without a second score: its weight counts for the first report and is missing from the second's sum. When the
  last entry that could be read lacks the second score, the second report gets 0 for the whole dimension.
- What is left is renormalised; a dimension without usable entries adds 0 to both totals.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dreambench.metrics.race.formula import HIGHEST, Criteria, Criterion, Point

UNMATCHED = "unmatched_criterion"
OUT_OF_RANGE = "out_of_range"
SECOND_DROPPED = "second_dropped"
MISSING = "missing"


@dataclass(frozen=True, slots=True)
class _Entry:
    """One usable entry; `matched` is the criterion's own text, None when there is none like it."""

    text: str
    matched: str | None
    weight: float
    first: float
    second: float | None
    reason: str


def compatible_points(criteria: Criteria, lists: Mapping[str, Any]) -> list[Point]:
    """Points as the original scorer would weigh `lists` (dimension -> entries); criteria without a score are points
    with None and a share of 0."""
    points: list[Point] = []
    for dimension, known in criteria.lists.items():
        given = lists.get(dimension)
        entries, second_counts = _read(given if isinstance(given, list) else [], known)
        total = sum(entry.weight for entry in entries)
        for entry in entries:
            share = criteria.weights[dimension] * entry.weight / total if total > 0 else 0.0
            points.append(_point(dimension, entry, share, second_counts))
        named = {entry.matched for entry in entries}
        points += [Point(dimension, c.text, None, None, 0.0, 0.0, odd=MISSING) for c in known if c.text not in named]
    return points


def _read(given: Sequence[Any], known: Sequence[Criterion]) -> tuple[list[_Entry], bool]:
    """The usable entries, and whether the last readable entry had a second score."""
    entries: list[_Entry] = []
    last: float | None = None
    for item in given:
        if not isinstance(item, dict):
            continue
        raw = item.get("article_1_score")
        try:
            first = _number(item.get("target_score") if raw is None else raw)
            last = second = _number(item.get("article_2_score"))
        except ValueError:
            continue
        text = item.get("criterion")
        text = text.strip() if isinstance(text, str) else ""
        if text and first is not None:
            matched, weight = _match(text, known)
            entries.append(_Entry(text, matched, weight, first, second, str(item.get("analysis") or "")))
    return entries, last is not None


def _number(value: Any) -> float | None:
    """None stays None. Raises ValueError for what is no finite number."""
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, OverflowError) as error:
        raise ValueError(str(error)) from error
    if not math.isfinite(number):
        raise ValueError(f"{number} is no score")
    return number


def _match(text: str, known: Sequence[Criterion]) -> tuple[str | None, float]:
    """The criterion that an entry means, and its weight; the dimension's mean weight when it means none."""
    weights = {criterion.text: criterion.weight for criterion in known}
    if text in weights:
        return text, weights[text]
    lower = text.lower()
    same = [key for key in weights if key.lower() == lower]
    near = same or [key for key in weights if lower in key.lower() or key.lower() in lower]
    if near:
        return near[0], weights[near[0]]
    return None, sum(weights.values()) / len(weights) if weights else 0.0


def _point(dimension: str, entry: _Entry, share: float, second_counts: bool) -> Point:
    scores = [score for score in (entry.first, entry.second) if score is not None]
    odd = ""
    if entry.matched is None:
        odd = UNMATCHED
    elif any(not 0 <= score <= HIGHEST for score in scores):
        odd = OUT_OF_RANGE
    elif not second_counts and entry.second is not None:
        odd = SECOND_DROPPED
    second_share = share if second_counts and entry.second is not None else 0.0
    return Point(dimension, entry.matched or entry.text, entry.first, entry.second, share, second_share, entry.reason, odd)
