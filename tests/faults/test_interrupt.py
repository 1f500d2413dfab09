"""Ctrl-C once and twice in the middle of a run, and while a run already stops for another reason."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dreambench.engine.budget import Limits
from dreambench.engine.call import Call, CallRecord
from dreambench.engine.cell import Cell
from dreambench.engine.gateway import Gateway
from dreambench.engine.limiter import Widths
from dreambench.records import Judgment
from tests.engine.test_engine import Bench, make_cells
from tests.faults.tiny import QUESTIONS, Silent, Tiny, exit_code, same_numbers
from tests.support import openai_stub as acts


class PressingOnce(Silent):
    """Presses Ctrl-C at the fifth call that the run has paid."""

    again = False

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self._paid = 0

    def call_recorded(self, record: CallRecord) -> None:
        self._paid += record.source == "provider" and record.role == "judging"
        if self._paid == 5:
            os.kill(os.getpid(), signal.SIGINT)

    def stopping(self, why: str) -> None:
        super().stopping(why)
        if self.again:
            os.kill(os.getpid(), signal.SIGINT)


class PressingTwice(PressingOnce):
    again = True


def test_once_drains_and_the_same_command_goes_on(tiny: Tiny, undisturbed: Tiny) -> None:
    tiny.watch = PressingOnce
    tiny.stub.always(acts.slow(0.02))
    stopped = tiny.attempt("engine.start=1", "engine.most=1")
    assert exit_code(stopped) == 130
    assert stopped.outcome.finished > 0, "cells that were open are finished"
    assert tiny.stub.open == 0
    tiny.watch = Silent
    resumed = tiny.attempt()
    assert exit_code(resumed) == 0
    assert len(tiny.stub.requests) == QUESTIONS
    same_numbers(tiny.run, undisturbed.run)


def test_twice_drops_what_is_in_flight_and_counts_it(tiny: Tiny, undisturbed: Tiny) -> None:
    tiny.watch = PressingTwice
    tiny.stub.always(acts.slow(0.05))
    stopped = tiny.attempt()
    assert exit_code(stopped) == 130
    assert stopped.outcome.owed > 0
    calls = stopped.tables["calls"]
    dropped = calls.filter(calls["outcome"] == "cancelled", calls["role"] == "judging")
    assert 1 <= dropped.height <= 4 and dropped["cost"].null_count() == dropped.height, "it may have been charged"
    tiny.watch = Silent
    tiny.stub._scripts.clear()
    resumed = tiny.attempt()
    assert exit_code(resumed) == 0
    repeated = len(tiny.stub.requests) - QUESTIONS
    assert 0 <= repeated <= dropped.height, "only what was dropped is asked again"
    assert max(tiny.asked.values()) <= 2
    same_numbers(tiny.run, undisturbed.run)


def test_a_stop_for_another_reason_can_be_interrupted_too(tmp_path: Path) -> None:
    bench = Bench(tmp_path, widths=Widths(2, 2), limits=Limits(calls=2))

    def work_of(gateway: Gateway) -> Any:
        async def work(cell: Cell) -> Sequence[Judgment]:
            if cell.id == "c1":
                await bench.send("c1", 3600)  # drains for an hour
            for number in range(3):
                await gateway.call(Call("p", "p", "m", {"c": cell.id, "n": number}), lambda: bench.send(cell.id))
            return []

        return work

    def press(why: str) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.engine.test_engine.Silent.stopping", lambda self, why: press(why))
        outcome = bench.attempt(make_cells(4), work_of)
    assert "engine.budget.calls=2 reached" in outcome.stopped
    assert outcome.owed == 4
