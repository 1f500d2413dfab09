"""Batching: all of a report's facts in one call against each in a call of its own. What is saved, and what changes?

Reads a finished run in which KIC was asked both ways. Writes `batching_agreement` (one row per judge and wording: agreement
of labels with kappa, turned labels with McNemar's test, shift of scores, calls and tokens a report), `turned` (every fact
whose label changed), a figure and `findings.md`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.reporting.finished import FinishedRun
from dreambench.stats.agreement import cohens_kappa
from dreambench.stats.binary import mcnemar_counts
from dreambench.studies.findings import bounded, write_findings
from dreambench.studies.outputs import rounded, write_table
from dreambench.studies.panels import interval_panels
from dreambench.studies.scored_twice import both_sides, calls_per_report, judged, reads_wording, shift

SINGLE = "+one_by_one"
ITEM = ["task", "agent", "report", "perturbation", "item", "repeat"]


def make(run: FinishedRun) -> Sequence[Path]:
    """All files of the study, in the order in which they are written."""
    rows, turned = [], []
    calls = calls_per_report(run, ["metric", "judge", "rubric"])
    values = judged(run.report_scores)
    for keys, labels in pairs_of_labels(run.judgments):
        rows.append({**keys, **agreement(labels), **_scores(values, keys), **_saved(calls, keys)})
        turned.append(
            labels.filter(pl.col("batched") != pl.col("single")).select(
                *(pl.lit(v).alias(k) for k, v in keys.items()), pl.all()
            )
        )
    table = pl.DataFrame(rows, infer_schema_length=None)
    folder = run.output
    written = write_table(rounded(table), folder, "batching_agreement") if rows else []
    if turned:
        written += write_table(pl.concat(turned), folder, "turned")
    return [*written, *_draw(calls, folder), write_findings(run, "Batching", _findings(table, run))]


def pairs_of_labels(judgments: pl.DataFrame) -> Iterator[tuple[dict[str, str], pl.DataFrame]]:
    """For each metric, judge and wording that was asked both ways: one row per fact with its label of each way."""
    wording = pl.col("rubric").str.strip_suffix(SINGLE)
    rows = judgments.filter(pl.col("status") == "scored").with_columns(
        wording=wording, way=pl.when(pl.col("rubric").str.ends_with(SINGLE)).then(pl.lit("single")).otherwise(pl.lit("batched"))
    )
    names = ["metric", "judge", "wording"]
    for keys, part in rows.group_by(names, maintain_order=True):
        if part["way"].n_unique() < 2:
            continue
        one, other = (
            part.filter(pl.col("way") == way).select(*ITEM, pl.col("label").alias(way)) for way in ("batched", "single")
        )
        yield dict(zip(names, map(str, keys), strict=True)), one.join(other, on=ITEM, how="inner").sort(ITEM)


def agreement(labels: pl.DataFrame) -> dict[str, Any]:
    """Share of equal labels, Cohen's kappa clustered by task, labels turned each way and McNemar's p (facts as units)."""
    kappa = cohens_kappa(labels["batched"].to_list(), labels["single"].to_list(), clusters=labels["task"].to_list())
    gained = labels.filter(pl.col("batched") == "no", pl.col("single") == "yes").height
    lost = labels.filter(pl.col("batched") == "yes", pl.col("single") == "no").height
    return {
        "facts": labels.height,
        "equal": kappa.observed,
        "kappa": kappa.value,
        "kappa_low": kappa.low,
        "kappa_high": kappa.high,
        "yes_only_single": gained,
        "yes_only_batched": lost,
        "mcnemar_p": mcnemar_counts(gained, lost).p,
    }


def _scores(values: pl.DataFrame, keys: dict[str, str]) -> dict[str, Any]:
    own = values.filter(pl.col("metric") == keys["metric"], pl.col("judge") == keys["judge"])
    moved = shift(both_sides(own, "rubric", keys["wording"], keys["wording"] + SINGLE))
    return {"shift": moved.value, "shift_low": moved.low, "shift_high": moved.high, "shift_p": moved.p, "tasks": moved.n}


def _saved(calls: pl.DataFrame, keys: dict[str, str]) -> dict[str, Any]:
    """Calls, tokens and dollars a report of both ways; tokens saved are a share of those asked one by one."""
    own = calls.filter(pl.col("metric") == keys["metric"], pl.col("judge") == keys["judge"])
    (batched,) = own.filter(pl.col("rubric") == keys["wording"]).iter_rows(named=True)
    (single,) = own.filter(pl.col("rubric") == keys["wording"] + SINGLE).iter_rows(named=True)
    both = {
        f"{name}_{way}": row[name]
        for name in ("calls", "tokens", "cost")
        for way, row in (("batched", batched), ("single", single))
    }
    return {**both, **{f"{name}_saved": _share(batched[name], single[name]) for name in ("calls", "tokens")}}


def _share(batched: float, single: float) -> float | None:
    return 1 - batched / single if single else None


def _draw(calls: pl.DataFrame, folder: Path) -> list[Path]:
    long = calls.unpivot(["calls", "tokens"], index=["metric", "judge", "rubric"], variable_name="what", value_name="value")
    empty = pl.lit(None, pl.Float64)
    shown = long.with_columns(
        pl.col("value").cast(pl.Float64), low=empty, high=empty, way=pl.format("{} {}", "metric", "rubric")
    )
    return interval_panels(shown, folder, "batching_agreement", panel="what", row="way", series="judge", label="a report")


def _findings(table: pl.DataFrame, run: FinishedRun) -> list[str]:
    if table.is_empty():
        return ["- No metric was asked both ways: set metric.kic.batched=[true,false]."]
    return [line for row in table.iter_rows(named=True) for line in _lines(row, run)]


def _lines(row: dict[str, Any], run: FinishedRun) -> list[str]:
    who = f"- {row['metric']} by {row['judge']} ({row['wording']})"
    kappa = bounded(row["kappa"], row["kappa_low"], row["kappa_high"], n=row["tasks"])
    tokens = (
        "tokens are not counted for this judge"
        if row["tokens_saved"] is None
        else f"{100 * row['tokens_saved']:.0f} % of tokens"
    )
    lines = [
        f"{who}: batching saves {100 * (row['calls_saved'] or 0):.0f} % of calls "
        f"({row['calls_batched']:g} instead of {row['calls_single']:g} a report); {tokens}.",
        f"{who}: {100 * row['equal']:.1f} % of {row['facts']} labels are equal, kappa {kappa}; one by one says yes "
        f"{row['yes_only_single']} times where the batch says no, and no {row['yes_only_batched']} times where it says yes.",
    ]
    if not reads_wording(run, row["judge"]):
        lines.append(f"{who}: this judge answers by rules, every fact on its own in both ways, so equal labels are no finding.")
    return lines
