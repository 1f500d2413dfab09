"""Temporal sensitivity: does a metric see that a report is out of date (DREAM's Table 4: KIC against RACE's dimensions)?

Reads a finished run whose arms set reports back in time. Writes the tables and the figure of a dose study
(`dreambench.studies.dose_study`) and `topics`: KIC of every task as it is and at each arm's full dose. With
`study_inputs.published=true` also `published`: what the paper printed for its own 20 topics, to compare the shape and
nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.errors import ConfigError, Problem
from dreambench.reporting.finished import FinishedRun
from dreambench.studies.dose_study import write_dose_study
from dreambench.studies.dose_tables import labelled, series
from dreambench.studies.outputs import rounded, write_table

FOCUS = "kic"
PUBLISHED: Mapping[str, tuple[float, float, float]] = {
    "KIC": (79.35, 44.80, 22.34),
    "RACE comprehensiveness": (50.02, 50.04, 44.81),
    "RACE insight": (50.54, 48.78, 41.68),
}
"""Means over 20 volatile topics in the paper's Table 4: current reports, cutoff January 2025, cutoff January 2024; x100."""


def check(inputs: Mapping[str, Any]) -> None:
    """Raises ConfigError for inputs other than `published`, which is true or false."""
    if unknown := sorted(set(inputs) - {"published"}):
        raise ConfigError(Problem(f"study_inputs.{unknown[0]}", "is no input of this study", ["published"]))
    if not isinstance(inputs.get("published", False), bool):
        wrong = inputs["published"]
        raise ConfigError(Problem("study_inputs.published", f"{wrong!r} is neither true nor false", ["true", "false"]))


def make(run: FinishedRun) -> Sequence[Path]:
    """All files of the study, in the order in which they are written."""
    parts = pl.col("metric").is_in(["race", "wq"])
    shown = pl.col("primary") | parts
    topics = topic_table(run.report_scores)
    written = [*write_table(rounded(topics), run.output, "topics")]
    extra: list[str] = []
    if run.inputs.get("published"):
        rows = [{"metric": name, "current": a, "Jan-25": b, "Jan-24": c} for name, (a, b, c) in PUBLISHED.items()]
        written += write_table(pl.DataFrame(rows), run.output, "published")
        extra = [
            f"- The paper, on its own topics, reports and models: {name} {a} as it is, {b} at cutoff January 2025, "
            f"{c} at January 2024. Compare the direction, not the numbers."
            for name, (a, b, c) in PUBLISHED.items()
        ]
    title = "Temporal sensitivity"
    return [
        *written,
        *write_dose_study(run, "temporal_sensitivity", title, shown=shown, focus=FOCUS, extra=extra),
    ]


def topic_table(report_scores: pl.DataFrame) -> pl.DataFrame:
    """KIC per judge and task: as it is, and at the largest dose of each arm, a column each."""
    values = labelled(report_scores.filter(pl.col("metric") == FOCUS, pl.col("primary")))
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for keys, curve in series(values):
        top = curve["dose"].max()
        for (task, dose), part in curve.group_by("task", "dose", maintain_order=True):
            row = rows.setdefault((keys["judge"], str(task)), {"judge": keys["judge"], "task": task})
            if dose in (0.0, top):
                row["clean" if dose == 0.0 else keys["perturbation"]] = part["value"].mean()
    return pl.DataFrame(list(rows.values()), infer_schema_length=None)
