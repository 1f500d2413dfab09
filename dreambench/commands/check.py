"""check RUN|FOLDER [--json]: done, owed, failed and why, of one run or of every run of a folder. Changes nothing.

Ends with 0 when every run is complete, else with 2; the same command that made a run goes on with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from dreambench.commands.exits import Exit
from dreambench.commands.verbs import VerbParser, print_json, say

if TYPE_CHECKING:
    from dreambench.reporting.standing import Standing

SHOWN = 160


def check(arguments: Sequence[str]) -> int:
    """Prints how the runs stand. Raises ConfigError where there is none."""
    parser = VerbParser("check", __doc__)
    parser.add_argument("run", metavar="RUN|FOLDER", nargs="?", default="outputs", help="default: every run in outputs/")
    parser.add_json()
    given = parser.parse_args(list(arguments))
    from dreambench.reporting.finished import find_run, run_folders
    from dreambench.reporting.standing import standing_of

    folders = run_folders(Path(given.run)) or [find_run(given.run).root]
    standings = [standing_of(folder) for folder in folders]
    if given.json:
        print_json([{**asdict(one), "complete": one.complete} for one in standings])
    else:
        for one in standings:
            say(*_lines(one))
    return Exit.DONE if all(one.complete for one in standings) else Exit.INCOMPLETE


def _lines(one: Standing) -> list[str]:
    begun = "an unknown number not begun" if one.open is None else f"{one.open:,} not begun"
    state = "complete" if one.complete else "incomplete"
    why = f"; {one.stopped}" if one.stopped else ""
    lines = [f"{one.run}: {state}, {one.done:,} cells done, {one.failed:,} failed, {begun}{why}"]
    for failure in one.failures:
        where = f"  {failure.metric} / {failure.judge}: {failure.count} items {failure.status} ({failure.reason or 'no code'})"
        lines.append(f"{where}: {' '.join(failure.example.split())[:SHOWN]}")
    if one.calls:
        lines.append("  calls without an answer: " + ", ".join(f"{outcome} {count}" for outcome, count in one.calls))
    return lines
