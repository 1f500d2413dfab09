"""A study's findings: sentences made from its numbers, with what a reader must know of the judges below them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dreambench.reporting.finished import FinishedRun
from dreambench.reporting.tables import FEWEST_TASKS, TOO_FEW

FINDINGS = "findings.md"
"""The file whose text a run prints when its study is made."""


def write_findings(run: FinishedRun, title: str, lines: Sequence[str]) -> Path:
    """Writes `findings.md` of a study: `lines` as they are, then each judge's note and the run's name."""
    notes = [f"{name}: {judge['note']}." for name, judge in run.summary["judges"].items() if judge["note"]]
    said = "\n".join(lines)
    marks = [f"{TOO_FEW} Fewer than {FEWEST_TASKS} tasks: too few for an interval."] if TOO_FEW in said else []
    text = "\n".join([f"# {title}", "", said, "", *marks, *notes, f"Run {run.summary['run']}."])
    path = run.output / FINDINGS
    path.write_text(text + "\n", encoding="utf-8")
    return path


def bounded(value: float | None, low: float | None, high: float | None, digits: int = 2, *, n: int | None = None) -> str:
    """A number with its interval as a sentence shows it: 0.43 [0.31, 0.55]; "none" when undefined.

    Over fewer than FEWEST_TASKS tasks (`n`) it has a mark and no interval, as in every table.
    """
    if value is None:
        return "none"
    if n is not None and n < FEWEST_TASKS:
        return f"{value:.{digits}f}{TOO_FEW}"
    if low is None or high is None:
        return f"{value:.{digits}f}"
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"
