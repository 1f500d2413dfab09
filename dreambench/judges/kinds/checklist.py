"""`checklist`: many questions about one report in one call. The answer has one required key per item id, so none can be lost.

Settings: `answers`, the allowed answers (default [yes, no]).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationInfo, create_model, field_validator

from dreambench.errors import Problem, RubricError
from dreambench.judges import kinds
from dreambench.judges.kinds.yes_no import quoted_from_report

DEFAULT_ANSWERS = ("yes", "no")
ItemId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
"""What providers take as a property name."""


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


class Answer(kinds.Answer):
    """One `Item` per id; see `by_id`."""

    model_config = ConfigDict(extra="forbid", serialize_by_alias=True)

    def by_id(self) -> dict[str, Item]:
        """The answers under the ids of the items, in their order."""
        return {info.alias or name: getattr(self, name) for name, info in type(self).model_fields.items()}


def answers_of(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The answers that a rubric allows. Raises RubricError unless they are two or more texts."""
    answers = settings.get("answers", DEFAULT_ANSWERS)
    if isinstance(answers, list | tuple) and len(answers) > 1 and all(isinstance(answer, str) for answer in answers):
        return tuple(answers)
    raise RubricError(Problem("answers", f"{answers!r} is no list of two or more texts", type='answers: ["yes", "no"]'))


def specialise(settings: Mapping[str, Any], context: Context) -> type[Answer]:
    """The answer model for these item ids; equal ids give the same model."""
    return _for_items(tuple(context.items), answers_of(settings))


@lru_cache(maxsize=512)
def _for_items(ids: tuple[str, ...], answers: tuple[str, ...]) -> type[Answer]:
    wording = f"The answer to the item: {' or '.join(answers)}."
    allowed: Any = Literal[answers]
    item: Any = create_model("ItemAnswer", __base__=Item, answer=(allowed, Field(description=wording)))
    fields: dict[str, Any] = {
        f"item_{number}": (item, Field(alias=name, description=f"The answer to item {name}."))
        for number, name in enumerate(ids)
    }
    return create_model("ChecklistAnswer", __base__=Answer, **fields)


KIND = kinds.Kind("checklist", "many questions about one report, one required key each", Context, Answer, specialise)
