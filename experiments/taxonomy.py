"""Taxonomy: which of four verticals does each criterion look at, and do verticals cluster? (DREAM's Table 1, Figure 6.)

Reads a finished run of `metric=verticals` over `dataset=criteria`, where the "agents" are RACE's dimensions. Writes `taxonomy`
(dimension x vertical: share of criteria with interval, and of their weight), `criteria` (every criterion with its vertical and
the reason), `clusters` (silhouette by vertical: are criteria of one vertical worded alike?), `agreement` (kappa of two judges),
a figure and `findings.md`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.errors import InputError, Problem
from dreambench.metrics.item_labels import NO_LABEL
from dreambench.records import short_hash
from dreambench.reporting.finished import FinishedRun
from dreambench.stats.agreement import cohens_kappa
from dreambench.studies.findings import bounded, write_findings
from dreambench.studies.outputs import new_figure, rounded, write_figure, write_table
from dreambench.studies.similarity import in_plane, silhouettes, vectors

VERTICALS = ("presentation_quality", "task_compliance", "analytical_depth", "source_quality")
DRAWN = 600
"""Criteria in the scatter plot and its silhouettes, drawn by their hash where there are more."""


def make(run: FinishedRun) -> Sequence[Path]:
    """All files of the study. Raises InputError for a run without the metric verticals."""
    items = sorted_criteria(run.judgments)
    if items.is_empty():
        fix = "dataset=criteria metric=[verticals]"
        raise InputError(Problem("metric", "the study taxonomy reads the metric verticals over criteria", type=fix))
    table = taxonomy_table(run.scores, items)
    drawn = plane(items.filter(pl.col("judge") == items["judge"][0]))
    clusters = cluster_table(drawn)
    agreement = judge_agreement(items)
    folder = run.output
    tables = {"taxonomy": table, "criteria": items, "clusters": clusters, "agreement": agreement}
    return [
        *[path for name, frame in tables.items() if frame.height for path in write_table(rounded(frame), folder, name)],
        *_draw(table, drawn, folder),
        write_findings(run, "Taxonomy of criteria", _findings(table, clusters, agreement)),
    ]


def sorted_criteria(judgments: pl.DataFrame) -> pl.DataFrame:
    """Every criterion with its vertical: task, dimension, item, criterion, vertical, reason, weight, judge."""
    rows = judgments.filter(pl.col("metric") == "verticals", pl.col("status") == "scored", pl.col("repeat") == 0)
    lines = pl.col("rationale").str.split("\n")
    return rows.select(
        "task",
        "item",
        "weight",
        "judge",
        dimension="agent",
        vertical="label",
        criterion=lines.list.first(),
        reason=lines.list.slice(1).list.join(" "),
    ).sort("judge", "task", "dimension", "criterion")


def taxonomy_table(scores: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """One row per judge, dimension and vertical: pooled share with its interval over tasks, share of weight, criteria."""
    shares = scores.filter(pl.col("metric") == "verticals", pl.col("aggregation") == "micro", pl.col("variant") != "placed")
    shown = shares.select(
        "judge",
        dimension="agent",
        vertical="variant",
        share="value",
        low="low",
        high="high",
        interval="interval",
        tasks="n_tasks",
    )
    counts = items.group_by("judge", "dimension", "vertical").agg(criteria=pl.len(), weight=pl.col("weight").sum())
    counts = counts.with_columns(share_of_weight=pl.col("weight") / pl.col("weight").sum().over("judge", "dimension")).drop(
        "weight"
    )
    joined = shown.join(counts, on=["judge", "dimension", "vertical"], how="left")
    return joined.with_columns(pl.col("criteria", "share_of_weight").fill_null(0)).sort(
        "judge", "dimension", maintain_order=True
    )


def plane(items: pl.DataFrame) -> pl.DataFrame:
    """Criteria with x and y (principal axes of their TF-IDF vectors) and their silhouette, null where there is one vertical."""
    drawn = items.with_columns(lot=pl.col("item").map_elements(lambda name: short_hash("drawn", name), pl.String))
    drawn = drawn.sort("lot").head(DRAWN).drop("lot").sort("task", "dimension", "criterion")
    rows = vectors(drawn["criterion"].to_list())
    flat, labels = in_plane(rows), drawn["vertical"].to_list()
    near = silhouettes(rows, labels) if len(set(labels)) > 1 else [None] * drawn.height
    return drawn.with_columns(x=pl.Series(flat[:, 0]), y=pl.Series(flat[:, 1]), silhouette=pl.Series(near, dtype=pl.Float64))


def cluster_table(drawn: pl.DataFrame) -> pl.DataFrame:
    """Mean silhouette by vertical; about 0 says that wording does not separate it from the others."""
    return drawn.group_by("vertical").agg(criteria=pl.len(), silhouette=pl.col("silhouette").mean()).sort("vertical")


def judge_agreement(items: pl.DataFrame) -> pl.DataFrame:
    """Cohen's kappa of every pair of judges over the criteria that both sorted, clustered by task."""
    rows: list[dict[str, Any]] = []
    for one, other in itertools.combinations(items["judge"].unique(maintain_order=True), 2):
        first, second = (
            items.filter(pl.col("judge") == name).select("task", "dimension", "item", "vertical") for name in (one, other)
        )
        both = first.join(second, on=["task", "dimension", "item"], how="inner", suffix="_other")
        kappa = cohens_kappa(both["vertical"].to_list(), both["vertical_other"].to_list(), clusters=both["task"].to_list())
        found = {"kappa": kappa.value, "low": kappa.low, "high": kappa.high, "equal": kappa.observed, "criteria": kappa.n}
        found["tasks"] = both["task"].n_unique()
        rows.append({"judges": f"{one} / {other}", **found})
    return pl.DataFrame(rows, infer_schema_length=None)


