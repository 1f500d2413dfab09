"""docs/reading.md: columns, statuses and keys are those that there are, and the expression leads to sentences of a report."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import polars as pl
import pytest

from dreambench.records import Status
from dreambench.reporting.meanings import MEANINGS
from dreambench.runs.tables import ITEM_SCHEMA
from tests.docs.pages import blocks, last_value, page, section, table

PAGE = page("reading.md")


def test_every_column_of_the_item_table_is_explained() -> None:
    named = [name for cells in table(section(PAGE, "A judgment")) for name in re.findall(r"`(\w+)`", cells[0])]
    assert sorted(named) == sorted(ITEM_SCHEMA)


def test_every_status_is_explained() -> None:
    named = [name for cells in table(section(PAGE, "n, and what is left out")) for name in re.findall(r"`(\w+)`", cells[0])]
    assert sorted(named) == sorted(status.value for status in Status)


def test_the_expression_leads_to_sentences_and_pages(folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folders["ci"])
    (code,) = blocks(PAGE, "python")
    found = last_value(code)
    texts = "".join(pl.read_parquet("reports.parquet").filter(agent="good")["text"])
    assert found.height > 0
    assert all(sentence in texts for sentence in found["sentence"])
    assert all(url.startswith("https://") for url in found["url"].drop_nulls())


def test_the_keys_are_those_of_the_page() -> None:
    script = (resources.files("dreambench.reporting.page") / "page.js").read_text(encoding="utf-8")
    keys = [key for cells in table(section(PAGE, "The page")) for key in re.findall(r"`(\w+)`", cells[0])]
    assert set(keys) - {"Tab"} == set(re.findall(r'event\.key === "(\w+)"', script))


def test_every_label_is_explained_in_the_words_of_the_page() -> None:
    assert {cells[0].strip("`"): cells[1] for cells in table(section(PAGE, "Labels"))} == MEANINGS
