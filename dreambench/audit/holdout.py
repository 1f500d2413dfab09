"""A second set of flawed reports beside the first: written by other hands, on other topics, without the perturbers.

Its run has an agent `clean` and one agent per kind of flaw, each of which answers the same tasks; a metric sees a flaw when the
flawed report of a task scores below the clean one. Same verdicts, same rules; an agent stands beside the perturbation that
`kinds` names for it, else beside the one of its own name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from dreambench.audit.verdicts import with_verdicts
from dreambench.reporting.finished import FinishedRun
from dreambench.runs.assembly import CLEAN, CODE
from dreambench.stats.equivalence import equivalent_paired
from dreambench.stats.paired import paired_difference
from dreambench.stats.separation import auc
from dreambench.studies.dose_tables import labelled

COLUMNS = [
    "metric", "judge", "role", "agent", "perturbation", "n_tasks", "clean", "flawed", "shift", "shift_low", "shift_high",
    "p", "p_holm", "auc", "verdict", "why", "perturber_shift", "perturber_verdict", "same_verdict",
]  # fmt: skip
_EMPTY = dict.fromkeys(COLUMNS, pl.String)


def holdout_cells(
    run: FinishedRun, cells: pl.DataFrame, *, margin: float, seed: int, kinds: Mapping[str, str] | None = None
) -> pl.DataFrame:
    """COLUMNS: one row per metric, judge and agent but `clean`; shift is flawed - clean over tasks.

    `kinds` says which perturbation an agent stands beside, and so whether it is a flaw or a placebo. `cells` is the matrix of
    the perturbers' set; its numbers stand in the columns perturber_... where it has that cell.
    """
    shown = run.report_scores.filter(pl.col("primary"), pl.col("unit") == "share", pl.col("perturbation") == CLEAN)
    tasks = labelled(shown).group_by("metric", "judge", "agent", "task", maintain_order=True).agg(pl.col("value").mean())
    roles = dict(cells.select("perturbation", "role").unique().iter_rows())
    rows = []
    for (metric, judge, agent), part in tasks.group_by("metric", "judge", "agent", maintain_order=True):
        if agent == CLEAN:
            continue
        kind = (kinds or {}).get(agent, agent)
        clean = tasks.filter(pl.col("metric") == metric, pl.col("judge") == judge, pl.col("agent") == CLEAN)
        keys = {"metric": metric, "judge": judge, "agent": agent, "perturbation": kind, "role": roles.get(kind, "flaw")}
        rows.append({**keys, **_paired(part.join(clean, on="task"), margin, seed)})
    if not rows:
        return pl.DataFrame(schema=_EMPTY)
    judged = with_verdicts(pl.DataFrame(rows, schema={**_KEYS, **_NUMBERS}))
    known = cells.select("metric", "judge", "perturbation", perturber_shift="shift", perturber_verdict="verdict")
    beside = judged.join(known, on=["metric", "judge", "perturbation"], how="left")
    return (
        beside.with_columns(same_verdict=pl.col("verdict") == pl.col("perturber_verdict"))
        .select(COLUMNS)
        .sort("role", "perturbation", "agent", "metric", "judge")
    )


def side_by_side(held: pl.DataFrame) -> pl.DataFrame:
    """One row per agent of the second set, one column per metric and judge: the perturbers' verdict and shift in points of 100,
    then the second set's."""
    told = pl.concat_str(
        pl.col("perturber_verdict").fill_null("none"),
        (100 * pl.col("perturber_shift")).round(1).cast(pl.String).fill_null(""),
        pl.lit("|"),
        "verdict",
        (100 * pl.col("shift")).round(1).cast(pl.String).fill_null(""),
        separator=" ",
    )
    column = pl.when(pl.col("judge") == CODE).then("metric").otherwise(pl.format("{} · {}", "metric", "judge"))
    shown = held.with_columns(cell=told, column=column)
    return shown.pivot(on="column", index=["role", "perturbation", "agent"], values="cell", sort_columns=True)


_KEYS = dict.fromkeys(("metric", "judge", "agent", "perturbation", "role"), pl.String)
_NUMBERS: dict[str, Any] = {
    **dict.fromkeys(("clean", "flawed", "shift", "shift_low", "shift_high", "slope", "p", "detectable", "auc"), pl.Float64),
    **dict.fromkeys(("n_tasks", "n_reports", "lost"), pl.Int64),
    "unchanged": pl.Float64,
    "within": pl.Boolean,
}


def _paired(both: pl.DataFrame, margin: float, seed: int) -> dict[str, Any]:
    """`both` has a task's flawed `value` and clean `value_right`."""
    lost = both.filter(pl.col("value").is_null(), pl.col("value_right").is_not_null()).height
    kept = both.drop_nulls(["value", "value_right"])
    flawed, clean = kept["value"], kept["value_right"]
    found = paired_difference(flawed, clean, seed=seed)
    same = equivalent_paired(flawed, clean, margin=margin)
    exact = same.value is not None and same.low is None and same.n > 1
    return {
        "clean": clean.mean(),
        "flawed": flawed.mean(),
        "shift": found.value,
        "shift_low": found.low,
        "shift_high": found.high,
        "slope": found.value,
        "p": found.p,
        "detectable": found.detectable,
        "auc": auc(clean, flawed, high_clusters=kept["task"], low_clusters=kept["task"]).value,
        "n_tasks": found.n,
        "n_reports": found.n,
        "lost": lost,
        "unchanged": 0.0,
        "within": abs(same.value or 0.0) < margin if exact else same.equivalent,
    }
