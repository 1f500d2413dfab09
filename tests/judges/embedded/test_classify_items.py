"""`classify_items` by rules: verticals by cue words, ratings by simple features, and what is refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from dreambench.config.locations import bundled
from dreambench.errors import RubricError
from dreambench.judges.embedded import classify_items as rules
from dreambench.judges.kinds.classify_items import KIND, Context, labels_of
from dreambench.judges.rubric import RubricShelf

SHELF = RubricShelf([bundled("rubrics")])
QUESTION = "How many moons does Saturn have?"


def labels(rubric: str, **items: str) -> dict[str, str]:
    loaded = SHELF.load(f"{rubric}.default")
    context = Context(question=QUESTION, items=items)
    given = rules.answer(loaded.settings, context)
    checked: Any = KIND.answer_model(loaded.settings, context).model_validate(given)
    return {name: item.label for name, item in checked.by_id().items()}


def test_verticals_by_cue_words() -> None:
    found = labels(
        "verticals/vertical",
        a="Readability\nShort sentences and clear headings.",
        b="Coverage of all periods\nIncludes each of the surveys.",
        c="Causal reasoning\nExplains the mechanism.",
        d="Credible sources\nCitations can be verified.",
        e="引用来源的权威性",
        f="Colour",
    )
    assert list(found.values()) == [
        "presentation_quality",
        "task_compliance",
        "analytical_depth",
        "source_quality",
        "source_quality",
        "none",
    ]


def test_ratings_by_simple_features() -> None:
    items = {
        "a": "Does the report state that Saturn has 274 moons?\nFact: 274 moons.\nhttps://a.example/x: 274 moons",
        "b": "Is it well put?",
    }
    assert labels("item_quality/relevance", **items) == {"a": "3", "b": "1"}
    assert labels("item_quality/verifiability", **items) == {"a": "3", "b": "1"}
    assert labels("item_quality/clarity", **items) == {"a": "3", "b": "3"}


def test_what_rules_cannot_tell_is_refused_by_name() -> None:
    why = rules.refusal(SHELF.load("item_quality/soundness.default").settings)
    assert why and "'soundness'" in why and "relevance" in why
    assert "its labels for clarity" in str(rules.refusal({"aspect": "clarity", "answers": ["good", "bad"]}))


@pytest.mark.parametrize("answers", [None, ["one"], [1, 2]])
def test_a_rubric_names_its_labels(answers: Any) -> None:
    with pytest.raises(RubricError, match="no list of two or more texts"):
        labels_of({"answers": answers})
