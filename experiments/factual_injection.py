"""Factual injection: score against the share of sentences made false (DREAM's Figure 1: Factuality against FACT).

Reads a finished run. Writes `factual_injection` (a row per metric and judge: drop, slope, AUC, trend, smallest dose seen),
`factual_injection_means` (the figure's points), `factual_injection_contrasts` (does Factuality lose more than the others,
task by task), `planted`, the figure and `findings.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from dreambench.reporting.finished import FinishedRun
from dreambench.studies.dose_study import write_dose_study

FOCUS = "factuality"
PARTS = ("strict", "verifiable_share")
"""Variants of Factuality shown as well: a score that only moves because claims became undecidable shows there."""


def make(run: FinishedRun) -> Sequence[Path]:
    """All files of the study, in the order in which they are written."""
    shown = pl.col("primary") | ((pl.col("metric") == FOCUS) & pl.col("variant").is_in(PARTS))
    return write_dose_study(run, "factual_injection", "Factual injection", shown=shown, focus=FOCUS)
