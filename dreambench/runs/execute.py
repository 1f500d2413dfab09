"""One attempt at a run: open its folder, work through what is owed, write the tables."""

from __future__ import annotations

import asyncio
import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import polars as pl

import dreambench
from dreambench.config.schema import RunConfig
from dreambench.documents.hostile import Passage
from dreambench.engine.budget import Budget, CellBudgets, Limits
from dreambench.engine.call import CallRecord
from dreambench.engine.cell import Cell
from dreambench.engine.clock import Clock
from dreambench.engine.engine import Engine, Outcome, Progress, Work
from dreambench.engine.gateway import Gateway
from dreambench.engine.journal import Journal
from dreambench.engine.limiter import Limiters, Widths
from dreambench.engine.pending import Pending
from dreambench.engine.retry import RetryPolicy
from dreambench.engine.spans import open_spans
from dreambench.engine.store import AnswerStore
from dreambench.metrics.aggregation import SCORING_VERSION
from dreambench.metrics.fairness import references_of, same_family
from dreambench.records import Judgment
from dreambench.runs.assembly import Parts, assemble
from dreambench.runs.folder import RunFolder, write_json, write_text
from dreambench.runs.hostile import hostile_lines, hostile_table
from dreambench.runs.measure import measure
from dreambench.runs.subjects import Subjects
from dreambench.runs.tables import lost_in_flight, spent, write_parquet, write_tables
from dreambench.runs.texts import text_table
from dreambench.runs.thresholds import Checked, check_thresholds
from dreambench.runs.workers import worker_count, workers_of

LOCAL_WIDTH = 2
"""Answers that a process works out at once (the embedded judges): they share one interpreter."""

_LOST = "calls that were in flight when an attempt was killed: {} (asked again; the provider may have charged them twice)"


@dataclass(frozen=True)
class RunResult:
    """A finished attempt: where it lies, what became of the cells, and the tables by name."""

    folder: RunFolder
    parts: Parts
    outcome: Outcome
    tables: dict[str, pl.DataFrame]
    findings: list[str]
    owed: Sequence[Cell] = ()

    @functools.cached_property
    def thresholds(self) -> list[Checked]:
        """Every threshold of the run against every agent and judge, failures first."""
        return check_thresholds(self.tables["scores"], self.parts.metrics, self.parts.thresholds)


class _Ledger:
    """Takes call records before the journal is open: the gateway exists first, because judges are built with it."""

    def __init__(self) -> None:
        self.sinks: Sequence[Callable[[CallRecord], None]] = ()

    def __call__(self, record: CallRecord) -> None:
        assert self.sinks, "a call was made before the journal was open"
        for sink in self.sinks:
            sink(record)


class Watch(Protocol):
    """Makes the object that is told of progress, once the run's cells are known."""

    def __call__(self, *, cells: int, done: int, budget: Budget, clock: Clock) -> Progress: ...


