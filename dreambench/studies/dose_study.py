"""What every dose study writes: its table, the means behind its figure, what was really planted, the figure, the findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.reporting.finished import FinishedRun
from dreambench.stats.multiple import adjust_column
from dreambench.stats.paired import paired_difference
from dreambench.studies.dose_figures import draw_doses
from dreambench.studies.dose_tables import SERIES, dose_means, labelled, planted, responses, series
from dreambench.studies.findings import bounded, write_findings
from dreambench.studies.outputs import rounded, write_table

SEED = 0
TABLE = [
    *SERIES, "n_tasks", "n_reports", "lost", "clean", "full", "shift", "shift_low", "shift_high", "relative", "slope",
    "slope_low", "slope_high", "p", "p_holm", "auc", "auc_low", "auc_high", "monotone", "page_p", "smallest_dose", "method",
    "reason",
]  # fmt: skip
"""Columns of a dose study's table; `dose_tables.response` says what they are, p_holm is p over all rows of the table."""


def write_dose_study(
    run: FinishedRun, name: str, title: str, *, shown: pl.Expr, focus: str, extra: Sequence[str] = ()
) -> list[Path]:
    """Writes the study `name`: curves of the values that `shown` selects, and `focus` (a metric label) against the others.

    `extra` lines are put at the end of the findings. A run without `focus` is no error: the findings then say that there is
    nothing to compare.
    """
    values = labelled(run.report_scores.filter(shown & (pl.col("unit") == "share")))
    found = adjusted(responses(values, seed=SEED))
    against = contrasts(values, focus)
    means = dose_means(values, seed=SEED)
    arms = planted(run.folder.perturbed)
    folder = run.output
    lines = [
        *(response_line(row) for row in found.iter_rows(named=True)),
        "",
        *contrast_lines(against, focus),
        "",
        *(planted_line(row) for row in arms.iter_rows(named=True)),
        *(["", *extra] if extra else []),
    ]
    return [
        *write_table(rounded(found.select(TABLE)), folder, name),
        *write_table(rounded(means), folder, f"{name}_means"),
        *write_table(rounded(against), folder, f"{name}_contrasts"),
        *write_table(rounded(arms), folder, "planted"),
        *draw_doses(means, folder, name),
        write_findings(run, title, lines),
    ]


def adjusted(found: pl.DataFrame) -> pl.DataFrame:
    """The responses with `p_holm`: p adjusted over all of them (Holm)."""
    return adjust_column(found).rename({"p_adjusted": "p_holm"})


def relative_changes(values: pl.DataFrame) -> pl.DataFrame:
    """Change at the largest dose as a share of the metric's mean clean score, per task: SERIES, task, change.

    Divided by the mean over tasks, not by each task's own score: that of a task near 0 would drown all others.
    """
    rows = []
    for keys, curve in series(values):
        top = curve["dose"].max()
        wide = curve.filter(pl.col("dose").is_in([0.0, top])).pivot(on="dose", index=["task", "report"], values="value")
        clean, full = "0.0", str(top)
        if clean not in wide.columns:
            continue
        tasks = wide.drop_nulls([clean, full]).group_by("task", maintain_order=True).agg(pl.col(clean, full).mean())
        changes = tasks.filter(pl.col(clean).mean() > 0).with_columns(
            change=(pl.col(full) - pl.col(clean)) / pl.col(clean).mean()
        )
        rows.append(changes.select(*(pl.lit(value).alias(key) for key, value in keys.items()), "task", "change"))
    schema = {**dict.fromkeys([*SERIES, "task"], pl.String), "change": pl.Float64}
    return pl.concat(rows) if rows else pl.DataFrame(schema=schema)


