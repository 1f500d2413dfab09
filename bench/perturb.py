"""100 real reports at five doses for every rule-based kind: `DREAMBENCH_DATA=FOLDER python -m bench.perturb`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from dreambench.config.locations import bundled
from dreambench.config.options import load_option
from dreambench.documents import Document, parse_document
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


async def _apply(made: list[Perturbation], work: list[tuple[Task, Report, Document]]) -> tuple[int, int]:
    edits = empty = 0
    for task, report, document in work:
        for arm in made:
            log = (await arm.apply(task, report, document)).log
            edits += len(log.edits)
            empty += log.eligible == 0
    return edits, empty // len(made)


def main() -> None:
    folder = os.environ.get("DREAMBENCH_DATA")
    if not folder:
        sys.exit("set DREAMBENCH_DATA to the folder with odr/ and drb/")
    started = time.perf_counter()
    work = [(task, report, parse_document(report.text)) for task, report in load(Path(folder), REPORTS)]
    print(f"{len(work)} reports parsed in {time.perf_counter() - started:.1f} s; doses {DOSES}")
    print(f"{'kind':<22}{'seconds':>9}{'ms a report and dose':>22}{'edits':>9}{'reports without a unit':>25}")
    total = 0.0
    with tempfile.TemporaryDirectory() as scratch:
        pairs = Path(scratch) / "pairs.jsonl"
        pairs.write_text(json.dumps({"true": "a", "false": "b", "source": "https://example.org"}), encoding="utf-8")
        for kind in kinds():
            node = {**load_option("perturbation", kind, "bench"), "dose": DOSES}
            node |= {"path": str(pairs)} if kind == "swap_claims" else {}
            made = arms({kind: node})
            started = time.perf_counter()
            edits, empty = asyncio.run(_apply(made, work))
            seconds = time.perf_counter() - started
            total += seconds
            print(f"{kind:<22}{seconds:>9.2f}{1000 * seconds / len(work) / len(DOSES):>22.2f}{edits:>9}{empty:>25}")
    print(f"{'all':<22}{total:>9.2f}   target: under {TARGET:.0f} s, {'met' if total < TARGET else 'missed'}")


if __name__ == "__main__":
    main()
