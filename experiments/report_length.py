"""Report length: words by agent (DREAM's Table 11), and whether a metric rewards long reports (Figure 10).

Reads a finished run with the metric `length`. Writes `report_length` (words: mean, sd, min, max by agent), `score_and_length`
(per judged metric: Spearman's rho over reports, Kendall's tau-b within tasks, slope per 1,000 words), a figure and
`findings.md`. Correlation is not cause: agents that write more may also write better.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.errors import InputError, Problem
from dreambench.reporting.finished import FinishedRun
from dreambench.reporting.tables import metric_label
from dreambench.runs.assembly import CLEAN
from dreambench.stats.dose import dose_response
from dreambench.stats.few import FEWEST_TASKS
from dreambench.stats.intervals import mean_interval
from dreambench.stats.ranks import correlation
from dreambench.studies.findings import bounded, write_findings
from dreambench.studies.outputs import new_figure, rounded, write_figure, write_table
from dreambench.studies.scored_twice import judged

WORDS = 1000
"""Unit of the slope."""


def make(run: FinishedRun) -> Sequence[Path]:
    """All files of the study. Raises InputError for a run that did not count words."""
    values = run.report_scores
    words = report_words(values)
    if words.is_empty():
        raise InputError(Problem("metric", "the study report_length needs the metric length", type="metric=[wq,length]"))
    lengths = length_table(words)
    paired = scores_with_words(values, words)
    relation = relation_table(paired)
    folder = run.output
    return [
        *write_table(rounded(lengths, 2), folder, "report_length"),
        *write_table(rounded(relation), folder, "score_and_length"),
        *_draw(words, paired, folder),
        write_findings(run, "Report length", _findings(lengths, relation)),
    ]


def report_words(values: pl.DataFrame) -> pl.DataFrame:
    """One row per unchanged report: dataset, task, agent, report, words."""
    counted = (pl.col("metric") == "length") & (pl.col("variant") == "words") & (pl.col("perturbation") == CLEAN)
    return values.filter(counted).select("dataset", "task", "agent", "report", words="value").drop_nulls("words")


def length_table(words: pl.DataFrame) -> pl.DataFrame:
    """Table 11: mean with its interval over reports, sd, min and max of words, per data set and agent."""
    rows = []
    for (dataset, agent), part in words.sort("dataset", "agent").group_by("dataset", "agent", maintain_order=True):
        mean = mean_interval(part["words"], seed=0, bounds=(0.0, float("inf")))
        spread = {"sd": part["words"].std(), "min": part["words"].min(), "max": part["words"].max()}
        shown = {"mean": mean.value, "low": mean.low, "high": mean.high, "interval": mean.method}
        rows.append({"dataset": dataset, "agent": agent, "reports": part.height, **shown, **spread})
    return pl.DataFrame(rows, infer_schema_length=None)


def scores_with_words(values: pl.DataFrame, words: pl.DataFrame) -> pl.DataFrame:
    """Judged primary scores (means over repeats) beside the words of their report."""
    scored = judged(values).with_columns(metric=metric_label())
    means = scored.group_by("metric", "judge", "task", "agent", "report", maintain_order=True).agg(pl.col("value").mean())
    return means.drop_nulls("value").join(words.select("report", "words"), on="report", how="inner")


def relation_table(paired: pl.DataFrame) -> pl.DataFrame:
    """One row per metric and judge: rho over reports, tau-b within tasks, slope in score per 1,000 words."""
    rows = [
        {"metric": metric, "judge": judge, "reports": part.height, **_rank(part), **_within(part), **_slope(part)}
        for (metric, judge), part in paired.group_by("metric", "judge", maintain_order=True)
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _rank(part: pl.DataFrame) -> dict[str, Any]:
    rho = correlation(part["words"], part["value"])
    return {"rho": rho.effect, "rho_low": rho.low, "rho_high": rho.high, "rho_p": rho.p}


def _within(part: pl.DataFrame) -> dict[str, Any]:
    """Long against short answers to the same query: what the query itself asks for is left out."""
    taus = [correlation(task["words"], task["value"], kind="kendall").effect for task in part.partition_by("task")]
    mean = mean_interval(sorted(tau for tau in taus if tau is not None), seed=0, bounds=(-1.0, 1.0))
    return {"tau_within": mean.value, "tau_low": mean.low, "tau_high": mean.high, "tasks": mean.n}


def _slope(part: pl.DataFrame) -> dict[str, Any]:
    # Each report is there once: its own random effect could not be told from the residual, so tasks are the only groups.
    found = dose_response(part.with_columns(thousands=pl.col("words") / WORDS), dose="thousands", report="task")
    return {
        "slope": found.slope,
        "slope_low": found.low,
        "slope_high": found.high,
        "slope_p": found.p,
        "slope_method": found.method.replace("one report per task", "tasks as groups"),
        "slope_reason": found.reason,
    }


def _draw(words: pl.DataFrame, paired: pl.DataFrame, folder: Path) -> list[Path]:
    """Words by agent, then each metric's score against words."""
    agents = sorted(words["agent"].unique())
    groups = paired.partition_by("metric", "judge", as_dict=True, maintain_order=True)
    figure = new_figure(1, 1 + len(groups), width=3.4 * (1 + len(groups)), height=3.6)
    first, *others = figure.axes
    first.boxplot([words.filter(pl.col("agent") == agent)["words"].to_list() for agent in agents])
    first.set_xticks(range(1, len(agents) + 1), agents, rotation=30, ha="right")
    first.set_ylabel("words")
    for axes, ((metric, judge), part) in zip(others, groups.items(), strict=True):
        for place, agent in enumerate(agents):
            own = part.filter(pl.col("agent") == agent)
            axes.plot(own["words"], 100 * own["value"], "osD^vPX*"[place % 8], markersize=4, label=agent)
        axes.set_title(f"{metric} by {judge}")
        axes.set_xlabel("words")
        axes.set_ylabel("score x100")
        axes.grid(linewidth=0.4)
    if others:
        handles, labels = others[0].get_legend_handles_labels()
        figure.legend(handles, labels, fontsize="small", loc="outside lower center", ncols=min(len(agents), 5))
    return write_figure(figure, folder, "report_length")


def _findings(lengths: pl.DataFrame, relation: pl.DataFrame) -> list[str]:
    lines = [
        f"- {row['dataset']}, {row['agent']}: {row['mean']:.0f} words "
        + (f"+- {row['sd']:.0f} " if row["sd"] is not None else "")
        + f"({row['min']:.0f}-{row['max']:.0f}) over {row['reports']} reports."
        for row in lengths.iter_rows(named=True)
    ]
    return lines + [_relation_line(row) for row in relation.iter_rows(named=True)]


def _relation_line(row: dict[str, Any]) -> str:
    slope, low, high = (None if row[name] is None else 100 * row[name] for name in ("slope", "slope_low", "slope_high"))
    sure = "no difference from none can be told"
    if low is not None and high is not None and row["tasks"] >= FEWEST_TASKS and not low <= 0 <= high:
        sure = "longer reports score " + ("higher" if low > 0 else "lower")
    rho = bounded(row["rho"], row["rho_low"], row["rho_high"], n=row["tasks"])
    within = bounded(row["tau_within"], row["tau_low"], row["tau_high"], n=row["tasks"])
    return (
        f"- {row['metric']} by {row['judge']}: {bounded(slope, low, high, n=row['tasks'])} points per 1,000 words ({sure}); "
        f"rho {rho} over {row['reports']} reports, mean tau-b {within} within {row['tasks']} tasks."
    )
