"""Files of ResearchRubrics: the task file with its rubrics, and the result lines of its own evaluator."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.metrics.gold import Gold, read_gold

VERDICTS = {"satisfied": "satisfied", "partially satisfied": "partly", "not satisfied": "not_satisfied"}
"""What a result line calls a verdict, lower case, and what the item table calls it."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """One criterion; `weight` is negative for what a report should not do."""

    text: str
    weight: float
    axis: str

    @property
    def key(self) -> str:
        """What tells the criteria of a task apart: their text."""
        return self.text


@dataclass(frozen=True, slots=True)
class Saved:
    """One result line. `score` is None when the call had failed, whatever number the line holds."""

    text: str
    weight: float
    label: str
    score: float | None
    reason: str

    @property
    def key(self) -> str:
        """The criterion that the line is about: its text."""
        return self.text


def read_rubrics(path: Path, key: str) -> Gold[Criterion]:
    """Criteria by task (`sample_id`, else the text of `prompt`). Raises DatasetError with every problem."""
    return read_gold(path, key, _criteria, id_field="sample_id", query_field="prompt")


def read_results(path: Path, key: str) -> Gold[Saved]:
    """Verdicts by task from lines {sample_id, rubric_title, verdict, score, success, weight, ...}. Raises DatasetError."""
    return read_gold(path, key, _result, id_field="sample_id")


def number(value: Any) -> float | None:
    """A finite number, or None."""
    fits = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if fits else None


def _criteria(row: Row, problems: Problems) -> Iterator[Criterion]:
    listed = row.values.get("rubrics")
    if not isinstance(listed, list) or not listed:
        problems.add(row.path, row.line, "field 'rubrics' is no list of criteria", ['[{"criterion", "weight", "axis"}]'])
        return
    seen: set[str] = set()
    for place, entry in enumerate(listed):
        text = entry.get("criterion") if isinstance(entry, dict) else None
        weight = number(entry.get("weight")) if isinstance(entry, dict) else None
        if not isinstance(text, str) or not text.strip() or weight is None:
            problems.add(row.path, row.line, f"rubrics[{place}] needs a text 'criterion' and a number 'weight'")
        elif text.strip() in seen:
            problems.add(row.path, row.line, f"rubrics[{place}] repeats an earlier criterion of its task")
        else:
            seen.add(text.strip())
            yield Criterion(text.strip(), weight, str(entry.get("axis") or "").strip() or "other")


def _result(row: Row, problems: Problems) -> Iterator[Saved]:
    text = row.text("rubric_title", problems)
    weight, score = number(row.values.get("weight")), number(row.values.get("score"))
    failed = row.values.get("success") is False
    if text is None:
        return
    if weight is None:
        problems.add(row.path, row.line, f"field 'weight' is {row.values.get('weight')!r}, a number is needed")
        return
    reason = str(row.values.get("reasoning") or row.values.get("error") or "")
    if failed:
        yield Saved(text.strip(), weight, "", None, reason)
        return
    verdict = str(row.values.get("verdict") or "").strip().lower()
    if verdict not in VERDICTS:
        problems.add(row.path, row.line, f"field 'verdict' is {row.values.get('verdict')!r}", sorted(VERDICTS))
    elif score is None or not 0 <= score <= 1:
        problems.add(row.path, row.line, f"field 'score' is {row.values.get('score')!r}, a number from 0 to 1 is needed")
    else:
        yield Saved(text.strip(), weight, VERDICTS[verdict], score, reason)
