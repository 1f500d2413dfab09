"""Backbone sweep: metric x agent x judge, and how far the judges' rankings of agents agree (DREAM's Table 12).

Reads a finished run. Writes `backbone_sweep` (one row per metric, agent and judge), `agreement` (one row per metric and
pair of judges), `backbone_sweep.svg/.png`, and `findings.md`, whose sentences are made from the numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.reporting.finished import FinishedRun
from dreambench.reporting.tables import format_value
from dreambench.runs.assembly import CLEAN, CODE
from dreambench.stats.intervals import mean_interval
from dreambench.stats.ranks import correlation
from dreambench.studies.findings import bounded, write_findings
from dreambench.studies.outputs import new_figure, write_figure, write_table


def make(run: FinishedRun) -> Sequence[Path]:
    """All files of the study, in the order in which they are written."""
    scores = primary_scores(run.scores)
    agreement = judge_agreement(run.report_scores)
    folder = run.output
    return [
        *write_table(_shown(scores), folder, "backbone_sweep"),
        *write_table(agreement, folder, "agreement"),
        *_draw(scores, folder),
        _write_findings(scores, agreement, run),
    ]


def primary_scores(scores: pl.DataFrame) -> pl.DataFrame:
    """Macro means of the primary variants that a judge had a part in; metrics asked with several rubrics stay apart."""
    label = pl.when(pl.col("rubric").is_in(["", "default"])).then("metric").otherwise(pl.format("{}[{}]", "metric", "rubric"))
    clean = scores.filter(pl.col("perturbation") == CLEAN)
    return clean.filter(pl.col("primary"), pl.col("aggregation") == "macro", pl.col("judge") != CODE).with_columns(metric=label)


def judge_agreement(values: pl.DataFrame) -> pl.DataFrame:
    """Kendall's tau-b between the agents' scores of two judges: per task, averaged over tasks with an interval.

    Tasks in which a judge gives all agents the same score rank nothing: they have no tau and are counted in `no_ranking`.
    """
    shown = values.filter(pl.col("primary"), pl.col("judge") != CODE, pl.col("perturbation") == CLEAN)
    rows = []
    for (metric, rubric), part in shown.group_by("metric", "rubric", maintain_order=True):
        for one, other in itertools.combinations(part["judge"].unique(maintain_order=True), 2):
            rows.append({"metric": metric, "rubric": rubric, "judges": f"{one} / {other}", **_pair(part, one, other)})
    schema = ["metric", "rubric", "judges", "tau", "low", "high", "tasks", "no_ranking"]
    return pl.DataFrame(rows, schema=schema if not rows else None)


def _pair(part: pl.DataFrame, one: str, other: str) -> dict[str, Any]:
    means = part.group_by("task", "agent", "judge").agg(pl.col("value").mean())
    wide = means.pivot(on="judge", index=["task", "agent"], values="value").drop_nulls()
    by_task = wide.sort("agent").partition_by("task", maintain_order=True)
    taus = [correlation(task[one], task[other], kind="kendall").effect for task in by_task]
    found = sorted(tau for tau in taus if tau is not None)
    estimate = mean_interval(found, seed=0, bounds=(-1.0, 1.0))
    return {
        "tau": _rounded(estimate.value),
        "low": _rounded(estimate.low),
        "high": _rounded(estimate.high),
        "tasks": len(found),
        "no_ranking": len(taus) - len(found),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _shown(scores: pl.DataFrame) -> pl.DataFrame:
    columns = ["metric", "agent", "judge", "value", "low", "high", "interval", "n_tasks", "n_excluded", "excluded_why"]
    return scores.select(columns).sort("metric", "agent", "judge").with_columns(pl.col("value", "low", "high").round(6))


def _draw(scores: pl.DataFrame, folder: Path) -> list[Path]:
    """One panel per metric: agents down the side, one mark with its interval per judge."""
    metrics = scores["metric"].unique(maintain_order=True).to_list()
    judges = scores["judge"].unique(maintain_order=True).to_list()
    agents = scores["agent"].unique().sort(descending=True).to_list()
    figure = new_figure(1, len(metrics), width=1.2 + 3.4 * len(metrics), height=1.4 + 0.45 * len(agents))
    for axes, metric in zip(figure.axes, metrics, strict=True):
        for place, judge in enumerate(judges):
            rows = scores.filter(pl.col("metric") == metric, pl.col("judge") == judge, pl.col("value").is_not_null())
            at = [agents.index(agent) + 0.16 * (place - (len(judges) - 1) / 2) for agent in rows["agent"]]
            values = (100 * rows["value"]).to_numpy()
            low = (100 * rows["low"].fill_null(rows["value"])).to_numpy()
            high = (100 * rows["high"].fill_null(rows["value"])).to_numpy()
            errors = [values - low, high - values]
            axes.errorbar(values, at, xerr=errors, fmt="osD^vP"[place % 6], markersize=4, capsize=2, label=judge)
        axes.set_yticks(range(len(agents)), agents if axes is figure.axes[0] else [""] * len(agents))
        axes.set_title(metric)
        axes.set_xlabel("score x100, 95 % interval")
        axes.grid(axis="x", linewidth=0.4)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize="small", loc="outside lower center", ncols=max(len(judges), 1))
    return write_figure(figure, folder, "backbone_sweep")


def _write_findings(scores: pl.DataFrame, agreement: pl.DataFrame, run: FinishedRun) -> Path:
    """Plain sentences: who leads by whose judgment, and whether the judges rank alike."""
    lines = []
    for (metric, judge), part in scores.group_by("metric", "judge", maintain_order=True):
        ranked = part.drop_nulls("value").sort("value", descending=True)
        order = " > ".join(
            f"{row['agent']} ({format_value(row['value'], row['unit'])})" for row in ranked.iter_rows(named=True)
        )
        lines.append(f"- {metric} by {judge}: {order}")
    lines.append("")
    lines.extend(_agreement_line(row) for row in agreement.iter_rows(named=True))
    return write_findings(run, "Backbone sweep", lines)


def _agreement_line(row: dict[str, Any]) -> str:
    if row["tau"] is None:
        return f"- {row['metric']}: {row['judges']} rank no agents in common."
    tau = bounded(row["tau"], row["low"], row["high"], n=row["tasks"])
    return (
        f"- {row['metric']}: {row['judges']} agree on the order of agents with a mean tau-b of {tau} "
        f"over {row['tasks']} tasks ({row['no_ranking']} without a ranking)."
    )
