"""Would the metric say the same again, and does another judge say the same? On the clean reports only."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import polars as pl

from dreambench.reporting.finished import FinishedRun
from dreambench.runs.assembly import CLEAN, CODE
from dreambench.stats.agreement import cohens_kappa, kendalls_w
from dreambench.stats.ranks import correlation
from dreambench.stats.repeats import icc
from dreambench.studies.dose_tables import labelled

SCHEMA = {
    "metric": pl.String,
    "between": pl.String,
    "measure": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "reason": pl.String,
}


def reliability(run: FinishedRun) -> pl.DataFrame:
    """One row per coefficient: metric, between (repeats of a judge, two judges, all judges), measure, value, interval, n.

    ICC(1,1) of repeats over reports; Kendall's tau-b of two judges over reports; their kappa over the items that both judged
    (quadratic weights where labels are numbers), clustered by task; Kendall's W of all judges over reports.
    """
    clean = run.report_scores.filter(pl.col("perturbation") == CLEAN, pl.col("judge") != CODE)
    values = labelled(clean.filter(pl.col("primary")))
    items = labelled(
        run.judgments.filter(
            pl.col("perturbation") == CLEAN, pl.col("status") == "scored", pl.col("judge") != CODE
        ).with_columns(primary=pl.lit(True), variant=pl.lit(""))
    )
    rows: list[dict[str, Any]] = []
    for (metric,), part in values.group_by("metric", maintain_order=True):
        judges = sorted(part["judge"].unique().to_list())
        rows += [{"metric": metric, **row} for row in _repeats(part)]
        labels = items.filter(pl.col("metric") == metric)
        for one, other in itertools.combinations(judges, 2):
            rows += [{"metric": metric, "between": f"{one} / {other}", **row} for row in _pair(part, labels, one, other)]
        if len(judges) > 1:
            wide = _by_judge(part).drop_nulls()
            found = kendalls_w([wide[judge] for judge in judges])
            rows.append(_row(metric, "all judges", "Kendall's W", found.effect, None, None, wide.height, found.reason))
    return pl.DataFrame(rows, schema=SCHEMA)


def _row(
    metric: Any, between: str, measure: str, value: float | None, low: float | None, high: float | None, n: int, why: str | None
) -> dict[str, Any]:
    return dict(zip(SCHEMA, (metric, between, measure, value, low, high, n, why), strict=True))


def _repeats(part: pl.DataFrame) -> Iterator[dict[str, Any]]:
    for (judge,), mine in part.group_by("judge", maintain_order=True):
        wide = mine.pivot(on="repeat", index="report", values="value", aggregate_function="mean").drop("report")
        found = icc(wide.rows(), kind="1")
        known = _row("", f"repeats of {judge}", found.method, found.value, found.low, found.high, found.n, found.reason)
        yield {key: value for key, value in known.items() if key != "metric"}


def _by_judge(part: pl.DataFrame) -> pl.DataFrame:
    return part.pivot(on="judge", index=["task", "report"], values="value", aggregate_function="mean")


def _pair(part: pl.DataFrame, labels: pl.DataFrame, one: str, other: str) -> Iterator[dict[str, Any]]:
    wide = _by_judge(part)
    tau = correlation(wide[one], wide[other], kind="kendall")
    known = {"measure": tau.method, "value": tau.effect, "low": tau.low, "high": tau.high, "n": tau.n, "reason": tau.reason}
    yield known
    keys = ["task", "report", "family", "item", "repeat"]
    both = labels.filter(pl.col("judge") == one).join(labels.filter(pl.col("judge") == other), on=keys)
    a, b = both["label"].to_list(), both["label_right"].to_list()
    numbers = _as_numbers([*a, *b])
    if numbers is None:
        kappa = cohens_kappa(a, b, clusters=both["task"])
    else:
        kappa = cohens_kappa(numbers[: len(a)], numbers[len(a) :], weights="quadratic", clusters=both["task"])
    yield {
        "measure": f"{kappa.method} over items",
        "value": kappa.value,
        "low": kappa.low,
        "high": kappa.high,
        "n": kappa.n,
        "reason": kappa.reason,
    }


def _as_numbers(labels: list[str]) -> list[float] | None:
    """The labels as numbers, when all of them are."""
    try:
        return [float(label) for label in labels] if labels else None
    except ValueError:
        return None
