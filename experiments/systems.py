"""Scores of other benchmarks' metrics on one run: one row per metric, variant, agent and judge, never mixed across judges.

Reads a finished run. Writes `systems` (macro and, where it means something, pooled values with intervals, how much was scored
and left out and why, and what a reader must know of the judge), and `findings.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from dreambench.metrics.deepconsult.votes import DIMENSIONS, NET, overall_net_win_rate
from dreambench.reporting.finished import FinishedRun
from dreambench.reporting.tables import format_cell
from dreambench.runs.assembly import CLEAN
from dreambench.studies.findings import write_findings
from dreambench.studies.outputs import write_table

COLUMNS = [
    "metric",
    "rubric",
    "variant",
    "primary",
    "agent",
    "judge",
    "aggregation",
    "unit",
    "value",
    "low",
    "high",
    "interval",
    "n_tasks",
    "n_items",
    "n_excluded",
    "excluded_why",
]


def make(run: FinishedRun) -> Sequence[Path]:
    """All files of the study, in the order in which they are written."""
    scores = run.scores.filter(pl.col("perturbation") == CLEAN)
    return [*write_table(_shown(scores, run), run.output, "systems"), write_findings(run, "Other systems", _lines(scores))]


def _shown(scores: pl.DataFrame, run: FinishedRun) -> pl.DataFrame:
    notes = {name: judge["note"] for name, judge in run.summary["judges"].items()}
    table = scores.select(COLUMNS).sort("metric", "rubric", "judge", "variant", "agent", "aggregation")
    rounded = table.with_columns(pl.col("value", "low", "high").round(6))
    return rounded.with_columns(judge_note=pl.col("judge").replace_strict(notes, default=""))


def _lines(scores: pl.DataFrame) -> list[str]:
    """One sentence per metric and judge: the agents by the primary variant."""
    lines = []
    led = scores.filter(pl.col("primary"), pl.col("aggregation") == "macro")
    for (metric, rubric, judge), part in led.group_by("metric", "rubric", "judge", maintain_order=True):
        ranked = part.sort("value", descending=True, nulls_last=True)
        order = "; ".join(f"{row['agent']} {format_cell(row)}" for row in ranked.iter_rows(named=True))
        label = f"{metric}[{rubric}]" if rubric not in ("", "default") else metric
        lines.append(f"- {label} ({part['variant'][0]}) by {judge}: {order}")
    return lines + _published_win_rates(scores)


def _published_win_rates(scores: pl.DataFrame) -> list[str]:
    """DeepConsult's overall net win rate is a mean of its dimensions' rates, which no single pooled ratio gives."""
    lines = []
    pooled = scores.filter(pl.col("metric") == "deepconsult", pl.col("aggregation") == "micro")
    for (agent, judge), part in pooled.group_by("agent", "judge", maintain_order=True):
        rates = dict(part.select("variant", "value").iter_rows())
        overall = overall_net_win_rate({dimension: rates.get(f"{dimension}_{NET}") for dimension in DIMENSIONS})
        if overall is not None:
            lines.append(f"- deepconsult overall net win rate of {agent} by {judge}, as published: {100 * overall:.2f}")
    return lines
