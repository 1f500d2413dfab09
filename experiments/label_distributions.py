"""Label distributions: what the verdicts on claims and citations are, per agent and judge (DREAM's Figures 7, 8 and 9).

Reads a finished run with `factuality`, `ci` or both. Writes `factuality_labels` and `citation_labels` (one row per judge,
agent and label: its share, a mean over tasks with interval, and its number), `citation_integrity` (one row per judge and
agent: CA, CF and CI), `label_distributions.svg/.png` (stacked bars; CA and CF side by side), and `findings.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from dreambench.errors import ConfigError, Problem
from dreambench.reporting.finished import FinishedRun
from dreambench.runs.assembly import CLEAN
from dreambench.studies.findings import write_findings
from dreambench.studies.outputs import new_figure, write_figure, write_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PREFIX = "label_"
COLOURS = {
    "supported": "#2c7fb8",
    "partially_supported": "#7fcdbb",
    "neutral": "#969696",
    "contradicted": "#d95f0e",
    "unverifiable": "#dddddd",
}
PARTS = {"ca": "CA", "cf": "CF", "harmonic": "CI"}
FIGURES = {"factuality": ("factuality_labels", "Factuality labels"), "ci": ("citation_labels", "Citation labels")}


def make(run: FinishedRun) -> Sequence[Path]:
    """All files of the study, in the order in which they are written. Raises ConfigError where no metric gives labels."""
    scores = run.scores.filter(pl.col("perturbation") == CLEAN, pl.col("aggregation") == "macro")
    tables = {metric: label_table(scores, run.judgments, metric) for metric in FIGURES}
    tables = {metric: table for metric, table in tables.items() if not table.is_empty()}
    if not tables:
        what = "shows the labels of claims, and no metric of the run gives any"
        raise ConfigError(Problem("study=label_distributions", what, sorted(FIGURES), "metric=[factuality,ci]"))
    parts = parts_table(scores)
    written = [path for metric, table in tables.items() for path in write_table(table, run.output, FIGURES[metric][0])]
    written += write_table(parts, run.output, "citation_integrity") if not parts.is_empty() else []
    written += draw(tables, parts, run.output)
    return [*written, write_findings(run, "Label distributions", findings(tables, parts))]


def label_table(scores: pl.DataFrame, items: pl.DataFrame, metric: str) -> pl.DataFrame:
    """One row per judge, agent and label, labels in the metric's order: mean share over tasks, interval, claims."""
    shares = scores.filter(pl.col("metric") == metric, pl.col("variant").str.starts_with(PREFIX)).with_columns(
        label=pl.col("variant").str.strip_prefix(PREFIX)
    )
    keys = ["judge", "rubric", "agent", "label"]
    claims = items.filter(
        pl.col("metric") == metric,
        pl.col("perturbation") == CLEAN,
        pl.col("family") == "claim",
        pl.col("status") == "scored",
    )
    counted = claims.group_by(keys).agg(claims=pl.len())
    table = shares.join(counted, on=keys, how="left", maintain_order="left")
    return table.select(
        "judge",
        "rubric",
        "agent",
        "label",
        pl.col("value").round(6).alias("share"),
        pl.col("low", "high").round(6),
        pl.col("claims").fill_null(0),
        "n_tasks",
        "n_excluded",
    )


def parts_table(scores: pl.DataFrame) -> pl.DataFrame:
    """One row per judge and agent: CA, CF and CI (from the means of both), each with its interval."""
    rows = scores.filter(pl.col("metric") == "ci", pl.col("variant").is_in(list(PARTS)))
    table: list[dict[str, Any]] = []
    for (judge, rubric, agent), part in rows.group_by("judge", "rubric", "agent", maintain_order=True):
        row: dict[str, Any] = {"judge": judge, "rubric": rubric, "agent": agent}
        values = {one["variant"]: one for one in part.iter_rows(named=True)}
        for variant, name in PARTS.items():
            for column, ending in (("value", ""), ("low", "_low"), ("high", "_high")):
                row[name + ending] = _rounded(values[variant][column])
        table.append({**row, "n_tasks": values["ca"]["n_tasks"]})
    return pl.DataFrame(table)


