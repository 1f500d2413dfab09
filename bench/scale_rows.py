"""1,000,000 judgments as they lie after `export --to parquet`, aggregated part by part in a process of its own.

python -m bench.scale_rows [ROWS]

The rows are synthetic, in the run's schema, with rationales and evidence of usual length: one task's cells follow each
other, as in a run. The first line is for a tenth of the rows: it shows how time and memory grow.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from bench.timing import ROOT
from dreambench.config.compose import compose
from dreambench.config.locations import bundled
from dreambench.engine.clock import Clock
from dreambench.evaluators.agent_trajectory import Trajectories
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.aggregation import columns_of, dataset_scores
from dreambench.metrics.metric import Metric
from dreambench.protocols.source import NoProtocols
from dreambench.reporting.shards import PARTS, ROWS, read_parts, values_of_parts
from dreambench.runs.assembly import build_metrics, validate
from dreambench.runs.tables import ITEM_ORDER, ITEM_SCHEMA
from dreambench.tools.toolset import NoTools

ALL = 1_000_000
AGENTS, JUDGES = 5, 2
ITEMS = {"wq": 10, "kic": 12}
"""Judgments of a report by metric."""
WORDS = "the report states that figure for another year than the page it cites and gives no reason for the difference".split()


def main(arguments: list[str] | None = None) -> None:
    rows = int((arguments or [str(ALL)])[0])
    for count in (rows // 10, rows):
        with tempfile.TemporaryDirectory() as name:
            size = write(Path(name), count)
            values, seconds, peak, base = aggregate(name)
        print(
            f"aggregate {count:>9,} judgments ({size / 1e6:6.1f} MB) {seconds:6.2f} s   peak {peak:7.1f} MB"
            f"   imports alone {base:7.1f} MB   above {peak - base:7.1f} MB   {values:,} report values"
        )


def write(folder: Path, count: int) -> int:
    """Writes `count` rows in parts; returns their bytes."""
    (folder / PARTS).mkdir()
    drawn = random.Random(0)
    waiting: list[dict[str, object]] = []
    number = 0
    for row in synthetic(count, drawn):
        waiting.append(row)
        if len(waiting) == ROWS:
            number = flush(folder, waiting, number)
    if waiting:
        flush(folder, waiting, number)
    return sum(path.stat().st_size for path in (folder / PARTS).iterdir())


def flush(folder: Path, waiting: list[dict[str, object]], number: int) -> int:
    part = pl.DataFrame(waiting, schema=ITEM_SCHEMA).sort(*ITEM_ORDER, maintain_order=True)
    part.write_parquet(folder / PARTS / f"part-{number:05}.parquet")
    waiting.clear()
    return number + 1


def synthetic(count: int, drawn: random.Random) -> Iterator[dict[str, object]]:
    """Rows of WQ and KIC; parts of the bench may cut a cell in two, which changes no time."""
    families = {"wq": [("language", 5), ("fluency", 5)], "kic": [("kic", 12)]}
    made = 0
    for task in range(count):
        for agent in range(AGENTS):
            for metric, judge in ((metric, judge) for metric in ITEMS for judge in range(JUDGES)):
                cell = f"{task:08x}{agent:04x}{judge:04x}{metric}"
                shared = {
                    "run": "bench",
                    "dataset": "bench",
                    "task": f"t{task}",
                    "as_of": "2025-01-01",
                    "agent": f"agent {agent}",
                }
                shared |= {"report": f"{task:012x}{agent:04x}", "perturbation": "clean", "dose": 0.0, "protocol": ""}
                shared |= {"metric": metric, "rubric": "default", "rubric_version": "1", "evaluator": "llm", "tools": "none"}
                for family, items in families[metric]:
                    for item in range(items):
                        value = drawn.random()
                        yield {
                            **shared,
                            "judge": f"judge {judge}",
                            "repeat": 0,
                            "cell": cell,
                            "family": family,
                            "item": f"{task:08x}{item:08x}",
                            "label": "yes" if value > 0.5 else "no",
                            "value": float(value > 0.5),
                            "weight": 1.0,
                            "status": "scored",
                            "reason_code": "",
                            "rationale": " ".join(drawn.choices(WORDS, k=25)),
                            "evidence": [
                                {"url": "https://example.org/page", "snapshot": "", "published": "", "quote": "a quote"}
                            ],
                            "cost": 0.001,
                        }
                        made += 1
                        if made == count:
                            return


def aggregate(folder: str) -> tuple[int, float, float, float]:
    """Report values, seconds, peak memory and that of the imports alone in MB, of a process that aggregates `folder`."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", f"from bench.scale_rows import child; child({folder!r})"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    values, seconds, peak, base = done.stdout.split()
    return int(values), float(seconds), float(peak), float(base)


def child(folder: str) -> None:
    metrics = bench_metrics()
    base = peak_memory()
    started = time.perf_counter()
    values = values_of_parts(read_parts(folder, columns_of(metrics)), metrics)
    dataset_scores(values, seed=0)
    print(values.height, time.perf_counter() - started, peak_memory(), base)


def peak_memory() -> float:
    """Peak resident memory of this process so far, in MB (Linux; `getrusage` would count the process that began this one)."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1e3


def bench_metrics() -> list[Metric]:
    config = validate(compose([f"metric=[{','.join(ITEMS)}]"]), Clock())
    parts = {"shelf": RubricShelf([bundled("rubrics")]), "tools": NoTools(), "trajectories": Trajectories()}
    return list(build_metrics(config, protocols=NoProtocols(), **parts).values())


if __name__ == "__main__":
    main(sys.argv[1:])
