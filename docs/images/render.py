"""Makes the README's pictures anew: `make images` (needs chromium). Runs two studies of the demo and takes a page's picture."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

from PIL import Image

HERE = Path(__file__).parent
OUTPUTS = Path("outputs/images")
SIZE = (1280, 4600)
"""Wide and tall enough for the whole page, so that nothing has to be scrolled to."""


def main() -> None:
    for study in ("backbone_sweep", "metric_audit"):
        shutil.copy(run(study) / "study" / f"{study}.png", HERE / f"{study}.png")
    picture(run("demo_defects") / "report.html")


def run(study: str) -> Path:
    """The folder of a finished run of `study`."""
    subprocess.run([sys.executable, "-m", "dreambench", f"+experiment={study}", f"paths.outputs={OUTPUTS}"], check=True)
    return max(OUTPUTS.glob(f"{study}-*"), key=lambda folder: folder.stat().st_mtime)


def picture(page: Path) -> None:
    """The part of the page that shows a report with its marks and the judgments of one finding."""
    from dreambench.reporting.page.data import PageData
    from dreambench.runs.folder import RunFolder

    index = PageData(RunFolder(page.parent)).index()
    wrong = (row for row in index["findings"] if index["texts"][row[0]][1] == "fluent_wrong" and row[3] == "contradicted")
    text, metric, judge, *_, item = next(row for row in wrong if row[1] == "ci")
    address = f"{page.resolve().as_uri()}#{urlencode({'text': text, 'item': item, 'metric': metric, 'judge': judge})}"
    shot = HERE / "report_page.png"
    quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=8000"]
    subprocess.run(
        ["chromium", *quiet, f"--window-size={SIZE[0]},{SIZE[1]}", f"--screenshot={shot}", address],
        check=True,
        capture_output=True,
    )
    with Image.open(shot) as whole:
        part = whole.crop((0, 2360, 1280, 3560))
    part.resize((1000, 938)).convert("P", palette=Image.Palette.ADAPTIVE).save(shot)


if __name__ == "__main__":
    main()
