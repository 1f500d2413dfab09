"""What studies compare: the same reports scored in two ways, as shifts of task means and as agreement of rankings.

A `side` is the column whose values are the two ways (`judge`, `way`, `rubric`). Tasks are the units of every interval.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from dreambench.reporting.finished import FinishedRun
from dreambench.runs.assembly import CLEAN, CODE
from dreambench.stats.intervals import mean_interval
from dreambench.stats.paired import PairedDifference, paired_difference
from dreambench.stats.ranks import correlation

RULES = frozenset({"embedded", "semantic"})
"""`judge` in the identity of judges that answer by rules: they read a rubric's front matter and none of its words."""


def judged(values: pl.DataFrame) -> pl.DataFrame:
    """Rows of primary variants of unchanged reports that a judge had a part in (of scores or report scores)."""
    return values.filter(pl.col("primary"), pl.col("judge") != CODE, pl.col("perturbation") == CLEAN)


def report_means(values: pl.DataFrame, side: str) -> pl.DataFrame:
    """One value per task, agent and side: means over repeats; a report without a value is left out."""
    return values.group_by("task", "agent", side, maintain_order=True).agg(pl.col("value").mean()).drop_nulls("value")


def both_sides(values: pl.DataFrame, side: str, one: str, other: str) -> pl.DataFrame:
    """One row per report that both sides scored: task, agent and the two values in columns `one` and `other`."""
    rows = report_means(values, side)
    first = rows.filter(pl.col(side) == one).select("task", "agent", one="value")
    second = rows.filter(pl.col(side) == other).select("task", "agent", other="value")
    return first.join(second, on=["task", "agent"], how="inner").sort("task", "agent")


def shift(pairs: pl.DataFrame, *, seed: int = 0) -> PairedDifference:
    """Mean of `other` minus `one` over tasks (means over a task's reports first), from `both_sides`."""
    tasks = pairs.group_by("task").agg(pl.mean("one"), pl.mean("other")).sort("task")
    return paired_difference(tasks["other"], tasks["one"], seed=seed)


def ranking_agreement(pairs: pl.DataFrame, *, seed: int = 0) -> dict[str, Any]:
    """Kendall's tau-b between two orders of the agents, per task, averaged over tasks: tau, low, high, tasks, no_ranking.

    A task in which a side gives all agents the same value, or that fewer than three agents answered, ranks nothing: it
    has no tau and is counted in `no_ranking`.
    """
    by_task = pairs.sort("task", "agent").partition_by("task", maintain_order=True)
    taus = [correlation(task["one"], task["other"], kind="kendall").effect for task in by_task]
    found = sorted(tau for tau in taus if tau is not None)
    mean = mean_interval(found, seed=seed, bounds=(-1.0, 1.0))
    return {"tau": mean.value, "low": mean.low, "high": mean.high, "tasks": len(found), "no_ranking": len(taus) - len(found)}


def calls_per_report(run: FinishedRun, by: list[str]) -> pl.DataFrame:
    """Calls, tokens, dollars and seconds per report for each group `by` of item-table columns; cached answers count as asked.

    A cost that is unknown for one call is unknown for its group.
    """
    cells = run.judgments.filter(pl.col("perturbation") == CLEAN).select([*by, "cell", "report", "repeat"]).unique()
    made = run.calls.group_by("cell").agg(
        calls=pl.len(),
        tokens=(pl.col("prompt_tokens") + pl.col("completion_tokens")).sum(),
        cost=pl.when(pl.col("cost").is_null().any()).then(None).otherwise(pl.col("cost").sum()),
        seconds=pl.col("seconds").sum(),
    )
    joined = cells.join(made, on="cell", how="left").with_columns(pl.col("calls", "tokens").fill_null(0))
    reports = pl.struct("report", "repeat").n_unique().alias("reports")
    columns = [pl.col(name).mean().round(4) for name in ("calls", "tokens", "cost", "seconds")]
    return joined.group_by(by, maintain_order=True).agg(reports, *columns).sort(by)


def reads_wording(run: FinishedRun, judge: str) -> bool:
    """Whether a judge reads what a rubric says; False for judges (and panels of judges) that answer by rules."""
    identity = run.summary["judges"].get(judge, {})
    parts = identity.get("members") or [identity]
    return not all(part.get("judge") in RULES for part in parts)