def _draw(table: pl.DataFrame, drawn: pl.DataFrame, folder: Path) -> list[Path]:
    """Shares of verticals by dimension (of the first judge), and the criteria by likeness of their wording."""
    own = table.filter(pl.col("judge") == table["judge"][0])
    dimensions = own["dimension"].unique(maintain_order=True).to_list()
    figure = new_figure(1, 2, width=11, height=4.2)
    bars, dots = figure.axes
    left = [0.0] * len(dimensions)
    for place, vertical in enumerate([*VERTICALS, NO_LABEL]):
        shares = dict(own.filter(pl.col("vertical") == vertical).select("dimension", "share").iter_rows())
        widths = [100 * (shares.get(dimension) or 0.0) for dimension in dimensions]
        bars.barh(dimensions, widths, left=left, color=f"C{place}", label=vertical)
        left = [start + width for start, width in zip(left, widths, strict=True)]
        points = drawn.filter(pl.col("vertical") == vertical)
        dots.scatter(points["x"], points["y"], s=14, color=f"C{place}", marker="osD^v"[place])
    bars.set_xlabel("% of criteria")
    dots.set_title("criteria by likeness of wording")
    dots.set_xticks([])
    dots.set_yticks([])
    figure.legend(*bars.get_legend_handles_labels(), fontsize="small", loc="outside lower center", ncols=5)
    return write_figure(figure, folder, "taxonomy")


def _findings(table: pl.DataFrame, clusters: pl.DataFrame, agreement: pl.DataFrame) -> list[str]:
    lines = []
    for (judge, dimension), part in table.group_by("judge", "dimension", maintain_order=True):
        first = part.sort("share", descending=True, nulls_last=True).row(0, named=True)
        low, high = (None if first[name] is None else 100 * first[name] for name in ("low", "high"))
        share = bounded(100 * (first["share"] or 0.0), low, high, digits=0, n=first["tasks"])
        lines.append(f"- {dimension} by {judge}: {share} % of {part['criteria'].sum()} criteria look at {first['vertical']}.")
    for row in clusters.iter_rows(named=True):
        near = bounded(row["silhouette"], None, None, n=None)
        lines.append(f"- {row['vertical']}: {row['criteria']} criteria drawn, mean silhouette of their wording {near}.")
    for row in agreement.iter_rows(named=True):
        kappa = bounded(row["kappa"], row["low"], row["high"], n=row["tasks"])
        lines.append(
            f"- {row['judges']} agree on {100 * (row['equal'] or 0):.0f} % of {row['criteria']} criteria, kappa {kappa}."
        )
    return lines
