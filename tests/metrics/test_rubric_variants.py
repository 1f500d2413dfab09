"""RACE and FACT in fewer words: the same questions, shown the same things, answered in the same form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dreambench.config.locations import bundled
from dreambench.judges.rubric import Rubric, RubricShelf
from dreambench.metrics.race.formula import DIMENSIONS
from dreambench.metrics.race.metric import Race
from tests.support import measuring
from tests.support.gateway import TestGateway
from tests.support.scripted_judge import ScriptedJudge

SHELF = RubricShelf([bundled("rubrics")])
QUESTION = "How did bridges change?"
PAIR = {
    "question": QUESTION,
    "as_of": None,
    "first": "The report shown first.",
    "second": "The report shown second.",
    "criteria": [{"id": "c1", "dimension": "insight", "criterion": "Causes", "explanation": "Says why."}],
}
CONTEXTS: dict[str, dict[str, Any]] = {
    "race/criteria": {"question": QUESTION, "as_of": None, "dimension": "insight"},
    "race/weights": {"question": QUESTION, "as_of": None},
    "race/scores": PAIR,
    "race/lists": PAIR,
    "fact/extract": {"report": "Steel made bridges longer [1].", "question": QUESTION, "as_of": None},
    "fact/verify": {
        "url": "https://example.org/steel",
        "title": "Steel",
        "published": "2021-05-01",
        "page": "Steel made bridges longer.",
        "facts": {"f1": "Steel made bridges longer."},
        "cut": True,
        "as_of": None,
    },
}


def contexts_of(name: str, rubric: Rubric) -> Any:
    known = rubric.kind.context.model_fields
    given = {key: value for key, value in CONTEXTS[name].items() if key in known}
    return rubric.kind.context.model_validate(given)


@pytest.mark.parametrize("name", CONTEXTS)
def test_terse_asks_the_same_in_fewer_words(name: str) -> None:
    default, terse = SHELF.load(f"{name}.default"), SHELF.load(f"{name}.terse")
    assert default.kind is terse.kind
    assert default.settings == terse.settings
    assert default.sha256 != terse.sha256
    context = contexts_of(name, default)
    long, short = (rubric.render(context) for rubric in (default, terse))
    assert len(short[1]["content"]) < len(long[1]["content"])
    shown = [value for value in CONTEXTS[name].values() if isinstance(value, str) and value != "insight"]
    assert all(text in short[1]["content"] and text in long[1]["content"] for text in shown)


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_every_dimension_has_criteria_of_its_own(dimension: str) -> None:
    rubric = SHELF.load("race/criteria.terse")
    asked = rubric.render(rubric.kind.context.model_validate({"question": QUESTION, "as_of": None, "dimension": dimension}))
    others = [other for other in DIMENSIONS if other != dimension]
    assert dimension in asked[1]["content"]
    assert not any(other in asked[1]["content"] for other in others)


@pytest.mark.parametrize("variant", ["default", "terse"])
def test_criteria_of_a_new_query_are_written_and_scored_in_both_orders(
    variant: str, tmp_path: Path, gateway: TestGateway
) -> None:
    """Weights and criteria come from the judge; a judge that always favours what it sees first ends at a half."""
    reference = tmp_path / "reference.jsonl"
    reference.write_text(json.dumps({"id": "t", "prompt": measuring.TASK.query, "article": "Steel made bridges longer."}))
    asked: list[str] = []
    seen: list[tuple[str, str]] = []

    def script(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
        asked.append(f"{rubric.name}.{rubric.variant}")
        if rubric.kind.name == "race_weights":
            return {"reason": "r", **dict.fromkeys(DIMENSIONS, 0.25)}
        if rubric.kind.name == "race_criteria":
            named = [(f"{context.dimension} {n}", 0.25) for n in ("one", "two", "three", "four")]
            return {"criteria": [{"criterion": n, "explanation": "e", "weight": w} for n, w in named]}
        seen.append((context.first, context.second))
        return {one.id: {"reason": "r", "first": 8.0, "second": 2.0} for one in context.criteria}

    metric = Race(name="race", shelf=SHELF, reference=str(reference), order="both", rubric=variant, weight_samples=1)
    judge = ScriptedJudge(name="j", gateway=gateway, script=script)
    rows = measuring.judgments(metric, "Bridges grew longer.", judge)
    assert measuring.values(metric, rows)["overall"] == pytest.approx(0.5)
    assert set(asked) == {f"{part}.{variant}" for part in ("weights", "criteria", "scores")}
    assert sorted(seen) == sorted([seen[0], seen[0][::-1]])
    assert len({row.family for row in rows}) == 4
