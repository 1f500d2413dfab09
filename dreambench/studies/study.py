"""Runs a study, a module of `experiments/`, on a finished run: its tables, figure and findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dreambench.config.studies import load_study
from dreambench.reporting.finished import FinishedRun
from dreambench.runs.folder import RunFolder


def make_study(name: str, folder: RunFolder, inputs: Mapping[str, Any]) -> Sequence[Path]:
    """Runs the study `name` on a finished run and returns what it wrote. Raises ConfigError for an unknown study."""
    written: Sequence[Path] = load_study(name).make(FinishedRun(folder, inputs))
    return written