def contrasts(values: pl.DataFrame, focus: str) -> pl.DataFrame:
    """Does `focus` lose more of its score than each other metric (not its own variants)? Paired over tasks.

    One row per judge, arm and other metric. `difference` is the relative change of focus minus that of the other; -0.3: focus
    loses 30 % of its score more than the other does of its own.
    """
    changes = relative_changes(values)
    rows = []
    for (judge, perturbation), part in changes.group_by("judge", "perturbation", maintain_order=True):
        mine = part.filter(pl.col("metric") == focus)
        others = part.filter(pl.col("metric") != focus, ~pl.col("metric").str.starts_with(f"{focus} "))
        for (metric,), other in others.group_by("metric", maintain_order=True) if mine.height else ():
            both = mine.join(other, on="task")
            found = paired_difference(both["change"], both["change_right"], seed=SEED)
            keys = {"judge": judge, "perturbation": perturbation, "focus": focus, "other": metric}
            ours, theirs = both["change"].mean(), both["change_right"].mean()
            numbers = {"difference": found.value, "low": found.low, "high": found.high, "p": found.p, "n_tasks": found.n}
            rows.append({**keys, "focus_change": ours, "other_change": theirs, **numbers, "reason": found.reason})
    columns = ["judge", "perturbation", "focus", "other"]
    floats = ["focus_change", "other_change", "difference", "low", "high", "p"]
    schema = {**dict.fromkeys(columns, pl.String), **dict.fromkeys(floats, pl.Float64)}
    return pl.DataFrame(rows, schema={**schema, "n_tasks": pl.Int64, "reason": pl.String})


def response_line(row: dict[str, Any]) -> str:
    """One sentence on one curve."""
    what = f"- {row['metric']} by {row['judge']}, {row['perturbation']}:"
    if row["shift"] is None:
        return f"{what} no report has a score at full dose ({row['lost']} lose theirs); {row['reason']}."
    shift = points(row, "shift", "shift_low", "shift_high")
    share = "" if row["relative"] is None else f" ({100 * row['relative']:+.0f} %)"
    verb = "does not move" if abs(row["shift"]) < 1e-9 else "falls" if row["shift"] < 0 else "rises"
    ends = f"from {100 * row['clean']:.1f} to {100 * row['full']:.1f}, a change of {shift}{share} over {row['n_tasks']} tasks"
    slope = (
        ""
        if row["p"] is None
        else f"; slope {bounded(row['slope'], row['slope_low'], row['slope_high'], n=row['n_tasks'])}, p = {row['p']:.2g}"
    )
    if row.get("p_holm") is not None:
        slope += f" (Holm {row['p_holm']:.2g})"
    apart = f"; AUC {bounded(row['auc'], row['auc_low'], row['auc_high'], n=row['n_tasks'])}"
    least = "no dose" if row["smallest_dose"] is None else f"dose {row['smallest_dose']:g} and above"
    seen = f"; found with power .8 at {least}"
    lost = f"; {row['lost']} reports lose their score" if row["lost"] else ""
    return f"{what} {verb} {ends}{slope}{apart}{seen}{lost}."


def contrast_lines(against: pl.DataFrame, focus: str) -> list[str]:
    """Sentences on whether `focus` loses more than the others; one that says so when there is nothing to compare."""
    if against.is_empty():
        return [f"- There is nothing to compare: the run has no {focus}, or no other metric beside it, on the same reports."]
    lines = []
    for row in against.iter_rows(named=True):
        loses = "more" if (row["difference"] or 0) < 0 else "less"
        told = points(row, "difference", "low", "high")
        sure = row["p"] is not None and row["p"] < 0.05
        heads = f"- {row['judge']}, {row['perturbation']}: {focus} changes by {_percent(row['focus_change'])} of its score, "
        verdict = f"it loses {loses}" if sure else "which of them loses more cannot be told from these tasks"
        p = "" if row["p"] is None else f", p = {row['p']:.2g}"
        ends = f"{row['other']} by {_percent(row['other_change'])}; difference {told} points{p}: {verdict}."
        lines.append(heads + ends)
    return lines


def points(row: Mapping[str, Any], value: str, low: str, high: str) -> str:
    """Three columns of a row as points of 100: -12.3 [-15.0, -9.6]; "none" when undefined."""
    scaled = [None if row[name] is None else 100 * row[name] for name in (value, low, high)]
    return bounded(scaled[0], scaled[1], scaled[2], 1, n=row.get("n_tasks"))


def planted_line(row: dict[str, Any]) -> str:
    """One sentence on what an arm really changed."""
    none = f"; in {row['unchanged']} nothing could be changed" if row["unchanged"] else ""
    return (
        f"- {row['perturbation']} at dose {row['dose']:g}: {row['changed']} of {row['eligible']} eligible units changed "
        f"in {row['reports']} reports{none}."
    )


def _percent(value: float | None) -> str:
    return "nothing known" if value is None else f"{100 * value:+.0f} %"
