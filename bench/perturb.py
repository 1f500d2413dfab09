"""100 real reports at five doses for every rule-based kind: `DREAMBENCH_DATA=FOLDER python -m bench.perturb`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dreambench.config.locations import bundled
from dreambench.config.options import load_option
from dreambench.documents import parse_document
from dreambench.perturbations import Perturbation, arms
from dreambench.records import Report, Task

DOSES = [0.0, 0.25, 0.5, 0.75, 1.0]
REPORTS = 100
FILES = ("odr/gpt-5.jsonl", "odr/gpt-4.1.jsonl", "odr/claude4-sonnet.jsonl", "drb/claude-3-7-sonnet.jsonl")
TARGET = 60.0


def load(folder: Path, count: int) -> list[tuple[Task, Report]]:
    """The first reports of each file, as many of each."""
    found = []
    for name in FILES:
        with (folder / name).open(encoding="utf-8") as lines:
            rows: list[dict[str, Any]] = [json.loads(line) for line in lines][: count // len(FILES)]
        found += [(Task(str(row["id"]), row["prompt"], name), Report(str(row["id"]), name, row["article"])) for row in rows]
    return found


def kinds() -> list[str]:
    """Every kind but compositions, which repeat others."""
    return sorted(path.stem for path in (bundled("conf") / "perturbation").glob("*.yaml") if path.stem != "compose")


@dataclass
class Tally:
    """What one kind took and did."""

    seconds: float = 0.0
    edits: int = 0
    empty: int = 0


async def _work(made: dict[str, list[Perturbation]], reports: list[tuple[Task, Report]]) -> dict[str, Tally]:
    """Report by report, as a run does it, so that the kinds share a report's sentences."""
    tallies = {kind: Tally() for kind in ["(parsing)", *made]}
    for task, report in reports:
        started = time.perf_counter()
        document = parse_document(report.text)
        tallies["(parsing)"].seconds += time.perf_counter() - started
        for kind, kind_arms in made.items():
            started = time.perf_counter()
            logs = [(await arm.apply(task, report, document)).log for arm in kind_arms]
            tally = tallies[kind]
            tally.seconds += time.perf_counter() - started
            tally.edits += sum(len(log.edits) for log in logs)
            tally.empty += logs[0].eligible == 0
    return tallies


def main() -> None:
    folder = os.environ.get("DREAMBENCH_DATA")
    if not folder:
        sys.exit("set DREAMBENCH_DATA to the folder with odr/ and drb/")
    reports = load(Path(folder), REPORTS)
    with tempfile.TemporaryDirectory() as scratch:
        pairs = Path(scratch) / "pairs.jsonl"
        pairs.write_text(json.dumps({"true": "a", "false": "b", "source": "https://example.org"}), encoding="utf-8")
        nodes = {kind: {**load_option("perturbation", kind, "bench"), "dose": DOSES} for kind in kinds()}
        nodes["swap_claims"]["path"] = str(pairs)
        made = {kind: arms({kind: node}) for kind, node in nodes.items()}
    tallies = asyncio.run(_work(made, reports))
    print(f"{len(reports)} reports at doses {DOSES}")
    print(f"{'kind':<22}{'seconds':>9}{'ms a report and dose':>22}{'edits':>9}{'reports without a unit':>25}")
    for kind, tally in tallies.items():
        each = 1000 * tally.seconds / len(reports) / len(DOSES)
        print(f"{kind:<22}{tally.seconds:>9.2f}{each:>22.2f}{tally.edits:>9}{tally.empty:>25}")
    total = sum(tally.seconds for tally in tallies.values())
    print(f"{'all':<22}{total:>9.2f}   target: under {TARGET:.0f} s, {'met' if total < TARGET else 'missed'}")


if __name__ == "__main__":
    main()
