"""A warm run of 5,000 judgments, and resuming a run of 50,000 rows, each beside what its reads alone take.

python -m bench.warm

The answers are put into the cache by a judge that is told what to answer; then a process of its own, its imports done, reads
them again, aggregates them and writes the tables.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from bench.load import write_reports
from bench.timing import seconds
from bench.use import Silent
from bench.worker import start
from dreambench.engine.call import Reply, Usage
from dreambench.engine.cell import Cell
from dreambench.engine.journal import Journal
from dreambench.records import Judgment

REPORTS = 500
"""With ten calls each: 5,000 judgments."""
SIZE = 5_000
ROWS = 50_000
MOST_WARM, MOST_SCAN = 3.0, 2.0


def work(folder: Path, outputs: str, overrides: list[str], cold: bool) -> None:
    """One run; prints seconds of wall and processor time from the composed configuration to the written tables."""
    import scipy.special  # noqa: F401 - imported by a run sooner or later

    from dreambench.config.compose import compose
    from dreambench.engine.clock import Clock
    from dreambench.judges.llm import LLMJudge
    from dreambench.runs.assembly import validate
    from dreambench.runs.execute import execute

    async def told(judge: LLMJudge, ask: object) -> Reply:
        return Reply('{"reason": "It reads well.", "score": 70}', model="told", usage=Usage(1000, 20), cost=0.0)

    if cold:
        LLMJudge._send = told  # type: ignore[method-assign, assignment]
    model = ["judge=litellm", "judge.litellm.model=openai/anything", "judge.litellm.api_base=http://127.0.0.1:9/v1"]
    paths = [f"paths.outputs={folder / outputs}", f"paths.cache={folder / 'cache'}"]
    clock = Clock()
    config = validate(compose(["metric=wq", *overrides, *model, *paths]), clock)
    wall, processor = time.perf_counter(), time.process_time()
    result = asyncio.run(execute(config, "", Silent, clock))
    taken = {"wall": time.perf_counter() - wall, "processor": time.process_time() - processor}
    if result.tables["judgments"].height != 10 * REPORTS:
        raise RuntimeError(f"{result.tables['judgments'].height} judgments")
    print(json.dumps(taken))


def warm(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        overrides = write_reports(folder, REPORTS, SIZE)
        runs = [_run(folder, f"outputs{number}", overrides, cold=number == 0) for number in range(rounds + 1)][1:]
        wall, processor = (statistics.median(run[what] for run in runs) for what in ("wall", "processor"))
        bare = statistics.median(seconds(lambda: _bare_reads(folder / "cache")) for _ in range(rounds))
    print(
        f"warm, 5,000 judgments read, scored, written {wall:6.2f} s ({processor:.2f} s of processor time)   "
        f"their answers by bare diskcache {bare:5.2f} s   target {MOST_WARM:g} s"
    )


def _run(folder: Path, outputs: str, overrides: list[str], cold: bool) -> dict[str, float]:
    with ExitStack() as ends:
        child = start(ends, folder, "-m", "bench.warm", "cold" if cold else "warm", str(folder), outputs, *overrides)
        assert child.stdout
        told: dict[str, float] = json.loads(child.stdout.readline())
        return told


def _bare_reads(folder: Path) -> None:
    from diskcache import Cache, JSONDisk

    with Cache(str(folder), disk=JSONDisk) as cache:
        keys = [key for (key,) in cache._sql("SELECT key FROM Cache").fetchall()]
        select = "SELECT value FROM Cache WHERE key = ? AND raw = 1"
        for key in keys:
            json.loads(cache._sql(select, (key,)).fetchall()[0][0])


def scan(rounds: int) -> None:
    row = Judgment("item", "family", "label", 0.5, rationale="What the page says about the claim. " * 5)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "journal.jsonl"
        journal = Journal(path)
        for number in range(ROWS // 10):
            columns = {"task": f"task{number}", "report": f"report{number}", "metric": "wq", "judge": "judge", "repeat": 0}
            cell = Cell(f"{number:016x}", "wq", "judge", f"task{number}", f"report{number}", 0, columns)
            journal.write_cell(cell, [row] * 10)
        journal.close()

        def ours() -> None:
            again = Journal(path)
            if len(again.done) != ROWS // 10:
                raise RuntimeError("not all cells were found")
            again.close()

        def bare() -> None:
            with path.open("rb") as lines:
                for line in lines:
                    json.loads(line)

        pairs = [(seconds(ours), seconds(bare)) for _ in range(rounds + 1)][1:]
    mine, base = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(
        f"resume, 50,000 finished rows scanned {mine:6.2f} s   bare json.loads of the lines {base:5.2f} s   "
        f"target {MOST_SCAN:g} s"
    )


def main(rounds: int = 3) -> None:
    warm(rounds)
    scan(rounds)


if __name__ == "__main__":
    if sys.argv[1:2] in (["cold"], ["warm"]):
        work(Path(sys.argv[2]), sys.argv[3], sys.argv[4:], cold=sys.argv[1] == "cold")
    else:
        main(*map(int, sys.argv[1:]))
