"""A study's findings: sentences made from its numbers, with what a reader must know of the judges below them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dreambench.reporting.finished import FinishedRun


def write_findings(run: FinishedRun, title: str, lines: Sequence[str]) -> Path:
    """Writes `findings.md` of a study: `lines` as they are, then each judge's note and the run's name."""
    notes = [f"{name}: {judge['note']}." for name, judge in run.summary["judges"].items() if judge["note"]]
    text = "\n".join([f"# {title}", "", *lines, "", *notes, f"Run {run.summary['run']}."])
    path = run.output / "findings.md"
    path.write_text(text + "\n", encoding="utf-8")
    return path


def bounded(value: float | None, low: float | None, high: float | None, digits: int = 2) -> str:
    """A number with its interval as a sentence shows it: 0.43 [0.31, 0.55]; "none" when undefined."""
    if value is None:
        return "none"
    if low is None or high is None:
        return f"{value:.{digits}f}"
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"