async def execute(config: RunConfig, config_text: str, watch: Watch, clock: Clock) -> RunResult:
    """Runs or resumes the run that `config` describes. Raises InputError before anything is spent."""
    limits = Limits(**config.engine.budget.model_dump())
    budget = Budget(limits, clock)
    local = LOCAL_WIDTH * worker_count(config.engine)
    limiters = Limiters(Widths(config.engine.start, config.engine.most), clock, own={"embedded": Widths(local, local)})
    ledger = _Ledger()
    spans = open_spans(config.engine.telemetry, clock, dreambench.__version__)
    pending = Pending()
    store = AnswerStore(config.cache.mode)
    gateway = Gateway(
        store=store,
        limiters=limiters,
        retry=RetryPolicy(**config.engine.retry.model_dump()),
        budget=budget,
        clock=clock,
        record=ledger,
        pending=pending,
        cells=CellBudgets(Limits(**config.engine.cell_budget.model_dump()), clock),
    )
    parts = assemble(config, gateway)
    folder = RunFolder(config.paths.outputs / f"{parts.name}-{parts.run_id}")
    with folder.locked():
        write_text(folder.config, config_text)
        attempt = folder.start_attempt(sys.argv, clock)
        store.open(shared=config.paths.cache, run_local=folder.answers)
        parts.protocols.open(folder.root / "protocols", config.paths.cache / "protocols", config.cache.mode)
        parts.trajectories.open(folder.root)
        cells = list(parts.cells())
        async with AsyncExitStack() as ends:  # each is ended whatever becomes of the others, the stored answers last
            ends.callback(store.close)
            journal = Journal(folder.journal)
            ends.callback(journal.close)
            pending.open(folder.pending, journal.write_lost)
            ends.callback(pending.close)
            ends.push_async_callback(parts.tools.close)
            for judge in parts.judges.values():
                ends.push_async_callback(judge.close)
            ends.push_async_callback(parts.protocols.close)
            done = sum(journal.is_done(cell) for cell in cells)
            progress = watch(cells=len(cells), done=done, budget=budget, clock=clock)
            ends.callback(progress.close)
            workers = workers_of(config, parts.run_id, folder, attempt, gateway, journal.write_lost)
            if workers is not None:
                ends.push_async_callback(workers.close)
            spans.begin(folder.root.name, parts.run_id, len(cells))
            ends.push_async_callback(spans.close)
            ends.push_async_callback(gateway.drain)
            ends.callback(gateway.awaited.leave)
            gateway.awaited.tell = progress.note
            ledger.sinks = (journal.write_call, progress.call_recorded, spans.call_recorded)
            subjects = Subjects(parts, folder.perturbed)
            work: Work = functools.partial(measure, parts, subjects)
            if workers is not None and done < len(cells):
                await workers.open()
                work = workers.work
            elif any(metric.tools for metric in parts.metrics.values()):
                await parts.tools.open()
            engine = Engine(
                journal=journal,
                limiters=limiters,
                budget=budget,
                progress=progress,
                drop=gateway.drop,
                leave=gateway.awaited.leave,
                least_open=2 * local if workers else 2,
            )
            outcome = await engine.run(cells, spans.around(functools.partial(_within_budget, gateway, work)))
            spans.end(outcome)
        trouble = [
            *([gateway.trouble] if gateway.trouble else []),
            *(workers.findings if workers else []),
            *gateway.awaited.standing(),
            *parts.retirement_lines(clock.today()),
        ]
        result = await asyncio.to_thread(_finish, folder, parts, outcome, trouble, subjects.passages)
        return replace(result, owed=[cell for cell in cells if not journal.is_done(cell)])


async def _within_budget(gateway: Gateway, work: Work, cell: Cell) -> Sequence[Judgment]:
    try:
        return await work(cell)
    finally:
        gateway.cells.end(cell.id)


def _finish(
    folder: RunFolder, parts: Parts, outcome: Outcome, trouble: list[str], passages: Mapping[str, Sequence[Passage]]
) -> RunResult:
    tables = write_tables(folder, parts.run_id, parts.metrics.values(), parts.seed)
    write_parquet(text_table(folder, parts), folder.reports)
    hostile = hostile_table(parts.dataset.reports, passages)
    write_parquet(hostile, folder.root / "hostile.parquet")
    lost = lost_in_flight(folder.journal)
    references = references_of({name: metric.identity() for name, metric in parts.metrics.items()})
    findings = [
        *trouble,
        *([_LOST.format(lost)] if lost else []),
        *hostile_lines(hostile),
        *(str(finding) for finding in parts.dataset.findings),
        *_model_differences(tables["calls"]),
        *same_family({name: judge.identity() for name, judge in parts.judges.items()}, parts.dataset.agents, references),
    ]
    write_json(
        folder.summary,
        {
            "run": parts.run_id,
            "name": parts.name,
            "complete": outcome.complete,
            "cells": {"finished": outcome.finished, "before": outcome.before, "owed": outcome.owed},
            "stopped": outcome.stopped,
            "spent": {**spent(tables["calls"]), "lost_in_flight": lost},
            "scoring": SCORING_VERSION,
            "dataset": parts.dataset.fingerprint(),
            "metrics": {name: dict(metric.identity()) for name, metric in parts.metrics.items()},
            "judges": {name: {"note": judge.note, **judge.identity()} for name, judge in parts.judges.items()},
            "findings": findings,
        },
    )
    return RunResult(folder, parts, outcome, {**tables, "hostile": hostile}, findings)


def _model_differences(calls: pl.DataFrame) -> list[str]:
    """Models that answered under another name than was asked for: scores may not be comparable."""
    pairs = (
        calls.filter(pl.col("answered_model") != "", pl.col("outcome") == "ok")
        .select("requested_model", "answered_model")
        .unique()
        .sort("requested_model", "answered_model")
    )
    return [
        f"asked {asked}, answered by {answered}"
        for asked, answered in pairs.iter_rows()
        if not answered.startswith(asked.rpartition("/")[2])
    ]


def run_path(path: Path) -> str:
    """How a path is shown: relative to the working folder where that is shorter."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
