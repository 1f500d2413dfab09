"""The main job on the demo, cold (empty cache and outputs) and warm (new outputs, filled cache), beside bare imports.

python -m bench.run
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.timing import process, seconds

IMPORTS = "import hydra, polars, matplotlib.figure, numpy, scipy.stats, onnxruntime, tokenizers"


def main(rounds: int = 3, command: Sequence[str] = ("+experiment=backbone_sweep",), what: str = "backbone_sweep") -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        job = process(["-m", "dreambench", *command], folder)
        bare = process(["-c", IMPORTS], folder)
        rows: dict[str, list[float]] = {"cold": [], "warm": [], "resumed": [], "imports alone": []}
        for _ in range(rounds):
            shutil.rmtree(folder / ".dreambench", ignore_errors=True)
            shutil.rmtree(folder / "outputs", ignore_errors=True)
            rows["cold"].append(seconds(job))
            shutil.rmtree(folder / "outputs")
            rows["warm"].append(seconds(job))
            rows["resumed"].append(seconds(job))
            rows["imports alone"].append(seconds(bare))
        base = statistics.median(rows["imports alone"])
        for state, times in rows.items():
            middle = statistics.median(times)
            print(f"{what} on the demo, {state:<14} {middle:6.2f} s   {middle / base:5.1f} x the imports alone")


if __name__ == "__main__":
    main()
