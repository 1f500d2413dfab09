"""docs/studies.md: the expressions that lead from a number to its judgments work, and every study of the page exists."""

from __future__ import annotations

import re

import polars as pl
import pytest

from dreambench.config.studies import study_names
from dreambench.reporting.finished import FinishedRun
from tests.apps.command import ROOT

PAGE = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
EXPRESSIONS = re.findall(r"`(items\.[^`]+)`", PAGE) + re.findall(r"^(items\.[^#\n]+)", PAGE, flags=re.MULTILINE)


def test_every_study_of_the_page_exists() -> None:
    named = re.findall(r"^\*\*(\w+)\*\*: `python -m dreambench \+experiment=(\w+)", PAGE, flags=re.MULTILINE)
    assert len(named) == 9
    assert all(title == name and name in study_names() for title, name in named)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_leads_to_judgments(expression: str, ways_run: FinishedRun) -> None:
    found = eval(expression, {"pl": pl, "items": ways_run.judgments})  # our own documentation, not input
    assert isinstance(found, pl.DataFrame)


def test_there_are_expressions() -> None:
    assert len(EXPRESSIONS) >= 11
