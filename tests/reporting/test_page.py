"""The report page: one file with everything in it, nothing of a report ever HTML; opened in a browser where there is one."""

from __future__ import annotations

import base64
import gzip
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pypdfium2
import pytest

from dreambench.reporting.page.data import severity
from tests.apps.command import dreambench
from tests.support.browser import CHROMIUM, NEEDS_CHROMIUM, browser

HOSTILE = """# Costs <script>document.title = "owned"</script>

The bridge cost 40 million euros in 2011 [1]. <img src=x onerror="document.title='owned'"> 😀 It opened in 2012 [1].

</script><style>body{display:none}</style> The toll is 3 euros [9].

## Sources
[1] https://bridges.example/a?x="><script>alert(1)</script>
[2] https://nobody.example/b
"""
READY = "document.documentElement.dataset.ready === 'yes'"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    lines = [
        {"id": "bridge", "agent": "<b>bold</b>", "query": "What did the <i>bridge</i> cost?", "report": HOSTILE},
        {
            "id": "bridge",
            "agent": "plain",
            "query": "What did the <i>bridge</i> cost?",
            "report": HOSTILE.replace("40", "41"),
        },
    ]
    (folder / "reports.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    arms = ["perturbation=[citation_strip]", "perturbation.citation_strip.dose=[0.5,1]"]
    ran = dreambench(
        "dataset=jsonl", "dataset.reports=reports.jsonl", "metric=[citations,da,wq]", "tools=none", *arms, cwd=folder
    )
    assert ran.code == 0, ran.err
    (found,) = (folder / "outputs").iterdir()
    return found


def chunks(page: str) -> list[dict[str, Any]]:
    found = re.findall(r'<script type="text/plain" class="chunk">([^<]*)</script>', page)
    return [json.loads(gzip.decompress(base64.b64decode(chunk))) for chunk in found]


def test_the_texts_of_a_run_are_kept_and_judgments_point_into_them(run: Path) -> None:
    texts = pl.read_parquet(run / "reports.parquet")
    assert texts.group_by("perturbation", "dose").len().sort("dose")["len"].to_list() == [2, 2, 2]
    assert HOSTILE in texts.filter(perturbation="clean")["text"].to_list()
    keys = ["report", "perturbation", "dose", "perturbation_seed"]
    items = pl.read_parquet(run / "judgments.parquet").join(texts.select(*keys, "text"), on=keys, nulls_equal=True)
    markers = items.filter(pl.col("metric") == "citations", pl.col("family") == "citation")
    assert markers.height >= 4
    for row in markers.iter_rows(named=True):
        assert row["text"][row["report_start"] : row["report_end"]] == row["rationale"]


def test_the_page_holds_every_text_and_judgment(run: Path) -> None:
    page = (run / "report.html").read_text(encoding="utf-8")
    found = chunks(page)
    texts, items = pl.read_parquet(run / "reports.parquet"), pl.read_parquet(run / "judgments.parquet")
    assert sorted(chunk["text"] for chunk in found) == sorted(texts["text"].to_list())
    assert sum(len(chunk["judgments"]) for chunk in found) == items.height
    stripped = [chunk for chunk in found if chunk["edits"]]
    assert stripped
    for chunk in stripped:
        for edit in chunk["edits"]:
            assert chunk["text"][edit["start"] : edit["end"]] == edit["after"]


def index(page: str) -> dict[str, Any]:
    (found,) = re.findall(r'<script type="text/plain" id="index">([^<]*)</script>', page)
    made: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(found)))
    return made


def test_a_sentence_without_citation_and_an_entry_that_nothing_cites_have_names_of_their_own(run: Path) -> None:
    page = (run / "report.html").read_text(encoding="utf-8")
    labels = {(row[1], row[3]) for row in index(page)["findings"]}
    assert {("citations", "uncited"), ("citations", "never_cited")} <= labels
    items = pl.read_parquet(run / "judgments.parquet").filter(metric="citations")
    assert set(items.filter(label="uncited")["family"]) == {"sentence"}
    assert set(items.filter(label="never_cited")["family"]) == {"reference"}


