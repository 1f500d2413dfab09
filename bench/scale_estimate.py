"""A run of 100,000 reports, computed from what this machine measures now: machines, time, money, and what breaks first.

python -m bench.scale_estimate [REPORTS [SECONDS [FLIGHT]]]

REPORTS are 100000 where none are given, SECONDS the mean of an answer (5), FLIGHT the calls in flight (64).

Measured: calls, tokens and price of a report (`plan`, metric=dream, one model), processor time of the driver per bought
call, in one process and with two workers, bytes per call and judgment, and the aggregation of judgments in parts. Everything
else is a product of these.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from bench.scale_judge import Times
from bench.scale_rows import aggregate, write
from bench.timing import ROOT
from dreambench.config.compose import compose
from dreambench.engine.clock import Clock
from dreambench.engine.journal import Journal
from dreambench.runs.assembly import validate
from dreambench.runs.execute import execute
from tests.support.openai_stub import OpenAIStub

JUDGE = "claude_sonnet_5_5"
SMALL, LARGE = "dataset.limit=1", "dataset.limit=6"
"""Two sizes of a run: what a call costs is the slope between them, so that starting counts in neither."""
SAMPLE = 100_000
"""Judgments that are aggregated to know what a million takes."""


@dataclass(frozen=True, slots=True)
class Used:
    """What a run took: processor seconds of the driver and of its workers, calls bought, judgments, bytes on disk, seconds to
    open its journal again, and bytes of a judgment in memory."""

    driver: float
    workers: float
    calls: int
    judgments: int
    journal: int
    cache: int
    scan: float
    table: int


def main(arguments: list[str] | None = None) -> None:
    given = [float(value) for value in arguments or []]
    reports, seconds, flight = [*given, *(100_000, 5.0, 64)[len(given) :]]
    bill = plan()
    local, spread = slope("engine=local"), slope("engine=processes", "engine.workers=2")
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), SAMPLE)
        _, took, peak, base = aggregate(name)
    planned = bill["cells"]["wq"]
    calls, judgments = (reports * expected(bill, role) / planned for role in ("", "judging"))
    print(f"{reports:,.0f} reports, metric=dream by {JUDGE}, answers of {seconds:g} s, {flight:.0f} in flight")
    for name in ("low", "expected", "high"):
        money = bill["total"]["cost"][name] / planned
        line(f"money, {name}", money * reports, "$", f"${money:.3f} a report")
    line("calls", calls / 1e6, "million", f"{calls / reports:.0f} a report")
    line("judgments", judgments / 1e6, "million", "one per call that judges")
    line("waiting for answers", calls * seconds / flight / 3600, "h", f"{flight / seconds * 60:.0f} calls a minute")
    line("processor, one process", calls * local.driver / 3600, "h", f"{1000 * local.driver:.2f} ms a call")
    line("processor, driver of two workers", calls * spread.driver / 3600, "h", f"{1000 * spread.driver:.2f} ms a call")
    line("processor, its workers together", calls * spread.workers / 3600, "h", f"{1000 * spread.workers:.2f} ms a call")
    line("in flight, one process keeps up with", seconds / local.driver, "calls")
    line("in flight, a driver keeps up with", seconds / spread.driver, "calls")
    day = calls * seconds / 86_400
    line("in flight to end in a day", day, "calls", f"{day / seconds * 60:,.0f} calls a minute")
    line("  processes for that, each alone", math.ceil(day * local.driver / seconds), "")
    line("  workers for that, one driver", math.ceil(day * spread.workers / seconds), "")
    line("journal", calls * local.journal / 1e9, "GB", f"{local.journal:,} bytes a call, with its judgments")
    line("cache", calls * local.cache / 1e9, "GB", f"{local.cache:,} bytes an answer")
    line("opening the journal again", calls * local.scan, "s")
    line("item table in memory at the end", judgments * local.table / 1e9, "GB", f"{local.table:,} bytes a judgment")
    line("scores from parts", judgments / SAMPLE * took, "s", f"{peak - base:.0f} MB above the imports for {SAMPLE:,}")


def line(what: str, value: float, unit: str, why: str = "") -> None:
    print(f"{what:<38} {value:14,.1f} {unit:<8} {why}".rstrip())


def plan() -> dict[str, Any]:
    """The bill of two demo tasks for one model."""
    command = [sys.executable, "-m", "dreambench", "plan", "metric=dream", "dataset.limit=2", f"judge={JUDGE}", "--json"]
    with tempfile.TemporaryDirectory() as name:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=name, env=environment, capture_output=True, text=True, check=True)
    bill: dict[str, Any] = json.loads(done.stdout)
    return bill


def expected(bill: Mapping[str, Any], role: str) -> float:
    """Calls of a role, of all roles where none is named."""
    lines = [one for one in bill["lines"] if role in ("", one["role"])]
    return float(sum(one["calls"]["expected"] for one in lines))


def slope(*overrides: str) -> Used:
    """What one more call takes, from two sizes of a run against a model on loopback."""
    with OpenAIStub() as stub:
        few, many = used([*overrides, SMALL], stub.url), used([*overrides, LARGE], stub.url)
    calls = many.calls - few.calls
    return Used(
        driver=(many.driver - few.driver) / calls,
        workers=(many.workers - few.workers) / calls,
        calls=1,
        judgments=1,
        journal=(many.journal - few.journal) // calls,
        cache=(many.cache - few.cache) // calls,
        scan=many.scan / many.calls,
        table=many.table // many.judgments,
    )


def used(overrides: Sequence[str], url: str) -> Used:
    """One cold run in a process of its own."""
    code = f"from bench.scale_estimate import child; child({[*overrides]!r}, {url!r})"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return Used(**json.loads(done.stdout.splitlines()[-1]))


def child(overrides: Sequence[str], url: str) -> None:
    judge = ["judge=openai_compatible", "judge.openai_compatible.model=openai/any", f"judge.openai_compatible.api_base={url}"]
    with tempfile.TemporaryDirectory() as name:
        composed = compose(["metric=[wq]", *judge, f"paths.outputs={name}/o", f"paths.cache={name}/c", *overrides])
        clock = Clock()
        result = asyncio.run(execute(validate(composed, clock), "", Times, clock))
        assert result.outcome.complete
        judgments: pl.DataFrame = result.tables["judgments"]
        cpu = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        started = time.process_time()
        Journal(result.folder.journal).close()
        print(
            json.dumps(
                {
                    "driver": cpu[0].ru_utime + cpu[0].ru_stime,
                    "workers": cpu[1].ru_utime + cpu[1].ru_stime,
                    "calls": result.tables["calls"].filter(pl.col("source") == "provider").height,
                    "judgments": judgments.height,
                    "journal": result.folder.journal.stat().st_size,
                    "cache": sum(path.stat().st_size for path in Path(name, "c").rglob("*") if path.is_file()),
                    "scan": time.process_time() - started,
                    "table": int(judgments.estimated_size()),
                }
            )
        )


if __name__ == "__main__":
    main(sys.argv[1:])
