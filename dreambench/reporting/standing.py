"""How a run stands, from its journal alone: what is done, what is owed, what failed and why. Reads, and changes nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dreambench.engine.journal import OWED, read_lines
from dreambench.runs.folder import RunFolder

OWED_STATUSES = frozenset(status.value for status in OWED)


@dataclass(frozen=True, slots=True)
class Failure:
    """Items that failed alike: `count` of them, and what the first one said."""

    metric: str
    judge: str
    status: str
    reason: str
    count: int
    example: str


@dataclass(frozen=True, slots=True)
class Standing:
    """Cells of a run: `done`, `failed` (judged with errors, owed) and `open` (not begun; None where no attempt has ended)."""

    run: str
    done: int
    failed: int
    open: int | None
    stopped: str
    failures: Sequence[Failure]
    calls: Sequence[tuple[str, int]]
    """Calls that gave no usable answer: outcome and how often."""

    @property
    def complete(self) -> bool:
        """Whether every cell is done."""
        return self.failed == 0 and self.open == 0


def standing_of(folder: Path) -> Standing:
    """The standing of the run in `folder`. Raises JournalError for a journal that cannot be read.

    An exported run has no journal: it stands as its summary says, without what failed, its owed cells as not begun.
    """
    run = RunFolder(folder)
    if not run.journal.is_file() and run.summary.is_file():
        summary = json.loads(run.summary.read_text(encoding="utf-8"))
        cells = summary["cells"]
        return Standing(folder.name, sum(cells.values()) - cells["owed"], 0, cells["owed"], str(summary["stopped"]), [], [])
    latest = {line["cell"]: line for line in read_lines(run.journal, "cell")}
    failed = sum(bool(line["owed"]) for line in latest.values())
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for line in latest.values():
        for row in line["judgments"] if line["owed"] else ():
            if row["status"] in OWED_STATUSES:
                columns = line["columns"]
                key = (columns["metric"], columns["judge"], row["status"], row["reason_code"])
                found.setdefault(key, []).append(row["rationale"])
    failures = [Failure(*key, len(said), said[0]) for key, said in sorted(found.items())]
    calls = Counter(line["outcome"] for line in read_lines(run.journal, "call") if line["outcome"] != "ok")
    summary = json.loads(run.summary.read_text(encoding="utf-8")) if run.summary.is_file() else None
    total = sum(summary["cells"].values()) if summary else None
    begun = None if total is None else max(0, total - len(latest))
    stopped = str(summary["stopped"]) if summary else "no attempt has ended: it is running, or was killed"
    return Standing(folder.name, len(latest) - failed, failed, begun, stopped, failures, sorted(calls.items()))
