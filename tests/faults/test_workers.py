"""Whole runs with two worker processes: the same tables as one process gives, and the same promises when they are disturbed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dreambench.config.compose import compose
from dreambench.engine.call import CallRecord
from dreambench.engine.clock import Clock
from dreambench.errors import InputError
from dreambench.runs.assembly import validate
from dreambench.runs.execute import RunResult, execute
from tests.faults.test_interrupt import PressingOnce
from tests.faults.tiny import QUESTIONS, Silent, Tiny, exit_code, same_numbers
from tests.support import openai_stub as acts

TWO = ["engine=processes", "engine.workers=2", *("engine.retry.base=0.001", "engine.start=4", "engine.most=4")]
OF_ALL_KINDS = ["metric=[wq,kic,citations]", "perturbation=omission", "perturbation.omission.dose=0.5", "dataset.limit=1"]


class Killing(Silent):
    """Kills a worker at the sixth call that the run has paid."""

    paid = 0

    def call_recorded(self, record: CallRecord) -> None:
        self.paid += record.source == "provider" and record.outcome == "ok"
        if self.paid == 6:
            self.paid += 1000
            self.kill()

    def kill(self) -> None:
        os.kill(started(self.run)[0]["pid"], signal.SIGKILL)

    run: Path


def started(run: Path) -> list[dict[str, Any]]:
    """Every worker of the last attempt, as the run folder has it."""
    last = max((run / "attempts").iterdir(), key=lambda path: int(path.name))
    return [json.loads(line) for line in (last / "workers.jsonl").read_text(encoding="utf-8").splitlines()]


def demo(folder: Path, *overrides: str) -> RunResult:
    composed = compose([f"paths.outputs={folder / 'outputs'}", f"paths.cache={folder / 'cache'}", *overrides])
    clock = Clock()
    return asyncio.run(execute(validate(composed, clock), "", Silent, clock))


def test_two_processes_give_the_tables_and_files_of_one(tmp_path: Path) -> None:
    one, two = demo(tmp_path / "one", *OF_ALL_KINDS), demo(tmp_path / "two", *OF_ALL_KINDS, *TWO)
    assert one.folder.root.name == two.folder.root.name, "the engine is no part of a run's identity"
    same_numbers(one.folder.root, two.folder.root)
    for table in ("judgments.parquet", "scores.parquet", "report_scores.parquet", "reports.parquet"):
        assert (one.folder.root / table).read_bytes() == (two.folder.root / table).read_bytes()
    assert files(one.folder.root) == files(two.folder.root)
    assert len({worker["pid"] for worker in started(two.folder.root)} - {os.getpid()}) == 2
    assert not two.findings or "workers that died" not in "".join(two.findings)
    again = demo(tmp_path / "two", *OF_ALL_KINDS, *TWO)
    assert (again.outcome.finished, again.outcome.before) == (0, one.outcome.finished)


def files(run: Path) -> dict[str, bytes]:
    """What a run writes beside its tables."""
    found = {}
    for folder in ("perturbed", "protocols", "trajectories"):
        found |= {str(path.relative_to(run)): path.read_bytes() for path in (run / folder).rglob("*") if path.is_file()}
    assert any(name.startswith("perturbed/") for name in found) and any(name.startswith("protocols/") for name in found)
    return found


def test_a_killed_worker_costs_what_it_had_in_flight(tiny: Tiny, undisturbed: Tiny) -> None:
    tiny.overrides = TWO

    class Here(Killing):
        @property
        def run(self) -> Path:  # type: ignore[override]
            return tiny.run

    tiny.watch = Here
    tiny.stub.always(acts.slow(0.02))
    result = tiny.attempt()
    assert exit_code(result) == 0
    lost = json.loads((tiny.run / "summary.json").read_text(encoding="utf-8"))["spent"]["lost_in_flight"]
    assert len(tiny.asked) == QUESTIONS
    assert len(tiny.stub.requests) - QUESTIONS <= lost <= 4
    assert any("workers that died: 1" in finding for finding in result.findings)
    same_numbers(tiny.run, undisturbed.run)
    calls = pl.read_parquet(tiny.run / "calls.parquet")
    assert calls.filter(pl.col("outcome") == "cancelled").height == lost


def test_an_interrupt_reaches_the_driver_who_lets_the_workers_finish(tiny: Tiny, undisturbed: Tiny) -> None:
    tiny.overrides, tiny.watch = TWO, PressingOnce
    tiny.stub.always(acts.slow(0.02))
    stopped = tiny.attempt("engine.start=1", "engine.most=1")
    assert exit_code(stopped) == 130
    assert stopped.outcome.finished > 0, "cells that were open are finished"
    assert tiny.stub.open == 0
    with pytest.raises(ProcessLookupError):
        os.kill(started(tiny.run)[0]["pid"], 0)
    tiny.watch, tiny.overrides = Silent, ()
    assert exit_code(tiny.attempt()) == 0
    assert len(tiny.stub.requests) == QUESTIONS
    same_numbers(tiny.run, undisturbed.run)


def test_a_worker_without_its_key_ends_the_run_before_anything_is_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a node whose environment lacks what the driver's has."""
    from dreambench.runs import workers

    real = workers.open_process

    async def without_key(module: str) -> Any:
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        return await real(module)

    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setattr(workers, "open_process", without_key)
    with pytest.raises(InputError, match="OPENAI_API_KEY"):
        demo(tmp_path, *TWO, "dataset.limit=1", "judge=gpt_5_1", "metric=[wq]")
