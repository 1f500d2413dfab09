"""LiveResearchBench's arithmetic: the ladder from faults to a score, the winner of a comparison, rows and variants.

Presentation and coverage: share of items passed. Consistency and citation association: the ladder, computed here from the
faults that are listed; the judge's own score, which the original takes unchecked, stands beside it, and so does how often the
two differ. Depth: win rate = wins / (wins + losses) over both orders, ties dropped; totals that differ by 1 or less tie.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import polars as pl

from dreambench.judges.quotes import check_quote
from dreambench.metrics.metric import Subject, Variant
from dreambench.records import Judgment, item_id

Part = Literal["presentation", "coverage", "consistency", "citation_association", "depth"]
CHECKLISTS: tuple[Part, ...] = ("presentation", "coverage")
LADDERS: tuple[Part, ...] = ("consistency", "citation_association")
DEPTH: Part = "depth"
PARTS: tuple[Part, ...] = (*CHECKLISTS, *LADDERS, DEPTH)
STEPS = ((0, 100), (2, 90), (4, 80), (6, 70), (8, 60), (10, 50), (12, 40), (14, 30), (17, 20))
LOWEST = 10
TIE = 1.0
"""Totals that are no further apart tie."""
WIN, LOSE, EVEN = "win", "lose", "tie"
OUTCOMES = {WIN: 1.0, LOSE: 0.0, EVEN: None}
LISTED, COUNTED, STATED = "listed", "counted", "stated"


def ladder(faults: int) -> int:
    """Score from 10 to 100 for a number of faults."""
    return next((score for most, score in STEPS if faults <= most), LOWEST)


def outcome(mine: float, other: float) -> str:
    """`win`, `lose` or `tie` of the report under test from two totals."""
    if abs(mine - other) <= TIE:
        return EVEN
    return WIN if mine > other else LOSE


def ladder_rows(
    subject: Subject,
    part: Part,
    faults: Sequence[tuple[str, str]],
    counted: int,
    stated: float,
    reason: str,
    cost: float | None,
) -> list[Judgment]:
    """Three rows on the score (from the faults listed, from the number given, as stated), and one per fault."""
    task = subject.task.id
    scores = {LISTED: ladder(len(faults)) / 100, COUNTED: ladder(counted) / 100, STATED: stated / 100}
    numbers = {LISTED: f"{len(faults)} faults", COUNTED: f"{counted} faults", STATED: reason}
    rows = [
        Judgment(item_id(task, f"{part} {label}"), part, label, scores[label], rationale=numbers[label]) for label in scores
    ]
    rows[0] = Judgment(rows[0].item, part, LISTED, scores[LISTED], rationale=numbers[LISTED], cost=cost)
    for number, (issue, quote) in enumerate(faults, 1):
        place = check_quote(quote, subject.report.text) if quote.strip() else None
        rows.append(
            Judgment(
                item_id(task, f"{part} fault {number} {issue}"),
                f"{part}_fault",
                "fault",
                None,
                reason_code="quote_not_found" if quote.strip() and place is None else "",
                rationale=issue,
                report_start=place.start if place else None,
                report_end=place.end if place else None,
            )
        )
    return rows


def outcome_row(task_id: str, order: str, label: str, rationale: str, cost: float | None = None) -> Judgment:
    """The row of one comparison; a tie has no value, so it is outside the win rate."""
    return Judgment(item_id(task_id, f"depth {order}"), DEPTH, label, OUTCOMES[label], rationale=rationale, cost=cost)


def part_variants(part: Part) -> list[Variant]:
    """The scores of one part, the published one first."""
    value, label, only = pl.col("value"), pl.col("label"), pl.col("family") == part
    if part in CHECKLISTS:
        return [Variant(part, value.sum(), pl.len(), complete=True, only=only)]
    if part == DEPTH:
        return [
            Variant(DEPTH, value.sum(), value.is_not_null().sum(), micro=True, complete=True, only=only),
            Variant(f"{DEPTH}_tie", (label == EVEN).sum(), pl.len(), micro=True, complete=True, only=only),
        ]
    scores = {wanted: value.filter(label == wanted).sum() for wanted in (LISTED, COUNTED, STATED)}
    one = (label == LISTED).sum()
    return [
        Variant(part, scores[LISTED], one, only=only),
        Variant(f"{part}_{COUNTED}", scores[COUNTED], one, only=only),
        Variant(f"{part}_{STATED}", scores[STATED], one, only=only),
        Variant(f"{part}_differs", (scores[LISTED] != scores[STATED]).cast(pl.Float64), one, only=only),
    ]