def test_a_site_that_could_not_be_read_is_no_finding(run: Path) -> None:
    rows = pl.read_parquet(run / "judgments.parquet").filter(metric="da", family="domain")
    assert set(rows["reason_code"]) == {"no_tools"}
    made: list[dict[str, Any]] = [
        {"value": 0.2, "evidence": [], "reason_code": code, "status": "scored", "judge": "j"} for code in ("", "no_tools")
    ]
    lows = pl.DataFrame(made, schema_overrides={"evidence": pl.List(pl.String)})
    judged = lows.with_columns(label=pl.lit("social"), report_start=0).select(severity())
    assert judged.to_series().to_list() == [1, 0]


def test_the_page_says_in_words_what_its_labels_count_and_where_answers_came_from(run: Path) -> None:
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "<dt>never cited</dt>" in page and "no sentence cites" in page
    assert "the citation fails" in index(page)["meanings"]["neutral"]
    cost = page[page.index('<section id="cost"') : page.index('<section id="how"')]
    assert "made in this run" in cost and "provider" not in cost and "flight" not in cost


def test_names_and_texts_are_inert(run: Path) -> None:
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "<script>document" not in page and "<img" not in page, "texts travel compressed or escaped, never as markup"
    assert "<b>bold</b>" not in page and "&lt;b&gt;bold&lt;/b&gt;" in page
    assert page.count("<script") == page.count("</script>")


def test_the_page_loads_nothing(run: Path) -> None:
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in page
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?!#)""", page)
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|WebSocket", page)


def test_equal_tables_give_equal_pages(run: Path) -> None:
    from dreambench.reporting.page import write_page
    from dreambench.runs.folder import RunFolder

    before = (run / "report.html").read_bytes()
    assert write_page(RunFolder(run)).read_bytes() == before


@NEEDS_CHROMIUM
def test_a_browser_shows_it_without_an_error(run: Path) -> None:
    assert CHROMIUM is not None
    quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--enable-logging=stderr"]
    shown = subprocess.run(
        [CHROMIUM, *quiet, "--virtual-time-budget=5000", "--dump-dom", f"file://{run / 'report.html'}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "CONSOLE" not in shown.stderr
    assert 'data-ready="yes"' in shown.stdout
    assert "<title>" in shown.stdout and "owned" not in re.findall(r"<title>(.*?)</title>", shown.stdout)[0]
    assert "<img" not in shown.stdout
    assert "&lt;img src=x onerror=" in shown.stdout, "the report's words are there, as text"
    assert re.search(r'<mark class="w\d', shown.stdout)


@NEEDS_CHROMIUM
def test_paper_has_what_the_screen_shows(run: Path, tmp_path: Path) -> None:
    """Findings, every column of the scores, and which report it is; black on white, whatever the screen's colours."""
    with browser(tmp_path / "profile") as tab:
        tab.size(1280, 800, dark=True)
        tab.open(run / "report.html", READY)
        first = tab.value("document.querySelector('#list button span:nth-child(2)').textContent")
        columns = tab.value("[...document.querySelectorAll('#scores thead')][0].innerText.split(/\\s+/)")
        tab.send("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        colours = tab.value("[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]")
        pdf = base64.b64decode(tab.send("Page.printToPDF", printBackground=True)["data"])
    assert colours == ["rgb(27, 29, 33)", "rgb(255, 255, 255)"]
    pages = [page.get_textpage().get_text_bounded() for page in pypdfium2.PdfDocument(pdf)]
    words = " ".join(" ".join(pages).split())
    assert len(columns) > 2 and all(column in words for column in columns)
    assert " ".join(first.split())[:40] in words
    assert "The report of " in words and "Choose a mark" not in words and "Copy as CSV" not in words


@NEEDS_CHROMIUM
def test_a_phone_scrolls_tables_and_nothing_else(run: Path, tmp_path: Path) -> None:
    with browser(tmp_path / "profile") as tab:
        tab.size(390, 844, phone=True)
        tab.open(run / "report.html", READY)
        assert tab.value("document.documentElement.scrollWidth") <= 390
        tab.value("document.querySelector('#list button').click()")
        tab.wait("document.querySelector('#panel .judgment') !== null")
        tab.value("document.querySelector('#text').scrollIntoView()")
        place = tab.value("(({top, bottom}) => [top, bottom])(document.querySelector('#panel').getBoundingClientRect())")
        assert 0 < place[0] < place[1] <= 844, "the verdict lies below the text, in sight"
        assert tab.trouble() == [] and [url for url in tab.asked() if not url.startswith("file:")] == []
