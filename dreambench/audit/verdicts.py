"""One word for every metric, judge and perturbation, by rules that are fixed before anything is measured.

A flaw should pull a score down:    `sees`, `blind`, `wrong way`, `undecided`.
A placebo should leave it alone:    `steady`, `false alarm`, `undecided`.

In this order. Half of the reports or more lose their score at full dose, or nothing could be changed: `undecided`, because the
few that are left are no sample of the others. The shift at full dose is shown to be smaller than the margin (TOST at 5 %):
`blind` or `steady`, however significant it is. The slope on the dose differs from 0 at 5 % after Holm's adjustment over that
metric's and judge's perturbations of the same role: `sees` when it falls, `wrong way` when it rises, `false alarm` for a
placebo in either direction. Else `undecided`: too few or too unequal reports.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from dreambench.stats.multiple import adjust_column

SEES, BLIND, WRONG_WAY, FALSE_ALARM, STEADY, UNDECIDED = "sees", "blind", "wrong way", "false alarm", "steady", "undecided"
VERDICTS = (SEES, BLIND, WRONG_WAY, FALSE_ALARM, STEADY, UNDECIDED)
FLAW, PLACEBO = "flaw", "placebo"
ALPHA = 0.05


def with_verdicts(found: pl.DataFrame) -> pl.DataFrame:
    """Adds `p_holm`, `verdict` and `why` to rows with metric, judge, role, shift, slope, p, within, lost, n_reports,
    n_tasks, detectable and unchanged (share).

    Where every report shifts by the same amount there is no spread to test against; p is then that of the sign test over
    tasks, 2 * .5^n.
    """
    same = pl.col("p").is_null() & (pl.col("shift").abs() > 1e-9)
    signs = pl.lit(2.0) * pl.lit(0.5).pow(pl.col("n_tasks"))
    tested = found.with_columns(p=pl.when(same).then(pl.min_horizontal(signs, pl.lit(1.0))).otherwise("p"))
    tested = adjust_column(tested, by=["metric", "judge", "role"]).rename({"p_adjusted": "p_holm"})
    judged = [judge_cell(row) for row in tested.iter_rows(named=True)]
    return tested.with_columns(
        verdict=pl.Series([verdict for verdict, _ in judged], dtype=pl.String),
        why=pl.Series([why for _, why in judged], dtype=pl.String),
    )


def judge_cell(row: dict[str, Any]) -> tuple[str, str]:
    """The verdict on one cell by the rules above, and the reason of an `undecided`."""
    flaw = row["role"] == FLAW
    if row["lost"] and row["lost"] >= row["n_reports"]:
        return UNDECIDED, f"{row['lost']} of {row['lost'] + row['n_reports']} reports lose their score"
    if row["shift"] is None:
        return UNDECIDED, "not applicable"
    if row["unchanged"] >= 1:
        return UNDECIDED, "nothing could be changed in any report"
    if row["within"]:
        return (BLIND if flaw else STEADY), ""
    if row["p_holm"] is not None and row["p_holm"] < ALPHA:
        if not flaw:
            return FALSE_ALARM, ""
        slope = row["slope"] if row["slope"] is not None else row["shift"]
        return (SEES if slope < 0 else WRONG_WAY), ""
    least = row["detectable"]
    return UNDECIDED, "" if least is None else f"{row['n_tasks']} tasks find a shift of {100 * least:.1f} points or more"
