"""Makes the pictures of README and docs anew, each from a run of its own: `make images` (needs chromium; some ten minutes)."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode

from PIL import Image
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console

from dreambench.reporting.finished import FinishedRun
from dreambench.reporting.page.data import PageData
from dreambench.reporting.tables import print_run
from dreambench.runs.folder import RunFolder
from tests.support.browser import Tab, browser

HERE = Path(__file__).parent
OUTPUTS = Path("outputs/images")
METRICS = "metric=[factuality,ci,fact,kic,rq,wq,da,citations]"
WIDTH = 92
"""Columns of the terminal."""
WEB_FONT = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)
"""Rich's picture of a terminal asks the web for its font; ours asks for nothing."""


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
    """The part of a run's page that shows a report with its marks and the judgments of one finding."""
    index = PageData(RunFolder(folder)).index()
    wrong = (row for row in index["findings"] if index["texts"][row[0]][1] == "fluent_wrong" and row[3] == "contradicted")
    text, metric, judge, *_, item = min(wrong, key=lambda row: row[1] != "ci")
    tab.size(1100, 1000)
    place = urlencode({"text": text, "item": item, "metric": metric, "judge": judge})
    tab.open(folder / "report.html", "document.documentElement.dataset.ready === 'yes'", place)
    tab.screenshot(HERE / "report_page.png", "#reader")
    shrink(HERE / "report_page.png")


def terminal(tab: Tab, folder: Path) -> None:
    """What the command prints at the end of a run, as a terminal shows it."""
    finished = FinishedRun(RunFolder(folder))
    console = Console(record=True, width=WIDTH, force_terminal=True, color_system="truecolor", file=io.StringIO())
    notes = [f"{name}: {judge['note']}" for name, judge in finished.summary["judges"].items() if judge["note"]]
    print_run(console, finished.scores, finished.report_scores, notes)
    drawn = console.export_svg(title="make demo", code_format=WEB_FONT.sub("", CONSOLE_SVG_FORMAT))
    with tempfile.TemporaryDirectory() as place:
        page = Path(place) / "terminal.html"
        page.write_text(
            f"<!doctype html><meta charset=utf-8><style>body{{margin:10px}}svg{{width:1000px}}</style>{drawn}", encoding="utf-8"
        )
        tab.size(1020, 800)
        tab.open(page)
        tab.screenshot(HERE / "terminal.png", "svg")
    shrink(HERE / "terminal.png")


def shrink(picture: Path) -> None:
    """Keeps 256 colours: a third of the size, and nothing that is seen."""
    with Image.open(picture) as whole:
        whole.convert("P", palette=Image.Palette.ADAPTIVE).save(picture, optimize=True)


if __name__ == "__main__":
    main()
