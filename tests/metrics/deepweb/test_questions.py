"""The two questions about cells: answer models with a required key per cell, and the embedded judge's rules."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from pydantic import ValidationError

from dreambench.config.locations import bundled
from dreambench.judges.embedded.judge import EmbeddedJudge
from dreambench.judges.kinds import load_kind
from dreambench.judges.kinds.failure_modes import MODES
from dreambench.judges.rubric import RubricShelf
from tests.support.gateway import TestGateway

SHELF = RubricShelf([bundled("rubrics")])
SHEET = {"dimension": "Q1", "entity": "Nordlinie", "type": "precise", "reference": "", "answer": ""}


def asked(gateway: TestGateway, rubric: str, *sheets: dict[str, str]) -> list[Any]:
    cells = {f"c{number}": {**SHEET, **sheet} for number, sheet in enumerate(sheets)}
    judge = EmbeddedJudge(name="e", gateway=gateway)
    answer: Any = asyncio.run(judge.ask(SHELF.load(f"deepweb/{rubric}.default"), question="?", as_of=None, cells=cells))
    return list(answer.by_id().values())


@pytest.mark.parametrize("kind", ["matrix_cells", "failure_modes", "matrix_answer"])
def test_every_cell_has_a_required_key(kind: str) -> None:
    found = load_kind(kind)
    about: dict[str, Any] = {"question": "?", "as_of": None}
    shown = {"steps": [], "items": {"a": "x", "b": "y"}} if kind == "matrix_answer" else {"cells": {"a": SHEET, "b": SHEET}}
    model = found.answer_model({}, found.context(**about, **shown))
    assert model.model_json_schema()["required"] == ["a", "b"]
    with pytest.raises(ValidationError, match="Field required"):
        model.model_validate_json(json.dumps({}))


def test_words_are_compared_and_what_is_no_matter_of_words_is_left(gateway: TestGateway) -> None:
    reference = "The line has sailed under its own flag since the merger."
    grades = asked(
        gateway,
        "cells",
        {"reference": reference, "answer": reference, "open": "words"},
        {"reference": reference, "answer": "The line has not sailed under its own flag since the merger.", "open": "words"},
        {"reference": reference, "answer": "Fuel was dear.", "open": "words"},
        {"reference": "12.5 EUR", "answer": "12.5 USD", "open": "other_currency"},
        {"type": "not_available", "reference": "ND", "answer": "it is seven", "open": "words"},
    )
    assert [grade.tier for grade in grades] == ["1", "0", "cannot_tell", "cannot_tell", "cannot_tell"]


def test_failures_are_told_by_the_first_rule_that_fits(gateway: TestGateway) -> None:
    failures = asked(
        gateway,
        "failures",
        {"type": "not_available", "reference": "ND", "answer": "52.3 % by a blog"},
        {"type": "range", "reference": "40-55 %", "answer": "90 %"},
        {"reference": "40 %", "answer": "65 %", "agreement": "divergent"},
        {"reference": "4.2 million EUR", "answer": "4,200 EUR"},
        {"reference": "4.2 million EUR", "answer": "17 %"},
        {"reference": "28,500 CNY", "answer": "60,000 CNY"},
        {"reference": "28,500 CNY", "answer": "Nothing was found."},
    )
    assert [failure.mode for failure in failures] == [
        "hallucinated_precision", "hallucinated_precision", "silent_source_choice", "scope_drift", "scope_drift",
        "incomplete_derivation", "retrieval_gap",
    ]  # fmt: skip
    assert {failure.mode for failure in failures} == set(MODES)
