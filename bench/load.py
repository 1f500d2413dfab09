"""Many calls in flight: memory above the process's own imports, and how late the event loop is.

python -m bench.load [MEAN [REPORTS ...]]    mean seconds of an answer (10), numbers of 50 kB reports, a run for each (50 100)

Every run is a process of its own that asks `wq` (ten calls a report) of a server in another process, 256 calls in flight at
most; answers take log-normal times. Lateness is measured by a sleep of 10 ms that is repeated while calls are in flight.
"""

from __future__ import annotations

import asyncio
import json
import math
import resource
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench.use import SIGMA, Silent
from bench.worker import server, start

WIDTH = 256
SIZE = 50_000
MOST_MEMORY, MOST_LAG = 120, 0.050
TICK = 0.010


def write_reports(folder: Path, count: int, size: int = SIZE) -> list[str]:
    """Reports in DeepResearch Bench's shape, no two alike; returns the settings that load them."""
    sentence = "In region {} storage grew by {} per cent in the year, while costs fell again and orders rose [{}]. "
    with (folder / "agent.jsonl").open("w", encoding="utf-8") as file:
        for number in range(count):
            words = "".join(sentence.format(number, line, line % 9) + "\n\n" * (line % 5 == 4) for line in range(size // 95))
            file.write(
                json.dumps({"id": number, "prompt": f"Question {number}?", "article": f"# Report {number}\n\n{words}"}) + "\n"
            )
    with (folder / "query.jsonl").open("w", encoding="utf-8") as file:
        for number in range(count):
            file.write(json.dumps({"id": number, "topic": "Energy", "language": "en", "prompt": f"Question {number}?"}) + "\n")
    return ["dataset=drb", f"dataset.reports={folder / 'agent.jsonl'}", f"dataset.queries={folder / 'query.jsonl'}"]


def peak() -> float:
    """Most resident memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


class Watched(Silent):
    """Notes the memory when the last cell has ended, before the tables are written."""

    in_flight = 0.0

    def close(self) -> None:
        Watched.in_flight = peak()


async def lateness(into: list[float]) -> None:
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + TICK
        await asyncio.sleep(TICK)
        into.append(loop.time() - due)


def work(folder: Path, url: str, overrides: Sequence[str]) -> None:
    """One run; prints what it took."""
    import scipy.special  # noqa: F401 - what a run imports sooner or later is not its own memory

    from dreambench.config.compose import compose
    from dreambench.engine.clock import Clock
    from dreambench.judges.llm.client import load
    from dreambench.reporting.page import write_page  # noqa: F401
    from dreambench.runs.assembly import validate
    from dreambench.runs.execute import execute

    model = ["judge=litellm", "judge.litellm.model=openai/anything", f"judge.litellm.api_base={url}"]
    widths = [f"engine.start={WIDTH}", f"engine.most={WIDTH}"]
    paths = [f"paths.outputs={folder / 'outputs'}", f"paths.cache={folder / 'cache'}"]
    clock = Clock()
    config = validate(compose(["metric=wq", *overrides, *model, *widths, *paths]), clock)
    load()
    imports = peak()
    late: list[float] = []

    async def run() -> Any:
        watch = asyncio.create_task(lateness(late))
        try:
            return await execute(config, "", Watched, clock)
        finally:
            watch.cancel()

    result = asyncio.run(run())
    if not result.outcome.complete:
        raise RuntimeError(f"{result.outcome.owed} cells are owed: {result.outcome.stopped}")
    told = {
        "imports": imports,
        "in_flight": Watched.in_flight,
        "peak": peak(),
        "late": percentile(late),
        "calls": result.tables["calls"].height,
    }
    print(json.dumps(told))


async def _beside(wait: Callable[[], str]) -> tuple[str, float]:
    """What `wait` returns, and how late a loop without work was meanwhile, 99th percentile: what the machine adds by itself."""
    late: list[float] = []
    watch = asyncio.create_task(lateness(late))
    try:
        return await asyncio.to_thread(wait), percentile(late)
    finally:
        watch.cancel()


def percentile(late: Sequence[float]) -> float:
    return statistics.quantiles(late, n=100)[98]


def main(mean: float = 10.0, *counts: int) -> None:
    for count in counts or (50, 100):
        with ExitStack() as ends:
            folder = Path(ends.enter_context(tempfile.TemporaryDirectory()))
            url = server(ends, folder, latency=mean / math.exp(SIGMA**2 / 2), sigma=SIGMA)
            child = start(ends, folder, "-m", "bench.load", "work", str(folder), url, *write_reports(folder, count))
            assert child.stdout
            line, bare = asyncio.run(_beside(child.stdout.readline))
            told = json.loads(line)
        above, whole = (told[name] - told["imports"] for name in ("in_flight", "peak"))
        print(
            f"load, {told['calls']:5,} calls of {count:4} reports, {WIDTH} in flight, mean {mean:g} s: "
            f"{above:6.1f} MB above the imports "
            f"({told['imports']:.1f} MB), {whole:6.1f} with the tables   target {MOST_MEMORY}\n"
            f"  event loop late, 99th percentile {1000 * told['late']:7.1f} ms   "
            f"an idle loop at the same time {1000 * bare:7.1f} ms   target {1000 * MOST_LAG:.0f}"
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["work"]:
        work(Path(sys.argv[2]), sys.argv[3], sys.argv[4:])
    else:
        main(*map(float, sys.argv[1:2]), *map(int, sys.argv[2:]))
