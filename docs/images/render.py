"""Makes the pictures of README and docs anew, each from a run of its own: `make images` (needs chromium; some ten minutes)."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import polars as pl
from PIL import Image
from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME

from dreambench.reporting.finished import FinishedRun
from dreambench.reporting.page.data import PageData
from dreambench.reporting.tables import print_run
from dreambench.runs.folder import RunFolder
from experiments.demo_defects import defects
from tests.support.browser import Tab, browser

HERE = Path(__file__).parent
OUTPUTS = Path("outputs/images")
METRICS = "metric=[factuality,ci,fact,kic,rq,wq,da,citations]"
WIDTH = 104
"""Columns of the terminal."""
TERMINAL = """<!doctype html><meta charset=utf-8><style>
body {{ margin: 10px; background: #fff }}
main {{ display: inline-block; padding: 12px 18px 16px; border-radius: 8px; color: {foreground}; background: {background} }}
h1 {{ margin: 0 0 10px; font: bold 14px sans-serif; text-align: center }}
pre {{ margin: 0; font: 15px/17px 'DejaVu Sans Mono', monospace }}
</style><main><h1>make demo</h1><pre>{code}</pre></main>"""
"""Lines as high as the font draws the edges of tables, so that they meet."""


def main() -> None:
    sweep, defects, held = run("backbone_sweep"), run("demo_defects"), run(None, "dataset=holdout", METRICS)
    audit = run("metric_audit", f"study_inputs.holdout={held}")
    for folder, name in ((sweep, "backbone_sweep"), (audit, "metric_audit"), (audit, "holdout")):
        shutil.copy(folder / "study" / f"{name}.png", HERE / f"{name}.png")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, browser(Path(profile)) as tab:
        report_page(tab, defects)
        terminal(tab, sweep)


def run(experiment: str | None, *overrides: str) -> Path:
    """The folder of a finished run of an experiment, or of a plain one."""
    chosen = [f"+experiment={experiment}"] if experiment else []
    command = [sys.executable, "-m", "dreambench", *chosen, *overrides, f"paths.outputs={OUTPUTS}"]
    subprocess.run(command, check=True)
    return max(OUTPUTS.iterdir(), key=lambda folder: folder.stat().st_mtime)


def report_page(tab: Tab, folder: Path) -> None:
    """The part of a run's page that shows a report with its marks, at a swapped citation that Citation Integrity found."""
    place = urlencode(swapped_citation(PageData(RunFolder(folder))))
    tab.size(1100, 1000)
    tab.open(folder / "report.html", "document.documentElement.dataset.ready === 'yes'", place)
    tab.value("document.querySelector('mark.on').scrollIntoView({block: 'center'})")
    tab.screenshot(HERE / "report_page.png", "#reader")
    shrink(HERE / "report_page.png")


def swapped_citation(data: PageData) -> dict[str, Any]:
    """The first planted one whose page is silent on a claim that Factuality finds supported elsewhere: both are right.

    The demo's notes say what is planted where. Raises LookupError where the judge finds none.
    """
    planted = [defect for defect in defects() if defect.kind == "swapped_citation"]
    supported = data.numbered.filter(metric="factuality", label="supported").select("number", "report_start")
    silent = data.numbered.filter(pl.col("severity") > 0, metric="ci", label="neutral", family="citation")
    for row in silent.join(supported, on=["number", "report_start"], maintain_order="left").iter_rows(named=True):
        hits = (one for one in planted if (one.task, one.agent) == (row["task"], row["agent"]))
        if any(one.is_hit(row["report_start"], row["report_end"]) for one in hits):
            return {"text": row["number"], "item": row["item"], "metric": "ci", "judge": row["judge"]}
    raise LookupError("no swapped citation of the demo was found: choose another picture")


def terminal(tab: Tab, folder: Path) -> None:
    """What the command prints at the end of a run, as a terminal shows it."""
    finished = FinishedRun(RunFolder(folder))
    console = Console(record=True, width=WIDTH, force_terminal=True, color_system="truecolor", file=io.StringIO())
    notes = [f"{name}: {judge['note']}" for name, judge in finished.summary["judges"].items() if judge["note"]]
    print_run(console, finished.scores, finished.report_scores, notes)
    with tempfile.TemporaryDirectory() as place:
        page = Path(place) / "terminal.html"
        drawn = console.export_html(theme=SVG_EXPORT_THEME, inline_styles=True, code_format=TERMINAL)
        page.write_text(drawn, encoding="utf-8")
        tab.size(1100, 800)
        tab.open(page)
        tab.screenshot(HERE / "terminal.png", "main")
    shrink(HERE / "terminal.png")


def shrink(picture: Path) -> None:
    """Keeps 256 colours: a third of the size, and nothing that is seen."""
    with Image.open(picture) as whole:
        whole.convert("P", palette=Image.Palette.ADAPTIVE).save(picture, optimize=True)


if __name__ == "__main__":
    main()
