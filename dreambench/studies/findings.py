"""A study's findings: sentences made from its numbers, with what a reader must know of the judges below them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dreambench.datasets.demo import DEMO
from dreambench.reporting.finished import FinishedRun, read_config
from dreambench.reporting.tables import TOO_FEW
from dreambench.stats.few import FEWEST_TASKS

FINDINGS = "findings.md"
"""The file whose text a run prints when its study is made."""
OWN_DATA = ("reports", "queries", "path", "folders", "folder", "repo", "answers")
"""Keys of a data set that name what is the user's."""


def write_findings(run: FinishedRun, title: str, lines: Sequence[str]) -> Path:
    """Writes `findings.md` of a study: `lines` as they are, then its input, each judge's note and the run's name."""
    notes = [f"{name}: {judge['note']}." for name, judge in run.summary["judges"].items() if judge["note"]]
    said = "\n".join(lines)
    marks = [f"{TOO_FEW} Fewer than {FEWEST_TASKS} tasks: too few for an interval."] if TOO_FEW in said else []
    text = "\n".join([f"# {title}", "", said, "", _input_line(run), *marks, *notes, f"Run {run.summary['run']}."])
    path = run.output / FINDINGS
    path.write_text(text + "\n", encoding="utf-8")
    return path


def _input_line(run: FinishedRun) -> str:
    """What was read: the data set and its agents, and what of it comes with the program instead of from somebody's systems."""
    titles, agents = (run.scores[name].unique().sort().to_list() for name in ("dataset", "agent"))
    config = read_config(run.folder)
    node = config["dataset"]
    own = any(node.get(key) not in (None, DEMO) for key in OWN_DATA)
    source = "" if own else ", bundled with the program and written for it: its agents are no real systems"
    line = f"Input: the data set {', '.join(titles)} ({', '.join(agents)}){source}."
    settings = {f"metric.{name}.{key}": value for name, metric in config["metric"].items() for key, value in metric.items()}
    for key in (key for key, value in settings.items() if value == DEMO):
        hand = ": verdicts written by hand to show the format, which no person or model gave" if key.endswith(".saved") else ""
        line += f" {key} is a bundled example{hand}."
    return line


def bounded(value: float | None, low: float | None, high: float | None, digits: int = 2, *, n: int | None) -> str:
    """A number with its interval as a sentence shows it: 0.43 [0.31, 0.55]; "none" when undefined.

    Over fewer than FEWEST_TASKS tasks (`n`; None where there is no interval) it has a mark and no interval, as in every table.
    """
    if value is None:
        return "none"
    if n is not None and n < FEWEST_TASKS:
        return f"{value:.{digits}f}{TOO_FEW}"
    if low is None or high is None:
        return f"{value:.{digits}f}"
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"
