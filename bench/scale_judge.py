"""The embedded judge in two worker processes against one process, beside a bare process pool that does the same work.

python -m bench.scale_judge [ROUNDS]

The bare pool puts the very questions of the run to the functions that answer them and does nothing else: no cache, no
journal, no metrics, no parsing of reports for the run. Times go from the first answer to the last cell, so starting a
process counts in neither.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import groupby
from multiprocessing import get_context
from typing import Any

from bench.timing import ROOT
from dreambench.config.compose import compose
from dreambench.engine.call import CallRecord
from dreambench.engine.cell import Cell
from dreambench.engine.clock import Clock
from dreambench.engine.scope import current_cell
from dreambench.judges.embedded.judge import EmbeddedJudge, find_answers
from dreambench.judges.kinds import Context, load_kind
from dreambench.judges.rubric import Rubric
from dreambench.records import Judgment
from dreambench.runs.assembly import validate
from dreambench.runs.execute import execute

WORKERS = 2
RUN = ["metric=[wq]", "perturbation=[omission]", "perturbation.omission.dose=[0.2,0.4,0.6]", "engine.most=64"]
"""Every demo report as it is and shortened three times: texts that share nothing in memory."""

Question = tuple[str, str, dict[str, Any], str]
"""The cell, the kind, the rubric's settings, and the context as JSON."""


class Times:
    """Progress of a run: when its first answer was recorded and its last cell finished."""

    def __init__(self, **_: object) -> None:
        self.first = 0.0
        self.last = 0.0
        Times.latest = self

    latest: Times

    def call_recorded(self, record: CallRecord) -> None:
        self.first = self.first or time.perf_counter()

    def cell_finished(self, cell: Cell, judgments: Sequence[Judgment]) -> None:
        self.last = time.perf_counter()

    def stopping(self, why: str) -> None: ...

    def note(self, text: str) -> None: ...

    def close(self) -> None: ...


def main(arguments: list[str] | None = None) -> None:
    rounds = int((arguments or ["3"])[0])
    questions = recorded()
    rows: dict[str, list[float]] = {"local": [], "processes": [], "bare one": [], "bare pool": []}
    for _ in range(rounds):
        rows["local"].append(run("engine=local"))
        rows["processes"].append(run("engine=processes", f"engine.workers={WORKERS}"))
        rows["bare one"].append(bare(questions, 1))
        rows["bare pool"].append(bare(questions, WORKERS))
    times = {name: statistics.median(seconds) for name, seconds in rows.items()}
    gain, base = times["local"] / times["processes"], times["bare one"] / times["bare pool"]
    texts = len({cell for cell, *_ in questions})
    print(f"embedded judge, {texts} texts, {len(questions)} questions, medians of {rounds}")
    two = f"{WORKERS} workers"
    for one, more, factor in (("local", "processes", gain), ("bare one", "bare pool", base)):
        print(f"{one:<9} {times[one]:6.2f} s   {more:<9} {two} {times[more]:6.2f} s   gain {factor:.2f}")
    print(f"gain beside the bare pool's   ratio {gain / base:.2f}")


def run(*overrides: str) -> float:
    """Seconds of one cold run in a process of its own."""
    code = f"from bench.scale_judge import child; child({[*overrides]!r})"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def child(overrides: Sequence[str]) -> None:
    make(overrides)
    print(Times.latest.last - Times.latest.first)


def make(overrides: Sequence[str]) -> None:
    """One cold run of the bench."""
    with tempfile.TemporaryDirectory() as name:
        composed = compose([*RUN, f"paths.outputs={name}/outputs", f"paths.cache={name}/cache", *overrides])
        clock = Clock()
        result = asyncio.run(execute(validate(composed, clock), "", Times, clock))
        assert result.outcome.complete


def recorded() -> list[Question]:
    """The questions of the run, cell by cell, as a run in this process asks them."""
    asked: list[Question] = []
    real = EmbeddedJudge._answer_text

    def noting(judge: EmbeddedJudge, rubric: Rubric, context: Context) -> str:
        asked.append((current_cell().id, rubric.kind.name, dict(rubric.settings), context.model_dump_json()))
        return real(judge, rubric, context)

    EmbeddedJudge._answer_text = noting  # type: ignore[method-assign]
    try:
        make(["engine=local"])
    finally:
        EmbeddedJudge._answer_text = real  # type: ignore[method-assign]
    return sorted(asked, key=lambda question: question[0])


def bare(questions: Sequence[Question], workers: int) -> float:
    """Seconds that `workers` processes take to answer, a text at a time, once they are warm."""
    texts = [[*cell] for _, cell in groupby(questions, key=lambda question: question[0])]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for _ in pool.map(answer_all, [texts[0]] * 2 * workers):
            pass
        started = time.perf_counter()
        for _ in pool.map(answer_all, texts):
            pass
        return time.perf_counter() - started


def answer_all(questions: Sequence[Question]) -> list[str]:
    return [*answers(questions)]


def answers(questions: Sequence[Question]) -> Iterator[str]:
    for _, kind, settings, context in questions:
        module = find_answers("dreambench.judges.embedded", kind)
        assert module is not None
        yield json.dumps(module.answer(settings, load_kind(kind).context.model_validate_json(context)))


if __name__ == "__main__":
    main(sys.argv[1:])