def findings(tables: dict[str, pl.DataFrame], parts: pl.DataFrame) -> list[str]:
    """Plain sentences, every number from the tables."""
    lines: list[str] = []
    for metric, table in tables.items():
        lines += [*([""] if lines else []), f"## {FIGURES[metric][1]}", ""]
        for (judge, rubric, agent), part in table.group_by("judge", "rubric", "agent", maintain_order=True):
            said = [f"{row['label']} {_percent(row['share'])}" for row in part.iter_rows(named=True)]
            lines.append(f"- {agent} by {_asked(judge, rubric)}: {', '.join(said)} ({int(part['claims'].sum())} claims).")
    if not parts.is_empty():
        lines += ["", "## Citation Integrity", ""]
        for row in parts.iter_rows(named=True):
            values = ", ".join(f"{name} {_percent(row[name])}" for name in PARTS.values())
            lines.append(f"- {row['agent']} by {_asked(row['judge'], row['rubric'])}: {values}; {_held_down(row)}.")
    return lines


def _held_down(row: dict[str, Any]) -> str:
    """Which of its parts holds CI down."""
    if row["CA"] is None or row["CF"] is None:
        return "one of its parts has no value"
    if row["CA"] == row["CF"]:
        return "both parts are alike"
    return "attribution holds it down" if row["CA"] < row["CF"] else "what the cited pages say holds it down"


def draw(tables: dict[str, pl.DataFrame], parts: pl.DataFrame, folder: Path) -> list[Path]:
    """A panel of stacked bars per metric, and one with CA and CF side by side; judges and agents down the side."""
    panels = len(tables) + (not parts.is_empty())
    bars = max(table.select("judge", "rubric", "agent").n_unique() for table in tables.values())
    figure = new_figure(1, panels, width=2.0 + 3.6 * panels, height=1.6 + 0.4 * bars)
    for axes, (metric, table) in zip(figure.axes, tables.items(), strict=False):
        _stack(axes, table)
        axes.set_title(FIGURES[metric][1])
    if not parts.is_empty():
        _side_by_side(figure.axes[-1], parts)
    handles = {label: handle for axes in figure.axes for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), fontsize="small", loc="outside lower center", ncols=max(len(handles), 1))
    return write_figure(figure, folder, "label_distributions")


def _stack(axes: Axes, table: pl.DataFrame) -> None:
    names: list[str] = []
    for (judge, rubric, agent), part in table.group_by("judge", "rubric", "agent", maintain_order=True):
        left = 0.0
        for row in part.iter_rows(named=True):
            width = 100 * (row["share"] or 0.0)
            colour = COLOURS.get(row["label"], "#756bb1")
            axes.barh(len(names), width, left=left, color=colour, edgecolor="white", label=row["label"])
            left += width
        names.append(f"{agent}, {_asked(judge, rubric)}")
    _finish(axes, names, "share of claims, %, mean over tasks")


def _side_by_side(axes: Axes, parts: pl.DataFrame) -> None:
    names = []
    for place, row in enumerate(parts.iter_rows(named=True)):
        axes.barh(place - 0.2, 100 * (row["CA"] or 0.0), height=0.36, color="#756bb1", label="CA")
        axes.barh(place + 0.2, 100 * (row["CF"] or 0.0), height=0.36, color="#bcbddc", label="CF")
        names.append(f"{row['agent']}, {_asked(row['judge'], row['rubric'])}")
    axes.set_title("Parts of Citation Integrity")
    _finish(axes, names, "x100")


def _finish(axes: Axes, names: Sequence[str], label: str) -> None:
    axes.set_yticks(range(len(names)), names, fontsize="small")
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel(label)


def _asked(judge: Any, rubric: Any) -> str:
    return str(judge) if rubric in ("", "default") else f"{judge} [{rubric}]"


def _percent(value: float | None) -> str:
    return "no value" if value is None else f"{100 * value:.1f} %"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
