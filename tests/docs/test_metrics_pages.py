"""Every metric's page: its expression gives the score of a run again, and it names the rows and keys that there are."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
import yaml

from dreambench.commands.ls import purposes
from tests.docs.conftest import METRICS
from tests.docs.pages import DOCS, ROOT, blocks, last_value, page, section, table

COUNTED = ("citations", "length")
"""Counts of our own, without a source."""
KEYS = ["report", "judge", "rubric", "repeat"]


@pytest.mark.parametrize("metric", METRICS)
def test_the_expression_of_the_page_gives_the_score_of_the_run(
    metric: str, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folders[metric])
    (code,) = blocks(section(page(f"metrics/{metric}.md"), "Its score again"), "python")
    found = last_value(code).select(*KEYS, found="value").drop_nulls()
    scores = pl.read_parquet("report_scores.parquet").filter(pl.col("metric") == metric, "primary").drop_nulls("value")
    assert scores.height >= 1, "nothing to compare"
    both = scores.join(found, on=KEYS, how="full")
    assert both["found"].to_list() == pytest.approx(both["value"].to_list())


@pytest.mark.parametrize("metric", METRICS)
def test_the_page_names_every_family_and_label_of_the_run(metric: str, folders: dict[str, Path]) -> None:
    rows = pl.read_parquet(folders[metric] / "judgments.parquet").filter(pl.col("metric") == metric)
    named = section(page(f"metrics/{metric}.md"), "Rows")
    if metric == "wq":
        named += section(page("metrics/wq.md"), "Formula")
    for family, label in rows.select("family", "label").unique().rows():
        assert f"`{family}`" in named
        free = (family == "domain" and metric == "citations") or family == "question"
        assert free or not label or label in named, f"{family}: {label}"


@pytest.mark.parametrize("metric", METRICS)
def test_the_page_names_exactly_the_keys_of_the_option_with_their_defaults(metric: str) -> None:
    option = yaml.safe_load((ROOT / "conf" / "metric" / f"{metric}.yaml").read_text(encoding="utf-8"))
    wanted = {key: value for key, value in option.items() if key != "_target_"}
    listed = {cells[0].strip("`"): cells[1].strip("`") for cells in table(section(page(f"metrics/{metric}.md"), "Keys"))}
    assert set(listed) == set(wanted)
    for key, value in wanted.items():
        if not isinstance(value, dict):
            assert yaml.safe_load(listed[key]) == value, key


def test_the_list_names_every_metric_that_there_is_with_its_page() -> None:
    lines = [line for line in page("metrics/README.md").splitlines() if line.startswith("|")]
    for metric in purposes()["metric"]:
        assert any(re.search(rf"(\[|`){metric}(\]|`).*\(\S+\.md", line) for line in lines), metric


def test_every_metric_has_a_page_with_all_sections_and_is_in_the_list() -> None:
    pages = {path.stem for path in (DOCS / "metrics").glob("*.md")} - {"README"}
    assert pages == set(METRICS)
    listing = page("metrics/README.md")
    for metric in METRICS:
        text = page(f"metrics/{metric}.md")
        assert f"({metric}.md)" in listing
        assert "Source: " in text or metric in COUNTED
        assert "**Asks**" in text and "Example: " in text
        for heading in ("Formula", "How it is executed", "Rows", "Edge cases", "What it does not see", "Cost", "Keys"):
            assert section(text, heading).strip()
