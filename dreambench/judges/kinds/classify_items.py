"""`classify_items`: which label of a fixed set fits each of several short texts, one required key per text id.

Settings: `answers` are the labels (required, two or more), `aspect` names what is asked. The texts are about one question;
no report is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, Field, create_model

from dreambench.errors import Problem, RubricError
from dreambench.judges import kinds
from dreambench.judges.keyed import ItemId, KeyedAnswer, keyed_model


class Context(kinds.Context):
    """`items` maps ids to texts."""

    question: str
    as_of: str | None = None
    items: dict[ItemId, str] = Field(min_length=1)


class Item(BaseModel):
    """The label of one text; the reason comes first, so that the label follows from it."""

    reason: str = Field(min_length=1, description="One sentence: what in the text decides the label.")
    label: str = Field(description="The label of the text.")


class Answer(KeyedAnswer[Item]):
    """One `Item` per id."""


def labels_of(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The labels that a rubric allows. Raises RubricError unless they are two or more texts."""
    answers = settings.get("answers")
    if isinstance(answers, list | tuple) and len(answers) > 1 and all(isinstance(answer, str) for answer in answers):
        return tuple(answers)
    raise RubricError(Problem("answers", f"{answers!r} is no list of two or more texts", type='answers: ["1", "2", "3"]'))


def specialise(settings: Mapping[str, Any], context: Context) -> type[Answer]:
    """The answer model for these ids and labels; equal ones give the same model."""
    return keyed_model("ItemLabels", Answer, _item(labels_of(settings)), tuple(context.items), "The label of item {}.")


@lru_cache(maxsize=64)
def _item(labels: tuple[str, ...]) -> type[Item]:
    allowed: Any = Literal[labels]
    said = f"The label of the text: {' or '.join(labels)}."
    return create_model("ItemLabel", __base__=Item, label=(allowed, Field(description=said)))


KIND = kinds.Kind("classify_items", "the label that fits each of several short texts", Context, Answer, specialise)
