"""Progress of a run on stderr: a live bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from dreambench.engine.budget import Budget
from dreambench.engine.call import CallRecord
from dreambench.engine.cell import Cell
from dreambench.engine.clock import Clock
from dreambench.records import Judgment, Status

QUIET_SECONDS = 10.0
"""Between two plain lines."""


class RunProgress:
    """Counts cells, calls, answers that were there before (from an earlier run or an equal call), tokens and money."""

    def __init__(self, *, cells: int, done: int, budget: Budget, clock: Clock, stream: TextIO | None = None) -> None:
        self.calls = 0
        self.cached = 0
        self._cells = cells
        self._done = done
        self._failed = 0
        self._started_with = done
        self._budget = budget
        self._clock = clock
        self._started = self._last = clock.monotonic()
        self._console = Console(file=stream, stderr=True)
        self._bar: Progress | None = None
        self._task = TaskID(0)
        if self._console.is_terminal:
            self._bar = Progress(
                TextColumn("cells"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                TextColumn("{task.description}"),
                console=self._console,
                transient=True,
            )
            self._task = self._bar.add_task(self._numbers(), total=cells, completed=done)
            self._bar.start()

    def call_recorded(self, record: CallRecord) -> None:
        self.calls += record.source == "provider"
        self.cached += record.source == "cache"

    def cell_finished(self, cell: Cell, judgments: Sequence[Judgment]) -> None:
        self._done += 1
        self._failed += any(row.status in (Status.JUDGE_ERROR, Status.TOOL_ERROR) for row in judgments)
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, description=self._numbers())
        elif self._clock.monotonic() - self._last >= QUIET_SECONDS:
            self._last = self._clock.monotonic()
            self._console.print(
                f"cells {self._done}/{self._cells} · {self._numbers()} · {self._left()}", highlight=False, soft_wrap=True
            )

    def stopping(self, why: str) -> None:
        hint = "finishing what is in flight" + (" (Ctrl-C again to drop it)" if why == "interrupted" else "")
        self._console.print(f"stopping: {why}; {hint}", highlight=False, markup=False, soft_wrap=True)

    def note(self, line: str) -> None:
        """A line of its own, such as what is waited for."""
        self._console.print(line, highlight=False, markup=False, soft_wrap=True)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _numbers(self) -> str:
        parts = [f"{self.calls:,} calls", f"{self.cached:,} answered before", f"{self._budget.tokens:,} tokens"]
        parts.append(f"${self._budget.money:,.4f}" + (" + unknown prices" if self._budget.unpriced_calls else ""))
        if self._failed:
            parts.append(f"{self._failed} with errors")
        return " · ".join(parts)

    def _left(self) -> str:
        worked = self._done - self._started_with
        if not worked:
            return "time left unknown"
        seconds = (self._clock.monotonic() - self._started) / worked * (self._cells - self._done)
        return f"about {seconds:,.0f} s left"
