"""Peak memory of a run over more and more real reports, beside the same run over one report: it should stay flat.

python -m bench.memory [DATA [COUNT ...]]    DATA (or DREAMBENCH_DATA): a folder with drb/ and odr/, reports in DeepResearch
Bench's shape; numbers of reports (25 100)

Each line is a process of its own: metrics wq, ci (attribution, no tools) and da by the embedded judge, empty cache.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from itertools import islice, zip_longest
from pathlib import Path

from bench.timing import ROOT

COUNTS = (25, 100)
METRICS = "metric=[wq,ci,da]"


def main(arguments: list[str] | None = None) -> None:
    given = [*(arguments or []), os.environ.get("DREAMBENCH_DATA", "")][0]
    if not given:
        print("memory: skipped, no data: python -m bench.memory FOLDER, or set DREAMBENCH_DATA")
        return
    data = Path(given).resolve()
    base, _ = peak(data, 1)
    for count in [int(count) for count in (arguments or [])[1:]] or COUNTS:
        most, seconds = peak(data, count)
        above = most - base
        print(
            f"memory {count:4} reports {most:8.1f} MB   one report {base:8.1f} MB   above {above:7.1f} MB   "
            f"{seconds:6.1f} s   target flat"
        )


def peak(data: Path, count: int) -> tuple[float, float]:
    """Peak resident memory in MB and wall time in seconds of a run over the first `count` reports."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        take(data, count, folder / "reports")
        command = [sys.executable, "-m", "dreambench", "dataset=drb", f"dataset.reports={folder / 'reports'}"]
        command += [f"dataset.queries={data / 'drb' / 'query.jsonl'}", METRICS, "tools=none"]
        environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": name}
        started = time.perf_counter()
        with (folder / "log").open("wb") as log:
            run = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
            _, status, used = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
        if run.returncode:
            raise RuntimeError(
                f"a run over {count} reports ended with {run.returncode}: {(folder / 'log').read_text()[-2000:]}"
            )
        unit = 1e6 if sys.platform == "darwin" else 1e3
        return used.ru_maxrss / unit, time.perf_counter() - started


def take(data: Path, count: int, folder: Path) -> None:
    """The first `count` reports, by turns from every agent's file."""
    folder.mkdir()
    files = [data / "drb" / "claude-3-7-sonnet.jsonl", *sorted((data / "odr").glob("*.jsonl"))]
    lines = [path.read_text(encoding="utf-8").splitlines() for path in files]
    turns = ((path, line) for turn in zip_longest(*lines) for path, line in zip(files, turn, strict=True) if line)
    for path, line in islice(turns, count):
        with (folder / path.name).open("a", encoding="utf-8") as file:
            file.write(line + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
