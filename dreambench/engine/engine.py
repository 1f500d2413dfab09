"""Runs cells: admits them while the gateway is hungry, lets their stages overlap, journals each when it is whole.

A cell never holds a limiter slot; only its leaf calls do. Memory follows what is in flight: at most twice the width of
admitted cells, whatever the number of reports.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Protocol

from dreambench.engine.budget import Budget, BudgetReached
from dreambench.engine.call import CallRecord
from dreambench.engine.cell import Cell
from dreambench.engine.journal import Journal
from dreambench.engine.limiter import Limiters
from dreambench.engine.scope import CellScope, enter_cell
from dreambench.errors import AwaitedError, CacheMissError, ProviderError, TransientError
from dreambench.records import Judgment, Status, short_hash

Work = Callable[[Cell], Awaitable[Sequence[Judgment]]]


class Progress(Protocol):
    """What the engine tells while it runs."""

    def call_recorded(self, record: CallRecord) -> None:
        """A call has ended, answered or not."""

    def cell_finished(self, cell: Cell, judgments: Sequence[Judgment]) -> None:
        """The rows of a cell are in the journal; they may be owed."""

    def stopping(self, why: str) -> None:
        """No more cells begin; said once a run."""

    def note(self, line: str) -> None:
        """A line for a person, while the run goes on."""

    def close(self) -> None:
        """The run has ended, well or not."""


@dataclass(slots=True)
class Outcome:
    """What became of the cells: finished in this attempt, done before, still owed, and why a run stopped early."""

    finished: int = 0
    before: int = 0
    owed: int = 0
    stopped: str = ""
    stop_error: BaseException | None = field(default=None, repr=False)

    @property
    def complete(self) -> bool:
        """Whether no cell is owed."""
        return self.owed == 0


class Engine:
    """One attempt at a run's cells."""

    def __init__(
        self,
        *,
        journal: Journal,
        limiters: Limiters,
        budget: Budget,
        progress: Progress,
        drop: Callable[[], None] = lambda: None,
        leave: Callable[[], None] = lambda: None,
        least_open: int = 2,
    ) -> None:
        """`drop` cancels the calls that no open cell waits for any more; `leave` ends waiting for answers that take hours;
        `least_open` cells may be open when no call waits."""
        self._least_open = least_open
        self._drop = drop
        self._leave = leave
        self._journal = journal
        self._limiters = limiters
        self._budget = budget
        self._progress = progress
        self._active: set[asyncio.Task[None]] = set()
        self._outcome = Outcome()
        self._missed: CacheMissError | None = None

    async def run(self, cells: Iterable[Cell], work: Work) -> Outcome:
        """Works through `cells` in order, skipping those that the journal has.

        An interrupt or a reached budget ends admission and drains; a second interrupt cancels what is in flight.
        """
        self._outcome, self._missed = Outcome(), None
        with self._interrupts():
            order = 0
            for cell in cells:
                if self._journal.is_done(cell):
                    self._outcome.before += 1
                    continue
                order += 1
                await self._wait_for_room()
                if self._outcome.stopped:
                    self._outcome.owed += 1
                    continue
                task = asyncio.create_task(self._run_cell(cell, order, work))
                self._active.add(task)
                task.add_done_callback(self._active.discard)
                await asyncio.sleep(0)
            while self._active:
                await asyncio.wait(self._active, return_when=asyncio.FIRST_EXCEPTION)
        if self._missed and not self._outcome.stopped:
            self._outcome.stopped, self._outcome.stop_error = str(self._missed), self._missed
        if isinstance(self._outcome.stop_error, Exception) and not isinstance(
            self._outcome.stop_error, TransientError | BudgetReached | AwaitedError
        ):
            raise self._outcome.stop_error
        return self._outcome

    async def _wait_for_room(self) -> None:
        """Until the queue of ready leaf calls is shorter than twice the width, and not too many cells are open."""
        while not self._outcome.stopped:
            most = max(2 * self._limiters.width, self._least_open)
            if self._limiters.waiting < most and len(self._active) < most:
                return
            await asyncio.wait(self._active, timeout=0.02, return_when=asyncio.FIRST_COMPLETED)

    async def _run_cell(self, cell: Cell, order: int, work: Work) -> None:
        enter_cell(CellScope(cell.id, order))
        try:
            await self._judge(cell, work)
        except asyncio.CancelledError:
            self._outcome.owed += 1
            raise
        except Exception as error:  # a bug or a full disk: stop admitting, drain, then raise it
            self._stop(f"{type(error).__name__}: {error}", error)

    async def _judge(self, cell: Cell, work: Work) -> None:
        try:
            judgments = await work(cell)
        except CacheMissError as error:
            self._miss(error)
        except (BudgetReached, AwaitedError) as error:
            self._stop(str(error), error)
        except TransientError as error:
            if isinstance(error, ProviderError) and error.fatal:
                self._stop(str(error), error)
            else:
                self._fail(cell, error)
        else:
            self._journal.write_cell(cell, judgments)
            done = self._journal.is_done(cell)
            self._outcome.finished += done
            self._outcome.owed += not done
            self._progress.cell_finished(cell, judgments)

    def _fail(self, cell: Cell, error: TransientError) -> None:
        """A cell that could not be judged as a whole: one row says so, and it is owed on resume."""
        code = getattr(error, "code", type(error).__name__)
        row = Judgment(
            short_hash("cell failed", cell.id), "report", "", None, Status.JUDGE_ERROR, reason_code=code, rationale=str(error)
        )
        self._journal.write_cell(cell, [row])
        self._outcome.owed += 1
        self._progress.cell_finished(cell, [row])

    def _miss(self, error: CacheMissError) -> None:
        """A replay lacks an answer: this cell stays owed, the others cost nothing and go on. The first miss is told."""
        self._outcome.owed += 1
        if self._missed is None:
            self._missed = error
            self._progress.note(str(error))

    def _stop(self, why: str, error: BaseException | None = None) -> None:
        self._outcome.owed += error is not None
        if not self._outcome.stopped:
            self._outcome.stopped = why
            self._outcome.stop_error = error
            self._progress.stopping(why)

    @contextmanager
    def _interrupts(self) -> Iterator[None]:
        """First interrupt: no new cells, drain. Second, or one while another stop drains: cancel what is in flight."""
        loop = asyncio.get_running_loop()

        def interrupted() -> None:
            self._leave()
            if self._outcome.stopped:
                for task in self._active:
                    task.cancel()
                self._drop()
            self._stop("interrupted")

        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(signal.SIGINT, interrupted)
        try:
            yield
        finally:
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.remove_signal_handler(signal.SIGINT)
