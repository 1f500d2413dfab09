"""People and judges on the same cells: a stratified sample to label, and how far the labels agree, by answer type.

The sheet is a CSV with the columns run, task, agent, item, cell, type, tier, reason_code, rationale, and two to fill in:
`human_tier` (1, 0.5, 0.25, 0) and, for failing cells, `human_mode`. Its rows are drawn by a hash of seed and cell, as many of
each type as its share asks for, at least one: the same seed draws the same cells.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.datasets.files import check_exists, rows
from dreambench.datasets.problems import Problems
from dreambench.judges.kinds.failure_modes import MODES
from dreambench.metrics.deepweb.model import TIERS, AnswerType, Family
from dreambench.stats.agreement import Kappa, cohens_kappa

SHEET = ("run", "task", "agent", "item", "cell", "type", "tier", "reason_code", "mode", "rationale", "human_tier", "human_mode")
LABELS = [f"{tier:g}" for tier in TIERS]
_HEAD = re.compile(r"^(?P<cell>.+?) \((?P<type>precise|range|not_available|untyped)\): ")


def typed_cells(judgments: pl.DataFrame) -> pl.DataFrame:
    """The scored cells of a run's item table with their `cell`, answer `type` and `mode` (null: not failing, or not asked)."""
    own = judgments.filter(pl.col("metric") == "deepweb", pl.col("perturbation") == "clean", pl.col("repeat") == 0)
    head = [
        pl.col("rationale").str.extract(_HEAD.pattern.replace("?P<cell>", ""), 1).alias("cell"),
        pl.col("rationale").str.extract(_HEAD.pattern.replace("?P<type>", "").replace("?P<cell>", ""), 2).alias("type"),
    ]
    families = [family.value for family in Family]
    cells = own.filter(pl.col("family").is_in(families), pl.col("status") == "scored").with_columns(head)
    modes = own.filter(pl.col("family") == "failure", pl.col("status") == "scored").with_columns(head)
    keys = ["task", "report", "judge", "rubric", "cell"]
    return cells.join(modes.select(*keys, pl.col("label").alias("mode")), on=keys, how="left")


def draw_sample(cells: pl.DataFrame, size: int, seed: int = 0) -> pl.DataFrame:
    """About `size` cells, of every answer type its share; `cells` is what `typed_cells` gives."""
    parts = []
    for (_,), part in cells.group_by("type", maintain_order=True):
        share = max(1, round(size * part.height / max(cells.height, 1)))
        lots = [_lot(seed, *row) for row in part.select("task", "agent", "judge", "item").iter_rows()]
        parts.append(part.with_columns(lot=pl.Series(lots, dtype=pl.String)).sort("lot").head(share).drop("lot"))
    return pl.concat(parts) if parts else cells


def write_sheet(sample: pl.DataFrame, path: Path) -> Path:
    """Writes the sheet for a labeller; the judge's tier and mode are in it, so hide these columns for a blind check."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(SHEET)
        for row in sample.iter_rows(named=True):
            known = {**row, "tier": row["label"], "human_tier": "", "human_mode": ""}
            writer.writerow(["" if known[name] is None else known[name] for name in SHEET])
    return path


def read_sheet(path: Path) -> list[Mapping[str, Any]]:
    """The labelled rows of a sheet. Raises DatasetError for labels that are no tier or mode, with their lines."""
    problems = Problems()
    found = []
    if check_exists(path, "study_inputs.sheet", problems):
        for row in rows(path, problems):
            tier, mode = row.label("human_tier"), row.label("human_mode")
            if tier and tier not in LABELS:
                problems.add(path, row.line, f"human_tier is {tier!r}", LABELS)
            if mode and mode not in MODES:
                problems.add(path, row.line, f"human_mode is {mode!r}", MODES)
            if row.label("type") not in {kind.value for kind in AnswerType} | {"untyped"}:
                problems.add(path, row.line, f"type is {row.label('type')!r}", [kind.value for kind in AnswerType])
            found.append(row.values)
    problems.check()
    return found


def agreement(sheet: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Cohen's kappa of judge and person on tiers: all, and by answer type; on modes of failing cells: all."""
    found = []
    for kind in ["all", *AnswerType]:
        own = [row for row in sheet if row["human_tier"] and kind in ("all", row["type"])]
        if own:
            pairs = ([row["tier"] for row in own], [row["human_tier"] for row in own])
            found.append(_kappa("tier", str(kind), cohens_kappa(*pairs, clusters=[row["task"] for row in own])))
    modes = [row for row in sheet if row.get("human_mode") and row.get("mode")]
    if modes:
        pairs = ([row["mode"] for row in modes], [row["human_mode"] for row in modes])
        found.append(_kappa("mode", "all", cohens_kappa(*pairs, clusters=[row["task"] for row in modes])))
    return found


def _kappa(what: str, kind: str, estimate: Kappa) -> dict[str, Any]:
    return {
        "labels": what, "type": kind, "cells": estimate.n, "kappa": estimate.value, "low": estimate.low, "high": estimate.high,
        "reason": estimate.reason,
    }  # fmt: skip


def _lot(seed: int, *parts: str) -> str:
    return hashlib.sha256("\x00".join([str(seed), *map(str, parts)]).encode()).hexdigest()
