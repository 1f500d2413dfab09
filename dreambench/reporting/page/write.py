"""Puts a run's data, plots, style and script into one HTML file that loads nothing else and works without a server."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.reporting.meanings import meanings
from dreambench.reporting.page import plots
from dreambench.reporting.page.data import PageData, arm_label, packed
from dreambench.reporting.shifts import shift_scores
from dreambench.reporting.tables import (
    LEGEND,
    SHIFT,
    TOO_FEW,
    excluded_lines,
    format_cell,
    format_shift,
    shown_scores,
    undecided_lines,
)
from dreambench.runs.assembly import CLEAN, CODE
from dreambench.runs.folder import RunFolder, write_text
from dreambench.stats.few import FEW_TASKS, FEWEST_TASKS

Cell = Callable[[Mapping[str, Any]], str]
"""How a row of scores reads in a table."""


def write_page(folder: RunFolder) -> Path:
    """Writes `report.html` of a run from its tables and returns its path. Equal tables give equal bytes."""
    from jinja2 import Environment, StrictUndefined

    data = PageData(folder)
    script, style = _asset("page.js"), _asset("page.css")
    template = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True).from_string(
        _asset("page.html.j2")
    )
    html = template.render(
        run=data.summary,
        script=script,
        script_hash=_hash(script),
        style=style,
        style_hash=_hash(style),
        index=packed(data.index()),
        chunks=data.chunks(),
        tables=score_blocks(data.scores),
        forest=plots.forest(data.scores),
        labels=plots.labels(data.judgments),
        doses=plots.doses(data.scores),
        costs=data.costs().rows(named=True),
        trouble=_trouble(data.judgments),
        undecided=undecided_lines(data.scores),
        excluded=excluded_lines(data.scores),
        meanings=meanings(data.judgments["label"].unique()),
        few=FEW_TASKS,
        fewest=FEWEST_TASKS,
        too_few=TOO_FEW,
        legend=LEGEND,
        shift=SHIFT,
        shifts=score_blocks(shift_scores(data.report_scores), format_shift),
    )
    write_text(folder.page, html)
    return folder.page


def score_blocks(scores: pl.DataFrame, cell: Cell = format_cell) -> list[dict[str, Any]]:
    """One block per judge, and per metric that code counts: title, columns, rows of cells. Changed texts have their own."""
    shown = shown_scores(scores).with_columns(
        arm=arm_label(),
        block=pl.when(pl.col("judge") == CODE).then(pl.format("{}, counted by code", "metric")).otherwise("judge"),
        column=pl.when(pl.col("judge") == CODE)
        .then("variant")
        .otherwise(
            pl.when(pl.col("rubric").is_in(["", "default"])).then("metric").otherwise(pl.format("{}[{}]", "metric", "rubric"))
        ),
    )
    blocks = []
    for (name,), part in shown.group_by("block", maintain_order=True):
        columns = part["column"].unique(maintain_order=True).to_list()
        for changed in (False, True):
            rows = part.filter((pl.col("perturbation") != CLEAN) == changed).sort("agent", "perturbation", "dose")
            if not rows.is_empty():
                blocks.append({"title": name, "changed": changed, "columns": columns, "rows": _rows(rows, columns, cell)})
    return blocks


def _rows(rows: pl.DataFrame, columns: list[str], cell: Cell) -> list[dict[str, Any]]:
    found = []
    for (agent, arm), part in rows.group_by("agent", "arm", maintain_order=True):
        cells = {row["column"]: row for row in part.iter_rows(named=True)}
        found.append({"agent": agent, "arm": arm, "cells": [_cell(cells.get(column), cell) for column in columns]})
    return found


def _cell(row: dict[str, Any] | None, cell: Cell) -> dict[str, str]:
    if row is None:
        return {"text": "", "title": ""}
    return {"text": cell(row), "title": f"{row['variant']}, {row['n_items']} items, interval: {row['interval']}"}


def _trouble(judgments: pl.DataFrame) -> list[dict[str, Any]]:
    """Items that could not be judged, by metric, judge, status and reason."""
    owed = judgments.filter(pl.col("status").is_in(["judge_error", "tool_error", "unanswered", "missing_run"]))
    return (
        owed.group_by("metric", "judge", "status", "reason_code").len("items").sort("items", descending=True).rows(named=True)
    )


def _asset(name: str) -> str:
    return (resources.files("dreambench.reporting.page") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The hash by which the page's own policy lets this text, and no other, run or style it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
