"""Verdicts by rules under different sets of labels, each with a sentence of the passage that decides."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dreambench.judges.embedded.entailment import answer, refusal
from dreambench.judges.kinds import Reading
from dreambench.judges.kinds.entailment import KIND, Context

FACTUALITY = ["supported", "partially_supported", "contradicted", "unverifiable"]
INTEGRITY = ["supported", "partially_supported", "neutral", "contradicted", "unverifiable"]
FACT = ["supported", "unsupported", "unknown"]
PAGES = [
    {"id": "sea", "text": "Fish live in the sea."},
    {"id": "rance", "text": "Tides come twice a day. The Rance plant opened in 1966 with a capacity of 240 megawatts."},
]


def judge(claim: str, labels: list[str], pages: list[dict[str, str]] = PAGES, as_of: str | None = None) -> Any:
    context = Context(claim=claim, passages=pages, as_of=as_of)
    found = answer({"labels": labels}, context)
    return KIND.answer_model({"labels": labels}, context).model_validate(found, context=Reading(context))


@pytest.mark.parametrize(
    ("claim", "labels", "label", "passage"),
    [
        ("The Rance plant has a capacity of 240 MW.", FACTUALITY, "supported", "rance"),
        ("The Rance plant has a capacity of 340 MW.", FACTUALITY, "contradicted", "rance"),
        ("The Rance plant has a capacity of 340 MW.", FACT, "unsupported", "rance"),
        ("The Rance plant opened in 1986.", INTEGRITY, "contradicted", "rance"),
        ("Bakers in Paris work at night.", INTEGRITY, "neutral", ""),
        ("Bakers in Paris work at night.", FACTUALITY, "unverifiable", ""),
        ("Bakers in Paris work at night.", FACT, "unknown", ""),
    ],
)
def test_verdicts(claim: str, labels: list[str], label: str, passage: str) -> None:
    found = judge(claim, labels)
    assert (found.label, found.passage) == (label, passage)
    assert bool(found.quote) == bool(passage)


def test_nothing_to_read_is_unverifiable_not_neutral() -> None:
    assert judge("The Rance plant opened in 1966.", INTEGRITY, []).label == "unverifiable"


def test_later_passages_are_left_out() -> None:
    later = [{**PAGES[1], "published": "2024-06-01"}]
    assert judge("The Rance plant opened in 1966.", INTEGRITY, later, "2024-05-31").label == "unverifiable"
    assert judge("The Rance plant opened in 1966.", INTEGRITY, later, "2024-06-01").label == "supported"


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"labels": FACTUALITY}, None),
        ({"labels": INTEGRITY}, None),
        ({"labels": FACT}, None),
        ({"labels": ["good", "bad"]}, "does not know what the label 'good' means"),
        ({"labels": ["supported", "neutral"]}, "no label says that a passage contradicts"),
        ({"labels": FACTUALITY, "unquoted": []}, "has no quote for the label 'unverifiable'"),
    ],
)
def test_refusals(settings: dict[str, Any], why: str | None) -> None:
    found = refusal(settings)
    assert found is None if why is None else why in str(found)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60), st.lists(st.text(max_size=80), max_size=3))
def test_any_texts_get_a_valid_verdict(claim: str, texts: list[str]) -> None:
    pages = [{"id": f"p{number}", "text": text} for number, text in enumerate(texts)]
    assert judge(claim, FACTUALITY, pages).label in FACTUALITY
