"""Binary rubric items by rules: what is looked for, and when a verdict rests on the forbidden source alone."""

from __future__ import annotations

from typing import Any

import pytest

from dreambench.judges.embedded.rubric_items import answer, refusal, statement_of
from dreambench.judges.kinds.rubric_items import Context

FORBIDDEN = {"title": "The lamp study", "urls": ["https://www.lamps.example/study/"]}


@pytest.mark.parametrize(
    ("item", "statement"),
    [
        ("Clearly state that the lamp was lit in 1821.", "the lamp was lit in 1821."),
        ("Able to explain that roads were missing", "roads were missing"),
        ("In the oil section, explains that roads were missing", "roads were missing"),
        ("明确指出古道全长320公里", "古道全长320公里"),
        ("分析并指出商队减少了", "商队减少了"),
        ("在总论中指出：古道在1936年停用。", "古道在1936年停用。"),
        ("The lamp was lit in 1821.", "The lamp was lit in 1821."),
    ],
)
def test_the_order_is_no_part_of_what_is_looked_for(item: str, statement: str) -> None:
    assert statement_of(item) == statement


def labels(report: str, blocked: dict[str, Any] | None = FORBIDDEN) -> str:
    items = {"i1": "State that the first lamp of the coast was lit in 1821."}
    context = Context(question="q", as_of=None, report=report, items=items, blocked=blocked)  # type: ignore[arg-type]
    return str(answer({}, context)["i1"]["answer"])


@pytest.mark.parametrize(
    ("report", "label"),
    [
        ("The first lamp of the coast was lit in 1821.", "1"),
        ("The first lamp of the coast was lit in 1830.", "0"),
        ("Nothing about lights.", "0"),
        ("The first lamp of the coast was lit in 1821 ([study](http://lamps.example/study)).", "-1"),
        ("The first lamp of the coast was lit in 1821 ([s](http://lamps.example/study)) ([r](https://r.example/x)).", "1"),
        ("The first lamp of the coast was lit in 1821 ([register](https://r.example/x)).", "1"),
    ],
)
def test_a_sentence_that_cites_only_the_forbidden_source_is_minus_one(report: str, label: str) -> None:
    assert labels(report) == label
    assert labels(report, None) == ("1" if label == "-1" else label)


def test_presentation_is_refused() -> None:
    assert refusal({"covers": ["info_recall", "analysis"]}) is None
    assert "dimensions" in str(refusal({"covers": ["presentation"]}))
    assert "dimensions" in str(refusal({}))
