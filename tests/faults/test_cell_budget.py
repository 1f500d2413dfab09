"""What one cell may spend: it is owed with the reason when it is over, the others go on, and no score is made of it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import polars as pl
import pytest

from dreambench.engine.budget import CellBudgets, Limits, OverBudgetError
from dreambench.engine.call import Call, Reply, Usage
from dreambench.engine.clock import Clock
from dreambench.engine.limiter import Widths
from dreambench.engine.scope import CellScope, enter_cell
from tests.faults.tiny import QUESTIONS, Tiny, exit_code, same_numbers
from tests.support.gateway import make_gateway

REPLY = Reply("x", usage=Usage(prompt=90, completion=10), cost=0.5)


class StillClock(Clock):
    def __init__(self) -> None:
        self.time = 0.0

    def monotonic(self) -> float:
        return self.time


def test_a_cell_over_its_budget_is_owed_and_goes_on_when_the_limit_is_raised(tiny: Tiny, undisturbed: Tiny) -> None:
    stopped = tiny.attempt("engine.cell_budget.calls=6")
    assert exit_code(stopped) == 2 and stopped.outcome.stopped == "", "the run itself goes on"
    assert len(tiny.stub.requests) == 2 * 6
    judged = stopped.tables["judgments"].filter(pl.col("metric") == "wq")
    over = judged.filter(pl.col("status") == "judge_error")
    assert over.height == QUESTIONS - 12 and set(over["reason_code"]) == {"over_budget"}
    assert over["value"].null_count() == over.height
    assert "engine.cell_budget.calls=6 reached (spent 6" in over["rationale"][0] and "stays owed" in over["rationale"][0]
    scores = stopped.tables["report_scores"].filter(pl.col("metric") == "wq", pl.col("primary"))
    assert scores["value"].null_count() == scores.height, "no score of half the questions"
    assert exit_code(tiny.attempt("engine.cell_budget.calls=6")) == 2
    assert len(tiny.stub.requests) == 2 * 6, "stored answers count: nothing more is bought"
    assert exit_code(tiny.attempt("engine.cell_budget.calls=10")) == 0
    assert len(tiny.stub.requests) == QUESTIONS
    same_numbers(tiny.run, undisturbed.run)


@pytest.mark.parametrize(
    ("limits", "calls"),
    [(Limits(calls=3), 3), (Limits(money=1.0), 2), (Limits(tokens=301), 4), (Limits(seconds=5.0), 3)],
)
def test_each_limit_ends_one_cell_and_no_other(tmp_path: Path, limits: Limits, calls: int) -> None:
    gateway, clock = make_gateway(tmp_path), StillClock()
    gateway.cells = CellBudgets(limits, clock)

    async def send() -> Reply:
        clock.time += 2.0
        return REPLY

    async def spend(cell: str) -> int:
        enter_cell(CellScope(cell, 1))
        for number in range(9):
            try:
                await gateway.call(Call("p", "a", "m", {"q": f"{cell} {number}"}), send)
            except OverBudgetError:
                return number
        return 9

    async def run() -> list[int]:
        return [await asyncio.create_task(spend(cell)) for cell in ("one", "other")]

    assert asyncio.run(run()) == [calls, calls]
    assert len(gateway.records) == 2 * calls, "what was not asked is in no ledger"
    gateway.store.close()


def test_a_question_that_two_cells_share_is_not_lost_with_one_of_them(tmp_path: Path) -> None:
    gateway = make_gateway(tmp_path, widths=Widths(1, 1))
    gateway.cells = CellBudgets(Limits(calls=1), Clock())

    async def send() -> Reply:
        await asyncio.sleep(0.01)
        return REPLY

    async def ask(cell: str, question: str) -> Reply:
        enter_cell(CellScope(cell, 1))
        return await gateway.call(Call("p", "a", "m", {"q": question}), send)

    async def run() -> None:
        asked = [("spent", "own"), ("spent", "shared"), ("other", "shared")]
        first, second, third = await asyncio.gather(*(ask(*one) for one in asked), return_exceptions=True)
        assert first == third == REPLY and isinstance(second, OverBudgetError)

    asyncio.run(run())
    gateway.store.close()


def test_what_cells_share_and_work_of_this_process_are_nobodys(tmp_path: Path) -> None:
    gateway = make_gateway(tmp_path)
    gateway.cells = CellBudgets(Limits(calls=1), Clock())

    async def send() -> Reply:
        return REPLY

    async def run() -> None:
        enter_cell(CellScope("one", 1))
        for number in range(3):
            await gateway.call(Call("p", "a", "m", {"q": number}, "creation"), send)
            await gateway.call(Call("embedded", "a", "m", {"q": number}, metered=False), send)
        await gateway.call(Call("p", "a", "m", {"q": "mine"}), send)

    asyncio.run(run())
    gateway.store.close()
