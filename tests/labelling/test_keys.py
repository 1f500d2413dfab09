"""The rating sheet in a real browser, driven by its keys from the first unit to the saved CSV, which is read back."""

from __future__ import annotations

import csv
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dreambench.labelling.sampling import SCORE, Sample, Unit
from dreambench.labelling.sheet import as_page
from dreambench.records import Report, Task
from tests.support.browser import NEEDS_CHROMIUM, Tab, browser

pytestmark = NEEDS_CHROMIUM
TEXT = "The bridge cost 40 million euros. It opened in 2012. The toll is 3 euros."
ITEMS = [
    ("cost", "The bridge cost 40 million euros.", ["supported", "contradicted"]),
    ("toll", "The toll is 3 euros.", ["yes", "no"]),
]
PROGRESS = "document.getElementById('progress').textContent"
ITEM = "document.getElementById('item').textContent"


def sample() -> Sample:
    """Two units with labels and, last, one with a number."""
    task, report = Task("bridge", "What did the bridge cost?", "d"), Report("bridge", "a", TEXT, "x")
    units = []
    for name, text, answers in [*ITEMS, ("style", "How well is it written?", list(SCORE))]:
        at = TEXT.find(text)
        place = {"report_start": at if at >= 0 else None, "report_end": at + len(text) if at >= 0 else None}
        row = {"metric": "m", "rubric": "", "family": "f", "report": report.id, "item": name, "occurrence": 0, "evidence": []}
        units.append(Unit(name, {**row, **place, "judge": "j"}, task, report, text, answers, "s", 1.0))
    return Sample(units, {"s": (3, 3)}, "j", ["metric"], 0)


@pytest.fixture
def tab(tmp_path: Path) -> Iterator[Tab]:
    page = tmp_path / "sheet.html"
    page.write_text(as_page(sample(), blind=True), encoding="utf-8")
    with browser(tmp_path / "profile") as tab:
        tab.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
        tab.open(page)
        yield tab
        assert tab.trouble() == [] and [url for url in tab.asked() if not url.startswith(("file:", "blob:"))] == []


def type_name(tab: Tab, name: str) -> None:
    tab.value("document.getElementById('rater').focus()")
    tab.press(*name, "Enter")


def test_a_sheet_is_filled_by_keys_alone(tab: Tab, tmp_path: Path) -> None:
    type_name(tab, "first")
    assert tab.value("document.activeElement.id") != "rater", "Enter leaves the field, so that keys are answers again"
    assert tab.value(ITEM) == ITEMS[0][1] and tab.value("document.querySelector('#report mark').textContent") == ITEMS[0][1]
    tab.press("2")
    assert tab.value(ITEM) == ITEMS[1][1] and tab.value(PROGRESS) == "2 of 3, 1 answered"
    tab.press("n", "o", "k", "Enter", "1")
    assert tab.value(PROGRESS) == "3 of 3, 2 answered"
    tab.press("7", "8", "5", "Enter", "s")
    path = tmp_path / "labels_first.csv"
    until = time.monotonic() + 30
    while not path.is_file() and time.monotonic() < until:
        time.sleep(0.05)
    with path.open(encoding="utf-8", newline="") as file:
        rows = [tuple(row.values()) for row in csv.DictReader(file)]
    assert rows == [("cost", "first", "contradicted", ""), ("toll", "first", "yes", "ok"), ("style", "first", "85", "")]


def test_keys_move_and_change_their_mind(tab: Tab) -> None:
    tab.press("j", "ArrowRight", "j")
    assert tab.value(PROGRESS) == "3 of 3, 0 answered", "the last unit is the end"
    tab.press("k", "0")
    assert tab.value(PROGRESS) == "3 of 3, 1 answered", "cannot tell is an answer"
    tab.press("u")
    assert tab.value(ITEM) == ITEMS[0][1], "the next unit without an answer"
    tab.press("1", "ArrowLeft")
    pressed = "document.querySelector('#answers [aria-pressed=true]').textContent"
    assert tab.value(pressed) == "1  supported"
    tab.press("2", "ArrowLeft")
    assert tab.value(pressed) == "2  contradicted"
    tab.press("9")
    assert tab.value(ITEM) == ITEMS[0][1], "a number without an answer does nothing"


def test_saving_without_a_name_asks_for_it(tab: Tab, tmp_path: Path) -> None:
    tab.press("1", "s")
    assert tab.value("document.activeElement.id") == "rater"
    assert tab.value(PROGRESS) == "your name first, it goes into the file"
    assert list(tmp_path.glob("labels_*")) == []


def test_answers_outlive_a_reload(tab: Tab, tmp_path: Path) -> None:
    tab.press("1")
    tab.value("saved = true")
    tab.open(tmp_path / "sheet.html")
    assert tab.value(PROGRESS) == "1 of 3, 1 answered"
