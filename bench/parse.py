"""How fast reports are parsed, beside markdown-it-py on the same texts in the same run.

    DREAMBENCH_DATA=... python -m bench.parse      real reports (odr/*.jsonl, drb/claude-3-7-sonnet.jsonl)
    python -m bench.parse                          a built-in synthetic report

Each report is parsed several times and its fastest run kept; printed are medians over reports, scaled to 12 kB.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from markdown_it import MarkdownIt

from dreambench.documents import normalize_url, parse_document

ROUNDS = 3
SIZE = 12_000


def synthetic_report() -> str:
    """About 12,000 characters with headings, lists, a table, 90 markers and 30 references."""
    lines = ["# Grid storage outlook", ""]
    for section in range(1, 16):
        lines += [f"## {section}. Region {section}", ""]
        lines += [
            f"Capacity in region {section} grew by {section}.5 % a year [{section}]. Costs fell to {300 - section} USD, "
            f"while imports doubled [{section + 1}, {section + 2}]. Analysts expect more (see also [{section}-{section + 2}]).",
            "",
            f"- Pumped hydro: {section * 3} GW [{section + 15}]",
            f"- Batteries, `LFP` mostly: {section * 2} GW [{section}][{section + 10}]",
            "",
        ]
    lines += ["| Region | GW |", "| --- | --- |", *(f"| {n} | {n * 2} [{n}] |" for n in range(1, 16)), "", "### Sources", ""]
    lines += [f"[{n}] Storage statistics, volume {n}: https://www.storage.example/reports/{n}?lang=en" for n in range(1, 31)]
    return "\n".join(lines)


def load_reports() -> dict[str, list[str]]:
    """Texts by agent."""
    folder = os.environ.get("DREAMBENCH_DATA")
    if not folder:
        return {"synthetic": [synthetic_report()] * 20}
    files = [*sorted(Path(folder, "odr").glob("*.jsonl")), Path(folder, "drb", "claude-3-7-sonnet.jsonl")]
    return {
        path.stem: [json.loads(line)["article"] for line in path.read_text("utf-8").splitlines() if line.strip()]
        for path in files
    }


def best(parse: Callable[[str], object], text: str) -> float:
    """Milliseconds per 12,000 characters, the fastest of a few runs, URL caches emptied before each."""
    times = []
    for _ in range(ROUNDS):
        normalize_url.cache_clear()
        start = time.perf_counter()
        parse(text)
        times.append(time.perf_counter() - start)
    return min(times) * 1000 * SIZE / max(len(text), 1)


def main() -> None:
    """Print one line per agent."""
    renderer = MarkdownIt("commonmark").enable("table")
    print(f"{'agent':<20} {'reports':>7} {'ours ms':>8} {'markdown-it ms':>15} {'ratio':>6} {'slowest report, whole, ms':>26}")
    for agent, texts in load_reports().items():
        ours = [best(parse_document, text) for text in texts]
        theirs = [best(renderer.parse, text) for text in texts]
        ratio = statistics.median(b / a for a, b in zip(ours, theirs, strict=True))
        slowest = max(ms * len(text) / SIZE for ms, text in zip(ours, texts, strict=True))
        print(
            f"{agent:<20} {len(texts):>7} {statistics.median(ours):>8.2f} {statistics.median(theirs):>15.2f}"
            f" {ratio:>5.1f}x {slowest:>26.1f}"
        )


if __name__ == "__main__":
    main()
