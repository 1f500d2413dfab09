"""Rubric ablation: how much of a score is the question's wording, order, scale or batching?

Reads a finished run whose metrics were asked in several ways. Every way is compared with its metric's reference way on the
same reports: `rubric_ablation` (one row per metric, judge and way: score, paired shift, agreement of rankings, items that
changed, calls), a figure of the shifts, and `findings.md`.

Axes: `wording` (terse), `order` (report_last: the question before the report; RACE's reference_first and both), `scale`
(scale10, scale5), `batching` (one_by_one), `mode` (RACE's compatible). Judges that answer by rules read none of a rubric's
words and take every item on its own: `read` says for every row whether its judge could see the difference at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.reporting.finished import FinishedRun
from dreambench.studies.findings import bounded, write_findings
from dreambench.studies.outputs import rounded, write_table
from dreambench.studies.panels import interval_panels
from dreambench.studies.rubric_variants import REFERENCE, compare_ways
from dreambench.studies.scored_twice import calls_per_report, judged, reads_wording

WORDS = frozenset({"wording", "order", "batching"})
"""Axes that cannot move a judge that answers by rules: they lie in a rubric's words, or it takes every item on its own."""


def make(run: FinishedRun) -> Sequence[Path]:
    """All files of the study, in the order in which they are written."""
    table = compare_ways(judged(run.report_scores), run.judgments)
    table = table.with_columns(read=pl.struct("judge", "axis").map_elements(lambda row: _read(run, row), pl.String))
    table = table.join(calls_per_report(run, ["metric", "rubric", "judge"]).drop("reports"), on=["metric", "rubric", "judge"])
    table = table.sort("metric", "judge", pl.col("axis") != REFERENCE, "axis", "rubric")
    folder = run.output
    return [
        *write_table(rounded(table), folder, "rubric_ablation"),
        *_draw(table, folder),
        write_findings(run, "Rubric ablation", _findings(table)),
    ]


def _read(run: FinishedRun, row: dict[str, str]) -> str:
    if row["axis"] == REFERENCE:
        return ""
    axes = row["axis"].split("+")
    unread = [axis for axis in axes if axis in WORDS]
    if not unread or reads_wording(run, row["judge"]):
        return "yes"
    return f"{'no' if unread == axes else 'partly'}: answers by rules, {' and '.join(unread)} cannot matter"


def _draw(table: pl.DataFrame, folder: Path) -> list[Path]:
    shown = table.filter(pl.col("axis") != REFERENCE).select(
        "metric", "judge", way=pl.format("{} ({})", "rubric", "axis"), value="shift", low="shift_low", high="shift_high"
    )
    label = "shift against the reference, x100"
    return interval_panels(shown, folder, "rubric_ablation", panel="metric", row="way", series="judge", label=label, scale=100)


def _findings(table: pl.DataFrame) -> list[str]:
    lines = [_line(row) for row in table.filter(pl.col("axis") != REFERENCE).iter_rows(named=True)]
    return lines or ["- Every metric was asked in one way only: there is nothing to compare."]


def _line(row: dict[str, Any]) -> str:
    what = f"- {row['metric']} by {row['judge']}, {row['rubric']} ({row['axis']})"
    if row["read"].startswith("no"):
        return f"{what}: says nothing, because the judge {row['read'].removeprefix('no: ')}."
    if row["shift"] is None:
        return f"{what}: no report was scored in both ways."
    low, high = (None if row[name] is None else 100 * row[name] for name in ("shift_low", "shift_high"))
    p = "" if row["p_adjusted"] is None else f", Holm p {row['p_adjusted']:.3f}"
    tau = bounded(row["tau"], row["tau_low"], row["tau_high"], n=row["tasks"])
    changed = "no item in common" if row["changed"] is None else f"{100 * row['changed']:.0f} % of {row['items']} items changed"
    return (
        f"{what}: shifts scores by {bounded(100 * row['shift'], low, high, n=row['tasks'])} points "
        f"over {row['tasks']} tasks{p}; "
        f"tau-b of the order of agents {tau}; {changed}; {row['calls']:g} calls a report."
    )
