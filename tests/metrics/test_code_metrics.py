"""`citations` and `length` on texts of our own, each number counted by hand."""

from __future__ import annotations

import asyncio
from datetime import date

import polars as pl
import pytest

from dreambench.documents import parse_document
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.aggregation import report_values
from dreambench.metrics.citations import Citations
from dreambench.metrics.length import Length
from dreambench.metrics.metric import Metric, Subject
from dreambench.records import Report, Task
from dreambench.runs.tables import ITEM_SCHEMA

REPORT = """# Bridges

Iron bridges came first [1]. Steel followed in the next century [2][3]. Nobody counted them all.

The longest one has four spans [9].

## Sources

[1] Iron: https://iron.example/a
[2] Steel: https://steel.example/b
[3] More steel: https://steel.example/c
[4] Wood: https://wood.example/d
"""


def values(metric: Metric, text: str) -> dict[str, float | None]:
    task = Task("t", "How did bridges change?", "d", date(2025, 1, 1))
    report = Report("t", "a", text)
    rows = asyncio.run(metric.measure(Subject(task, report, parse_document(text)), None, 0))
    shared = {"task": "t", "report": report.id, "agent": "a", "metric": metric.id, "rubric": "", "judge": "code", "repeat": 0}
    keys = ("family", "label", "value", "weight", "status", "reason_code")
    items = pl.DataFrame([{**shared, **{key: getattr(row, key) for key in keys}} for row in rows], schema=ITEM_SCHEMA)
    return dict(report_values(items, [metric]).select("variant", "value").iter_rows())


def test_citations_are_counted() -> None:
    found = values(Citations(name="citations", shelf=RubricShelf([])), REPORT)
    assert found["attribution"] == 2 / 4
    assert found["dangling"] == 1 / 4
    assert found["uncited"] == 1 / 4
    assert found["domains"] == 2
    words = values(Length(name="length", shelf=RubricShelf([])), REPORT)["words"]
    assert words is not None
    assert found["links_per_1000_words"] == pytest.approx(1000 * 3 / words)


def test_a_report_without_citations_has_no_dangling_share_and_no_domains() -> None:
    found = values(Citations(name="citations", shelf=RubricShelf([])), "One plain sentence. And another one.\n")
    assert found["attribution"] == 0
    assert found["dangling"] is None
    assert found["uncited"] is None
    assert found["domains"] == 0
    assert found["links_per_1000_words"] == 0


def test_length_counts_the_body_without_its_sources() -> None:
    found = values(Length(name="length", shelf=RubricShelf([])), REPORT)
    assert found["sentences"] == 4
    assert found["words"] == len("Bridges Iron bridges came first Steel followed in the next century Nobody".split()) + len(
        "counted them all The longest one has four spans".split()
    )


def test_chinese_characters_are_words() -> None:
    assert values(Length(name="length", shelf=RubricShelf([])), "桥梁很长。\n")["words"] == 4


def test_every_row_points_into_the_report() -> None:
    metric = Citations(name="citations", shelf=RubricShelf([]))
    task, report = Task("t", "q", "d"), Report("t", "a", REPORT)
    rows = asyncio.run(metric.measure(Subject(task, report, parse_document(REPORT)), None, 0))
    spans = {REPORT[row.report_start : row.report_end] for row in rows if row.family == "citation"}
    assert spans == {"[1]", "[2]", "[3]", "[9]"}
    assert len({row.item for row in rows}) == len(rows)
