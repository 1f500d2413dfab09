"""`citations` and `length` on texts of our own, each number counted by hand."""

from __future__ import annotations

import pytest

from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.citations import Citations
from dreambench.metrics.length import Length
from dreambench.metrics.metric import Metric
from tests.support import measuring

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
    return measuring.values(metric, measuring.judgments(metric, text))


def test_citations_are_counted() -> None:
    found = values(Citations(name="citations", shelf=RubricShelf([])), REPORT)
    assert found["attribution"] == 2 / 4
    assert found["dangling"] == 1 / 4
    assert found["never_cited"] == 1 / 4
    assert found["domains"] == 2
    words = values(Length(name="length", shelf=RubricShelf([])), REPORT)["words"]
    assert words is not None
    assert found["links_per_1000_words"] == pytest.approx(1000 * 3 / words)


def test_a_report_without_citations_has_no_dangling_share_and_no_domains() -> None:
    found = values(Citations(name="citations", shelf=RubricShelf([])), "One plain sentence. And another one.\n")
    assert found["attribution"] == 0
    assert found["dangling"] is None
    assert found["never_cited"] is None
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
    rows = measuring.judgments(Citations(name="citations", shelf=RubricShelf([])), REPORT)
    spans = {REPORT[row.report_start : row.report_end] for row in rows if row.family == "citation"}
    assert spans == {"[1]", "[2]", "[3]", "[9]"}
    assert len({row.item for row in rows}) == len(rows)
