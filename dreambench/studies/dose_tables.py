"""Dose response of a finished run: what each metric did when a perturbation changed more and more of a report.

Scores of a perturbed report are compared with those of the very same report as it was, so everything here rests on reports
that have a value in both arms; those that lose theirs (nothing left to judge) are counted in `lost`. Repeats and seeds of a
report at one dose are averaged first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.runs.assembly import CLEAN
from dreambench.stats.dose import DoseResponse, dose_contrasts, dose_response, smallest_detected_dose
from dreambench.stats.equivalence import equivalent_paired
from dreambench.stats.intervals import mean_interval
from dreambench.stats.separation import auc
from dreambench.stats.trend import monotone_share, page_trend

SERIES = ["metric", "judge", "perturbation"]
"""What one dose-response curve belongs to; `metric` is a label that `labelled` makes."""
_NUMBERS = (
    "clean", "full", "top_dose", "shift", "shift_low", "shift_high", "detectable", "relative", "slope", "slope_low",
    "slope_high", "p", "auc", "auc_low", "auc_high", "monotone", "monotone_low", "monotone_high", "page_p",
    "smallest_dose", "tost_p",
)  # fmt: skip
RESPONSE_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(SERIES, pl.String),
    **dict.fromkeys(("n_tasks", "n_reports", "lost"), pl.Int64),
    **dict.fromkeys(_NUMBERS, pl.Float64),
    "within": pl.Boolean,
    "method": pl.String,
    "reason": pl.String,
}
"""Columns of `responses`."""
MARGIN = 0.05
"""A shift of fewer than 5 points of 100 is no shift, unless a study is told otherwise."""
FEWEST_DOSES = 3
"""Doses, the clean one included, from which a trend can be tested."""


def labelled(values: pl.DataFrame) -> pl.DataFrame:
    """`report_scores` with `metric` telling rubric and variant apart: `wq`, `wq[terse]`, `race insight`."""
    name = pl.when(pl.col("rubric").is_in(["", "default"])).then("metric").otherwise(pl.format("{}[{}]", "metric", "rubric"))
    return values.with_columns(
        metric=pl.when("primary").then(name).otherwise(pl.format("{} {}", name, pl.col("variant").str.replace_all("_", " ")))
    )


def series(values: pl.DataFrame) -> Iterator[tuple[dict[str, str], pl.DataFrame]]:
    """Every curve of labelled values: its keys, and one row per report and dose (task, report, dose, value).

    The clean reports are dose 0 of every curve; only reports that the perturbation was tried on are among them.
    """
    means = values.group_by([*SERIES, "task", "report", "dose"], maintain_order=True).agg(pl.col("value").mean())
    for (metric, judge), part in means.group_by("metric", "judge", maintain_order=True):
        clean = part.filter(pl.col("perturbation") == CLEAN)
        changed = part.filter(pl.col("perturbation") != CLEAN, pl.col("dose") > 0).sort("perturbation", maintain_order=True)
        for (perturbation,), arm in changed.group_by("perturbation", maintain_order=True):
            rows = pl.concat([clean.join(arm, on=["task", "report"], how="semi"), arm])
            keys = {"metric": str(metric), "judge": str(judge), "perturbation": str(perturbation)}
            yield keys, rows.select("task", "report", "dose", "value").sort("task", "report", "dose")


def response(rows: pl.DataFrame, *, seed: int, margin: float = MARGIN) -> dict[str, Any]:
    """All numbers of one curve, from its rows; what cannot be had is None, and `reason` says why.

    clean, full: means over tasks at dose 0 and at the largest dose, over the reports that have both. shift = full - clean
    with its interval, relative = shift / clean; slope per unit of dose (mixed model); AUC: chance that a clean report
    scores above a perturbed one; monotone: share of reports that never rise with the dose and end lower; page_p: Page's
    test that they fall; smallest_dose: from which on the drop is found with power .8 by this many reports; within: whether
    the shift is shown (TOST over tasks, or no spread at all) to be smaller than `margin` either way, tost_p its p.
    """
    top = float(rows["dose"].max())  # type: ignore[arg-type]
    wide = rows.pivot(on="dose", index=["task", "report"], values="value", sort_columns=True)
    names = [str(dose) for dose in sorted(rows["dose"].unique().to_list())]
    both = wide.drop_nulls([names[0], names[-1]]) if len(names) > 1 and names[0] == "0.0" else wide.clear()
    lost = wide.filter(pl.col(names[0]).is_not_null(), pl.col(names[-1]).is_null()).height
    kept = rows.join(both, on=["task", "report"], how="semi")
    contrasts = dose_contrasts(kept, seed=seed)
    full = contrasts.filter(pl.col("dose") == top).to_dicts()
    shift = full[0] if full else {}
    clean = _task_mean(both, names[0])
    fitted = dose_response(kept) if _moves(kept) else _still(kept)
    separated = auc(both[names[0]], both[names[-1]], high_clusters=both["task"], low_clusters=both["task"])
    steps = both.drop_nulls(names)
    falls = monotone_share(steps, names)
    before, after = _per_task(both, names[0]), _per_task(both, names[-1])
    same = equivalent_paired(after, before, margin=margin)
    exact = same.value is not None and same.low is None and same.n > 1
    page = page_trend(steps, names) if len(names) >= FEWEST_DOSES else None
    drops = contrasts.with_columns(detected=pl.col("detected") & (pl.col("value") < 0))
    return {
        "n_tasks": both["task"].n_unique(),
        "n_reports": both.height,
        "lost": lost,
        "clean": clean,
        "full": _task_mean(both, names[-1]),
        "top_dose": top,
        "shift": shift.get("value"),
        "shift_low": shift.get("low"),
        "shift_high": shift.get("high"),
        "detectable": shift.get("detectable"),
        "relative": shift["value"] / clean if clean and shift.get("value") is not None else None,
        "slope": fitted.slope,
        "slope_low": fitted.low,
        "slope_high": fitted.high,
        "p": fitted.p,
        "method": fitted.method,
        "auc": separated.value,
        "auc_low": separated.low,
        "auc_high": separated.high,
        "monotone": falls.value,
        "monotone_low": falls.low,
        "monotone_high": falls.high,
        "page_p": page.p if page else None,
        "smallest_dose": smallest_detected_dose(drops),
        "tost_p": same.p,
        "within": abs(same.value or 0.0) < margin if exact else same.equivalent,
        "reason": fitted.reason or shift.get("reason"),
    }


def responses(values: pl.DataFrame, *, seed: int, margin: float = MARGIN) -> pl.DataFrame:
    """`response` of every curve of labelled values, one row each."""
    found = [{**keys, **response(rows, seed=seed, margin=margin)} for keys, rows in series(values)]
    return pl.DataFrame(found, schema=RESPONSE_SCHEMA)


def dose_means(values: pl.DataFrame, *, seed: int) -> pl.DataFrame:
    """Mean over tasks with its interval at every dose of every curve: SERIES, dose, value, low, high, n (tasks)."""
    found = []
    for keys, rows in series(values):
        tasks = rows.group_by("dose", "task", maintain_order=True).agg(pl.col("value").mean())
        for (dose,), part in tasks.group_by("dose", maintain_order=True):
            mean = mean_interval(part["value"], seed=seed, bounds=(0.0, 1.0))
            found.append({**keys, "dose": dose, "value": mean.value, "low": mean.low, "high": mean.high, "n": mean.n})
    schema = {**dict.fromkeys(SERIES, pl.String), **dict.fromkeys(("dose", "value", "low", "high"), pl.Float64), "n": pl.Int64}
    return pl.DataFrame(found, schema=schema).sort([*SERIES, "dose"], maintain_order=True)


def planted(folder: Path) -> pl.DataFrame:
    """What the arms of a run really changed, from their edit logs (`perturbed/`): one row per perturbation and dose.

    Columns perturbation, role (flaw or placebo), dose, reports, unchanged (reports in which nothing could be changed),
    eligible and changed (units, summed), met (mean share of the eligible units that changed).
    """
    logs = []
    for path in sorted(folder.glob("*/*.json")):
        log = json.loads(path.read_text(encoding="utf-8"))
        known = {name: log[name] for name in ("role", "dose", "eligible", "changed", "met")}
        logs.append({"perturbation": path.parent.name.partition("[")[0], **known})
    schema = {"perturbation": pl.String, "role": pl.String, "dose": pl.Float64, "eligible": pl.Int64, "changed": pl.Int64}
    table = pl.DataFrame(logs, schema={**schema, "met": pl.Float64})
    return (
        table.group_by("perturbation", "role", "dose")
        .agg(
            reports=pl.len(),
            unchanged=(pl.col("changed") == 0).sum(),
            eligible=pl.col("eligible").sum(),
            changed=pl.col("changed").sum(),
            met=pl.col("met").mean(),
        )
        .sort("perturbation", "dose")
    )


def _moves(rows: pl.DataFrame) -> bool:
    spread = rows.group_by("task", "report").agg(pl.col("value").max() - pl.col("value").min())["value"].max()
    return rows.is_empty() or spread is None or float(spread) > 0  # type: ignore[arg-type]


def _still(rows: pl.DataFrame) -> DoseResponse:
    """The answer of reports that score the same at every dose: a slope of 0, without a model that could not be fitted."""
    counts = (rows.height, rows["task"].n_unique(), rows["report"].n_unique())
    mean = float(rows["value"].mean())  # type: ignore[arg-type]
    return DoseResponse(0.0, None, None, None, mean, None, "none needed", *counts, "no report moves")


def _task_mean(both: pl.DataFrame, column: str) -> float | None:
    """Mean over tasks of the means over their reports."""
    value = _per_task(both, column).mean()
    return None if value is None else float(value)  # type: ignore[arg-type]


def _per_task(both: pl.DataFrame, column: str) -> pl.Series:
    return both.group_by("task", maintain_order=True).agg(pl.col(column).mean())[column]
