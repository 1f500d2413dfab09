"""Reasoning flaws: score against the share of badly argued sentences (DREAM's Figure 5: RQ against RACE).

Reads a finished run. Writes the tables and the figure of a dose study (`dreambench.studies.dose_study`): drop, slope, AUC and
trend of every metric, and whether RQ loses more of its score than each of the others, task by task.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from dreambench.reporting.finished import FinishedRun
from dreambench.studies.dose_study import write_dose_study

FOCUS = "rq"
PARTS = ("race", "wq")
"""Metrics whose dimensions are shown as well."""


def make(run: FinishedRun) -> Sequence[Path]:
    """All files of the study, in the order in which they are written."""
    shown = pl.col("primary") | pl.col("metric").is_in(PARTS)
    return write_dose_study(run, "reasoning_flaws", "Reasoning flaws", shown=shown, focus=FOCUS)
