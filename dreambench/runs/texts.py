"""`reports.parquet`: the texts that a run judged, clean and changed, so that a judgment's offsets can be read years later."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import polars as pl

from dreambench.records import Report
from dreambench.runs.assembly import CLEAN, Parts
from dreambench.runs.folder import RunFolder
from dreambench.runs.subjects import changed_path

EDIT = pl.Struct({"kind": pl.String, "start": pl.Int64, "end": pl.Int64, "before": pl.String, "after": pl.String})
TEXT_SCHEMA: dict[str, Any] = {
    "task": pl.String,
    "as_of": pl.String,
    "language": pl.String,
    "query": pl.String,
    "report": pl.String,
    "agent": pl.String,
    "perturbation": pl.String,
    "dose": pl.Float64,
    "perturbation_seed": pl.Int64,
    "text": pl.String,
    "edits": pl.List(EDIT),
}
"""Columns of `reports.parquet`. `report_start` and `report_end` of a judgment are character offsets into `text` of the row
with the same report and arm; `edits` say what an arm changed, with offsets into the changed text."""


def text_table(folder: RunFolder, parts: Parts) -> pl.DataFrame:
    """One row per report and arm. An arm whose text was not made (it is owed) has no row yet."""
    rows = [row for report in parts.dataset.reports for row in _rows(folder, parts, report)]
    return pl.DataFrame(rows, schema=TEXT_SCHEMA)


def _rows(folder: RunFolder, parts: Parts, report: Report) -> Iterator[dict[str, Any]]:
    task = parts.task(report.task_id)
    shared = {
        "task": task.id,
        "as_of": task.as_of.isoformat() if task.as_of else None,
        "language": task.language,
        "query": task.query,
        "report": report.id,
        "agent": report.agent,
    }
    clean = {"perturbation": CLEAN, "dose": 0.0, "perturbation_seed": None, "text": report.text, "edits": []}
    yield {**shared, **clean}
    for name, arm in parts.arms.items():
        path = changed_path(folder.perturbed, name, task.id, report.agent)
        if path.is_file():
            log = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
            yield {
                **shared,
                "perturbation": parts.arm_labels[name],
                "dose": arm.dose,
                "perturbation_seed": arm.seed,
                "text": path.read_bytes().decode("utf-8", "surrogatepass"),
                "edits": [_edit(edit) for edit in log["edits"]],
            }


def _edit(edit: dict[str, Any]) -> dict[str, Any]:
    start, end = edit["after_start"], edit["after_end"]
    return {"kind": edit["kind"], "start": start, "end": end, "before": edit["before"], "after": edit["after"]}
