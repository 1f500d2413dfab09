"""The runs of a folder and how each stands. A run whose last attempt has ended is told by its summary, others by their journal.

Run folders may come from anybody: what does not read as a run is shown as unreadable, with the reason, beside the others.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel

from dreambench.errors import DreambenchError
from dreambench.reporting.finished import run_folders
from dreambench.reporting.live.tally import Counts, Finished, JournalTally
from dreambench.reporting.standing import Failure
from dreambench.runs.folder import RunFolder

State = Literal["complete", "incomplete", "unfinished", "unreadable"]
"""`unfinished`: an attempt has begun and not ended, so the run is being worked on, or was killed."""
_BROKEN = (DreambenchError, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, yaml.YAMLError)


class _Cells(BaseModel):
    finished: int
    before: int
    owed: int


class _Spent(BaseModel):
    calls: int
    cached_calls: int
    money: float
    unpriced_calls: int
    prompt_tokens: int
    completion_tokens: int


class _Summary(BaseModel):
    complete: bool
    cells: _Cells
    stopped: str
    spent: _Spent


class _Config(BaseModel):
    metric: dict[str, Any]
    judge: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RunStatus:
    """One run. `total` and `owed` cells are None before its first attempt has ended: nothing on disk tells them until then.

    Money is in US dollars, over calls that were bought; `unpriced_calls` of them have no known price. `changed` is the time of
    the journal's last line, in seconds since 1970.
    """

    name: str
    path: Path
    changed: float
    state: State = "unreadable"
    problem: str = ""
    metrics: Sequence[str] = ()
    judges: Sequence[str] = ()
    done: int | None = None
    failed: int = 0
    owed: int | None = None
    total: int | None = None
    stopped: str = ""
    calls: int = 0
    cached_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    money: float = 0.0
    unpriced_calls: int = 0
    errors: Sequence[Failure] = ()
    call_errors: Sequence[tuple[str, int]] = ()
    recent: Sequence[Finished] = ()
    has_page: bool = False

    def as_json(self) -> dict[str, Any]:
        """All of it but where the run lies on this machine."""
        return {name: value for name, value in asdict(self).items() if name != "path"}


@dataclass
class Board:
    """What is below `folder`; journals are followed from look to look. Safe to use from several threads."""

    folder: Path
    _tallies: dict[Path, JournalTally] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def names(self) -> dict[str, Path]:
        """The runs that there are now, by folder name, the last worked on first."""
        folder = self.folder.resolve()
        found = [folder] if is_copy(folder) else run_folders(folder)
        return {path.name: path for path in found}

    def runs(self) -> list[RunStatus]:
        """How each run stands, in the order of `names`."""
        return [self.status(path) for path in self.names().values()]

    def find(self, name: str) -> Path | None:
        """The run of that folder name, or of that id when only one has it. `name` is compared, never opened."""
        names = self.names()
        if name in names:
            return names[name]
        fitting = [path for known, path in names.items() if known.rpartition("-")[2] == name]
        return fitting[0] if len(fitting) == 1 else None

    def status(self, path: Path) -> RunStatus:
        """How one run stands. Never raises for what its files hold."""
        run = RunFolder(path)
        status = RunStatus(path.name, path, _changed(run.journal), has_page=page_of(path) is not None)
        try:
            config = _Config.model_validate(yaml.safe_load(run.config.read_text(encoding="utf-8")))
            status = replace(status, metrics=list(config.metric), judges=list(config.judge))
            return self._standing(run, status)
        except _BROKEN as error:
            return replace(status, problem=f"{type(error).__name__}: {error}"[:500])

    def _standing(self, run: RunFolder, status: RunStatus) -> RunStatus:
        summary = _Summary.model_validate_json(run.summary.read_text(encoding="utf-8")) if run.summary.is_file() else None
        if summary and not _begun_since(run):
            cells, state = summary.cells, _ended(summary)
            done, total = cells.finished + cells.before, cells.finished + cells.before + cells.owed
            known: dict[str, Any] = {"done": done, "owed": cells.owed, "total": total, "stopped": summary.stopped}
            status = replace(status, state=state, **known, **summary.spent.model_dump())
            return status if summary.complete else self._with_counts(run, status, _errors_of)
        status = self._with_counts(run, replace(status, state="unfinished"), _all_of)
        if summary and status.done is not None:  # an earlier attempt knew how many there are
            total = sum(summary.cells.model_dump().values())
            return replace(status, total=total, owed=max(0, total - status.done))
        return status

    def detailed(self, path: Path) -> RunStatus:
        """The status with what only the journal tells (errors, last cells), for complete runs too."""
        status = self.status(path)
        if status.state != "complete":
            return status
        try:
            return self._with_counts(RunFolder(path), status, _errors_of)
        except _BROKEN as error:
            return replace(status, problem=f"{type(error).__name__}: {error}"[:500])

    def _with_counts(self, run: RunFolder, status: RunStatus, part: Callable[[Counts], dict[str, Any]]) -> RunStatus:
        with self._lock:
            tally = self._tallies.setdefault(run.journal, JournalTally(run.journal))
            return replace(status, **part(tally.update()))


def is_copy(folder: Path) -> bool:
    """Whether `folder` is a fetched copy of an exported run: it has a run's summary and page, and no journal."""
    run = RunFolder(folder)
    return run.summary.is_file() and run.page.is_file() and not run.journal.is_file()


def page_of(run: Path) -> Path | None:
    """The run's report.html when it is a file of the run itself, not a link to somewhere else."""
    page = RunFolder(run).page
    return page if page.is_file() and page.resolve().is_relative_to(run.resolve()) else None


def _errors_of(counts: Counts) -> dict[str, Any]:
    return {
        "failed": counts.failed,
        "errors": counts.failures(),
        "call_errors": counts.outcomes.most_common(),
        "recent": list(counts.recent),
    }


def _all_of(counts: Counts) -> dict[str, Any]:
    sums = ("done", "calls", "cached_calls", "prompt_tokens", "completion_tokens", "money", "unpriced_calls")
    return {**_errors_of(counts), **{name: getattr(counts, name) for name in sums}}


def _ended(summary: _Summary) -> State:
    return "complete" if summary.complete else "incomplete"


def _begun_since(run: RunFolder) -> bool:
    """Whether an attempt began after the summary was written: then the summary is that of an earlier one."""
    begun = (path.stat().st_mtime_ns for path in run.root.glob("attempts/*/manifest.json"))
    return max(begun, default=0) > run.summary.stat().st_mtime_ns


def _changed(journal: Path) -> float:
    return journal.stat().st_mtime if journal.is_file() else 0.0
