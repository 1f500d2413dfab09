"""DeepConsult's arithmetic and files: signed gaps, votes, and the result lines of its own evaluator.

With g the gap of one call, positive where the candidate is preferred (-5 to 5), the published score is mean(g) + 5, from 0 to
10. A row's value is (g + 5) / 10, so a mean of values is the score / 10. A preference votes whatever its gap; the side with
more votes wins the question. Net win rate = wins / (wins + losses); the overall rate is the mean of the four dimensions' rates.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.judges.kinds.pair_preferences import WIDEST
from dreambench.metrics.gold import Gold, read_gold
from dreambench.metrics.metric import Variant
from dreambench.records import Judgment, Status, item_id

DIMENSIONS = ("instruction_following", "comprehensiveness", "completeness", "writing_quality")
CANDIDATE, BASELINE = "candidate", "baseline"
SCORE, NET = "score", "net_win_rate"
Order = Literal["baseline_first", "candidate_first"]
ORDERS: tuple[Order, ...] = ("baseline_first", "candidate_first")
"""How the pair is shown; the first is the original's usual order."""
STAGES: Mapping[str, Order] = {"original": "baseline_first", "flipped": "candidate_first"}
SIDES = {"a": "first", "b": "second"}


@dataclass(frozen=True, slots=True)
class Vote:
    """One call's preference on one dimension. `gap` is from 0 to 5; None when the call failed."""

    dimension: str
    order: Order
    trial: int
    preferred: str
    gap: float | None
    reason: str = ""
    cost: float | None = None

    @property
    def key(self) -> str:
        """What tells the votes of a task apart: dimension, order and trial."""
        return f"{self.dimension} {self.order} {self.trial}"


def winner(preferred: str, order: Order) -> str:
    """Whose report is preferred when the one shown `first` or `second` is."""
    first, second = (BASELINE, CANDIDATE) if order == "baseline_first" else (CANDIDATE, BASELINE)
    return first if preferred == "first" else second


def vote_row(task_id: str, vote: Vote) -> Judgment:
    """The row of one vote."""
    identity = item_id(task_id, vote.key)
    if vote.gap is None:
        status, why = Status.JUDGE_ERROR, vote.reason
        return Judgment(identity, vote.dimension, "", None, status, reason_code="call_failed", rationale=why)
    signed = vote.gap if vote.preferred == CANDIDATE else -vote.gap
    said = f"[{vote.order}, gap {vote.gap:g}] {vote.reason}".strip()
    value = (signed + WIDEST) / (2 * WIDEST)
    return Judgment(identity, vote.dimension, vote.preferred, value, rationale=said, cost=vote.cost)


def vote_variants() -> list[Variant]:
    """The score first; then wins, ties, losses and net win rate, pooled over dimensions and for each of them."""
    value, one = pl.col("value"), pl.lit(1.0)
    wins, losses = (_sum(side) for side in ((CANDIDATE, BASELINE), (BASELINE, CANDIDATE)))
    dimensions = pl.lit(float(len(DIMENSIONS)))
    overall = [
        Variant(SCORE, value.sum(), pl.len(), complete=True),
        Variant("win", wins, dimensions, complete=True),
        Variant("tie", dimensions - wins - losses, dimensions, complete=True),
        Variant("lose", losses, dimensions, complete=True),
        Variant(f"{NET}_pooled", wins, wins + losses, micro=True, complete=True),
    ]
    for dimension in DIMENSIONS:
        only = pl.col("family") == dimension
        won, lost = _ahead(CANDIDATE, BASELINE, dimension), _ahead(BASELINE, CANDIDATE, dimension)
        overall += [
            Variant(f"{dimension}_{SCORE}", value.sum(), pl.len(), complete=True, only=only),
            Variant(f"{dimension}_win", won, one, complete=True, only=only),
            Variant(f"{dimension}_{NET}", won, won + lost, micro=True, complete=True, only=only),
        ]
    return overall


def overall_net_win_rate(rates: Mapping[str, float | None]) -> float | None:
    """The published overall rate: mean of the dimensions' rates. A dimension with ties alone counts 0, as in the original."""
    if not any(rates.get(dimension) is not None for dimension in DIMENSIONS):
        return None
    return statistics.fmean(rates.get(dimension) or 0.0 for dimension in DIMENSIONS)


def _ahead(side: str, other: str, dimension: str) -> pl.Expr:
    votes = pl.col("label").filter(pl.col("family") == dimension)
    return ((votes == side).sum() > (votes == other).sum()).cast(pl.Float64)


def _sum(sides: tuple[str, str]) -> pl.Expr:
    return pl.sum_horizontal(_ahead(*sides, dimension) for dimension in DIMENSIONS)


def read_results(path: Path, key: str) -> Gold[Vote]:
    """Votes by question from lines {question, success, score_result: {dimension: {raw_preferences}}}. Raises DatasetError."""
    return read_gold(path, key, _votes, query_field="question")


def _votes(row: Row, problems: Problems) -> Iterator[Vote]:
    if row.values.get("success") is False:
        why = str(row.values.get("error") or "the saved comparison failed")
        yield from (Vote(dimension, ORDERS[0], 1, "", None, why) for dimension in DIMENSIONS)
        return
    result = row.values.get("score_result")
    if not isinstance(result, dict):
        problems.add(row.path, row.line, "has no object 'score_result'", sorted(row.values))
        return
    for dimension, (stage, order) in itertools.product(DIMENSIONS, STAGES.items()):
        given: Any = result.get(dimension)
        raw = given.get("raw_preferences") if isinstance(given, dict) else None
        listed = raw.get(stage) if isinstance(raw, dict) else None
        if not isinstance(listed, list) or not listed:
            problems.add(row.path, row.line, f"score_result.{dimension} has no raw_preferences.{stage}")
            continue
        for trial, entry in enumerate(listed, 1):
            vote = _vote(entry, dimension, order, trial)
            if vote is None:
                what = f"score_result.{dimension}.raw_preferences.{stage}[{trial - 1}] is {entry!r}"
                problems.add(row.path, row.line, what, ['{"preferred": "a" or "b", "gap_score": 0 to 5}'])
            else:
                yield vote


def _vote(entry: Any, dimension: str, order: Order, trial: int) -> Vote | None:
    side = SIDES.get(str(entry.get("preferred"))) if isinstance(entry, dict) else None
    gap = entry.get("gap_score") if isinstance(entry, dict) else None
    if side is None or isinstance(gap, bool) or not isinstance(gap, int | float) or not 0 <= gap <= WIDEST:
        return None
    return Vote(dimension, order, trial, winner(side, order), float(gap), str(entry.get("explanation") or ""))
