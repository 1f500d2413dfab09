"""The engine with real journal, limiter and gateway: resuming, stopping, failing, overlapping."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from dreambench.engine.budget import Budget, BudgetReached, Limits
from dreambench.engine.call import Call, CallRecord, Reply, Usage
from dreambench.engine.cell import Cell
from dreambench.engine.clock import Clock
from dreambench.engine.engine import Engine, Outcome, Work
from dreambench.engine.gateway import Gateway
from dreambench.engine.journal import Journal, read_lines
from dreambench.engine.limiter import Limiters, Widths
from dreambench.engine.retry import RetryPolicy
from dreambench.engine.scope import current_cell
from dreambench.engine.store import AnswerStore, CacheMode
from dreambench.errors import ProviderError
from dreambench.records import Judgment, Status


class Silent:
    def __init__(self) -> None:
        self.whys: list[str] = []

    def call_recorded(self, record: CallRecord) -> None: ...

    def cell_finished(self, cell: Cell, judgments: Sequence[Judgment]) -> None: ...

    def stopping(self, why: str) -> None:
        self.whys.append(why)

    def note(self, line: str) -> None:
        pass

    def close(self) -> None: ...


class Bench:
    """One run folder; every `attempt` is a new process as far as the engine can tell."""

    def __init__(self, folder: Path, widths: Widths | None = None, limits: Limits | None = None) -> None:
        self.folder = folder
        self.widths = widths or Widths(4, 4)
        self.limits = limits or Limits()
        self.sent: list[str] = []
        self.most_in_flight = 0
        self._in_flight = 0

    async def send(self, key: str, delay: float = 0.0) -> Reply:
        self.sent.append(key)
        self._in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self._in_flight)
        await asyncio.sleep(delay)
        self._in_flight -= 1
        return Reply("{}", cost=0.01, usage=Usage(prompt=10, completion=1))

    def attempt(self, cells: Sequence[Cell], work_of) -> Outcome:
        async def go() -> Outcome:
            clock = Clock()
            budget = Budget(self.limits, clock)
            limiters = Limiters(self.widths, clock)
            journal = Journal(self.folder / "journal.jsonl")
            store = AnswerStore(CacheMode.READWRITE)
            store.open(shared=self.folder / "cache", run_local=self.folder / "answers")
            retry = RetryPolicy(attempts=2, base=0.001)
            gateway = Gateway(
                store=store, limiters=limiters, retry=retry, budget=budget, clock=clock, record=journal.write_call
            )
            engine = Engine(journal=journal, limiters=limiters, budget=budget, progress=Silent())
            try:
                return await engine.run(cells, work_of(gateway))
            finally:
                journal.close()
                store.close()

        return asyncio.run(go())

    def asking(self, calls_per_cell: int = 3, delay: float = 0.0):
        """Work that makes some calls of its own for each cell, all at once."""

        def work_of(gateway: Gateway) -> Work:
            async def work(cell: Cell) -> list[Judgment]:
                async def one(index: int) -> None:
                    body = {"cell": cell.id, "index": index}
                    await gateway.call(Call("stub", "stub", "model", body), lambda: self.send(f"{cell.id}/{index}", delay))

                await asyncio.gather(*(one(index) for index in range(calls_per_cell)))
                return [Judgment(cell.id, "f", "l", 1.0)]

            return work

        return work_of


def make_cells(count: int) -> list[Cell]:
    return [Cell(f"c{index}", "m", "j", "t", f"r{index}", 0, {}) for index in range(count)]


def journalled(folder: Path) -> list[str]:
    return [line["cell"] for line in read_lines(folder / "journal.jsonl", "cell")]


def test_every_cell_is_judged_once_and_resuming_repeats_none(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    first = bench.attempt(make_cells(20), bench.asking())
    assert (first.finished, first.before, first.owed, first.complete) == (20, 0, 0, True)
    assert sorted(journalled(tmp_path)) == sorted(cell.id for cell in make_cells(20))
    second = bench.attempt(make_cells(25), bench.asking())
    assert (second.finished, second.before) == (5, 20)
    assert len(bench.sent) == len(set(bench.sent)) == 75


def test_calls_never_exceed_the_width(tmp_path: Path) -> None:
    bench = Bench(tmp_path, widths=Widths(start=3, most=3))
    bench.attempt(make_cells(10), bench.asking(calls_per_cell=5, delay=0.002))
    assert bench.most_in_flight == 3


def test_cells_are_admitted_only_while_the_queue_is_short(tmp_path: Path) -> None:
    """With width 2 and one-call cells that hold their call, the engine opens a few cells, not all thousand."""
    bench = Bench(tmp_path, widths=Widths(2, 2))
    opened = 0
    most_open = 0

    def work_of(gateway: Gateway) -> Work:
        async def work(cell: Cell) -> list[Judgment]:
            nonlocal opened, most_open
            opened += 1
            most_open = max(most_open, opened)
            await gateway.call(Call("stub", "stub", "model", {"cell": cell.id}), lambda: bench.send(cell.id, 0.005))
            opened -= 1
            return []

        return work

    assert bench.attempt(make_cells(40), work_of).complete
    assert 2 < most_open <= 2 * 2


def test_a_reached_budget_stops_cleanly_and_leaves_cells_owed(tmp_path: Path) -> None:
    bench = Bench(tmp_path, widths=Widths(1, 1), limits=Limits(calls=7))
    outcome = bench.attempt(make_cells(10), bench.asking(calls_per_cell=2))
    assert isinstance(outcome.stop_error, BudgetReached)
    assert "engine.budget.calls=7 reached" in outcome.stopped
    assert outcome.finished == 3
    assert outcome.finished + outcome.owed == 10
    bench.limits = Limits()
    assert bench.attempt(make_cells(10), bench.asking(calls_per_cell=2)).complete
    assert len(bench.sent) == len(set(bench.sent)) == 20, "nothing is bought twice"


def test_a_fatal_provider_error_stops_the_run_and_scores_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path)

    def work_of(gateway: Gateway) -> Work:
        async def refuse() -> Reply:
            raise ProviderError("the key was refused", code="auth", fatal=True)

        async def work(cell: Cell) -> list[Judgment]:
            await gateway.call(Call("stub", "stub", "model", {"cell": cell.id}), refuse)
            return [Judgment(cell.id, "f", "l", 1.0)]

        return work

    outcome = bench.attempt(make_cells(30), work_of)
    assert outcome.finished == 0
    assert outcome.owed == 30
    assert outcome.stopped == "the key was refused"
    assert journalled(tmp_path) == []


def test_trouble_in_one_cell_is_a_row_with_a_reason_and_is_owed(tmp_path: Path) -> None:
    bench = Bench(tmp_path)

    def work_of(gateway: Gateway) -> Work:
        async def down() -> Reply:
            raise ProviderError("server down", code="server_error")

        async def work(cell: Cell) -> list[Judgment]:
            if cell.id == "c1":
                await gateway.call(Call("stub", "other", "model", {"cell": cell.id}), down)
            return [Judgment(cell.id, "f", "l", 1.0)]

        return work

    outcome = bench.attempt(make_cells(3), work_of)
    assert (outcome.finished, outcome.owed) == (2, 1)
    (failed,) = [line for line in read_lines(tmp_path / "journal.jsonl", "cell") if line["owed"]]
    assert failed["judgments"][0]["status"] == Status.JUDGE_ERROR
    assert failed["judgments"][0]["reason_code"] == "server_error"
    assert failed["judgments"][0]["value"] is None


def test_a_bug_in_a_cell_is_raised_after_draining(tmp_path: Path) -> None:
    bench = Bench(tmp_path)

    def work_of(gateway: Gateway) -> Work:
        async def work(cell: Cell) -> list[Judgment]:
            if cell.id == "c1":
                raise ZeroDivisionError("a bug")
            return [Judgment(cell.id, "f", "l", 1.0)]

        return work

    with pytest.raises(ZeroDivisionError):
        bench.attempt(make_cells(3), work_of)
    assert "c0" in journalled(tmp_path)


def test_one_interrupt_drains_and_two_cancel(tmp_path: Path) -> None:
    bench = Bench(tmp_path, widths=Widths(2, 2))

    def interrupting(times: int):
        def work_of(gateway: Gateway) -> Work:
            async def work(cell: Cell) -> list[Judgment]:
                if cell.id == "c0":
                    for _ in range(times):
                        os.kill(os.getpid(), signal.SIGINT)
                        await asyncio.sleep(0.02)
                if times > 1:
                    await asyncio.Event().wait()  # only a cancellation ends it
                await asyncio.sleep(0.05)
                return [Judgment(cell.id, "f", "l", 1.0)]

            return work

        return work_of

    drained = bench.attempt(make_cells(50), interrupting(1))
    assert drained.stopped == "interrupted"
    assert drained.finished >= 1
    assert drained.finished + drained.owed == 50
    dropped = Bench(tmp_path / "two", widths=Widths(2, 2))
    dropped.folder.mkdir()
    cancelled = dropped.attempt(make_cells(50), interrupting(2))
    assert cancelled.finished == 0
    assert cancelled.owed == 50


def test_calls_know_their_cell(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    seen: dict[str, str] = {}

    def work_of(gateway: Gateway) -> Work:
        async def work(cell: Cell) -> list[Judgment]:
            async def one() -> None:
                await asyncio.sleep(0)
                seen[cell.id] = current_cell().id

            await asyncio.gather(one(), one())
            return []

        return work

    bench.attempt(make_cells(5), work_of)
    assert seen == {f"c{index}": f"c{index}" for index in range(5)}
