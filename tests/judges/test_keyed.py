"""Answers with a key per id: nothing is lost, nothing is added, and a partial answer is taken for what it has."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ValidationError

from dreambench.judges.keyed import KeyedAnswer, keyed_model


class Mark(BaseModel):
    """One mark."""

    mark: int


class Marks(KeyedAnswer[Mark]):
    """One `Mark` per id."""


def test_there_is_one_required_key_per_id_in_their_order() -> None:
    model = keyed_model("MarksAnswer", Marks, Mark, ("b.1", "a"), "The mark of {}.")
    assert model is keyed_model("MarksAnswer", Marks, Mark, ("b.1", "a"), "The mark of {}.")
    schema = model.model_json_schema()
    assert (schema["title"], schema["required"]) == ("MarksAnswer", ["b.1", "a"])
    assert schema["properties"]["b.1"]["description"] == "The mark of b.1."
    answer = model.model_validate({"a": {"mark": 1}, "b.1": {"mark": 2}})
    assert {name: mark.mark for name, mark in answer.by_id().items()} == {"b.1": 2, "a": 1}
    assert answer.model_dump() == {"b.1": {"mark": 2}, "a": {"mark": 1}}


@pytest.mark.parametrize("answer", [{"a": {"mark": 1}}, {"a": {"mark": 1}, "b": {"mark": 2}, "c": {"mark": 3}}])
def test_a_key_too_few_or_too_many_is_refused(answer: dict[str, dict[str, int]]) -> None:
    with pytest.raises(ValidationError):
        keyed_model("MarksAnswer", Marks, Mark, ("a", "b"), "The mark of {}.").model_validate(answer)


def test_a_partial_answer_has_what_it_has() -> None:
    model = keyed_model("MarksAnswer", Marks, Mark, ("a", "b"), "The mark of {}.", partial=True)
    assert list(model.model_validate({"b": {"mark": 2}}).by_id()) == ["b"]
