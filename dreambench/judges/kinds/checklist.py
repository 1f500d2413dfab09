"""`checklist`: many questions about one report in one call. The answer has one required key per item id, so none can be lost.

Settings: `answers`, the allowed answers (default [yes, no]); `partial`: an answer that lacks some of the items is taken for
what it has (the metric asks again for the missing ones), though all keys are still asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, Self

from pydantic import (
    BaseModel,
    Field,
    GetJsonSchemaHandler,
    ValidationInfo,
    create_model,
    field_validator,
    model_validator,
)

from dreambench.errors import Problem, RubricError
from dreambench.judges import kinds
from dreambench.judges.keyed import ItemId, KeyedAnswer, keyed_model
from dreambench.judges.kinds.yes_no import quoted_from_report

DEFAULT_ANSWERS = ("yes", "no")


class Context(kinds.Context):
    """`items` maps ids to questions about the report."""

    question: str
    as_of: str | None
    report: str
    items: dict[ItemId, str] = Field(min_length=1)


class Item(BaseModel):
    """The answer to one item."""

    reason: str = Field(min_length=1, description="One sentence: why this is the answer.")
    quote: str = Field(
        description="The words of the report that decide the answer, copied exactly; empty when it says nothing about it."
    )
    answer: str = Field(description="The answer to the item.")

    @field_validator("quote")
    @classmethod
    def _stands_in_report(cls, quote: str, info: ValidationInfo) -> str:
        return quoted_from_report(quote, info)


class Answer(KeyedAnswer[Item]):
    """One `Item` per id."""


def answers_of(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The answers that a rubric allows. Raises RubricError unless they are two or more texts."""
    answers = settings.get("answers", DEFAULT_ANSWERS)
    if isinstance(answers, list | tuple) and len(answers) > 1 and all(isinstance(answer, str) for answer in answers):
        return tuple(answers)
    raise RubricError(Problem("answers", f"{answers!r} is no list of two or more texts", type='answers: ["yes", "no"]'))


def specialise(settings: Mapping[str, Any], context: Context) -> type[Answer]:
    """The answer model for these item ids; equal ids give the same model."""
    partial = bool(settings.get("partial", False))
    base = PartialAnswer if partial else Answer
    said = "The answer to item {}."
    return keyed_model("ChecklistAnswer", base, _item(answers_of(settings)), tuple(context.items), said, partial=partial)


class PartialAnswer(Answer):
    """An answer that may lack items; its JSON schema still asks for all of them."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = handler.resolve_ref_schema(handler(core_schema))
        for name, part in schema.get("properties", {}).items():
            wanted = next(choice for choice in part["anyOf"] if choice.get("type") != "null")
            schema["properties"][name] = {"description": part["description"], **wanted}
        schema["required"] = list(schema.get("properties", {}))
        return schema

    @model_validator(mode="after")
    def _answers_something(self) -> Self:
        if not self.by_id():
            raise ValueError("answers none of the items")
        return self


@lru_cache(maxsize=64)
def _item(answers: tuple[str, ...]) -> type[Item]:
    allowed: Any = Literal[answers]
    said = f"The answer to the item: {' or '.join(answers)}."
    return create_model("ItemAnswer", __base__=Item, answer=(allowed, Field(description=said)))


KIND = kinds.Kind("checklist", "many questions about one report, one required key each", Context, Answer, specialise)
