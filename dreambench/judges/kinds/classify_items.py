"""`classify_items`: which label of a fixed set fits each of several short texts, one required key per text id.

Settings: `answers` are the labels (required, two or more), `aspect` names what is asked. The texts are about one question;
no report is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from dreambench.errors import Problem, RubricError
from dreambench.judges import kinds
from dreambench.judges.kinds.checklist import ItemId


class Context(kinds.Context):
    """`items` maps ids to texts."""

    question: str
    as_of: str | None = None
    items: dict[ItemId, str] = Field(min_length=1)


class Item(BaseModel):
    """The label of one text; the reason comes first, so that the label follows from it."""

    reason: str = Field(min_length=1, description="One sentence: what in the text decides the label.")
    label: str = Field(description="The label of the text.")


class Answer(kinds.Answer):
    """One `Item` per id; see `by_id`."""

    model_config = ConfigDict(extra="forbid", serialize_by_alias=True)

    def by_id(self) -> dict[str, Item]:
        """The labels under the ids of the texts, in their order."""
        return {info.alias or name: getattr(self, name) for name, info in type(self).model_fields.items()}


def labels_of(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The labels that a rubric allows. Raises RubricError unless they are two or more texts."""
    answers = settings.get("answers")
    if isinstance(answers, list | tuple) and len(answers) > 1 and all(isinstance(answer, str) for answer in answers):
        return tuple(answers)
    raise RubricError(Problem("answers", f"{answers!r} is no list of two or more texts", type='answers: ["1", "2", "3"]'))


def specialise(settings: Mapping[str, Any], context: Context) -> type[Answer]:
    """The answer model for these ids and labels; equal ones give the same model."""
    return _for_items(tuple(context.items), labels_of(settings))


@lru_cache(maxsize=512)
def _for_items(ids: tuple[str, ...], labels: tuple[str, ...]) -> type[Answer]:
    allowed: Any = Literal[labels]
    item: Any = create_model(
        "ItemLabel", __base__=Item, label=(allowed, Field(description=f"The label of the text: {' or '.join(labels)}."))
    )
    fields: dict[str, Any] = {
        f"item_{number}": (item, Field(alias=name, description=f"The label of item {name}.")) for number, name in enumerate(ids)
    }
    return create_model("ItemLabels", __base__=Answer, **fields)


KIND = kinds.Kind("classify_items", "the label that fits each of several short texts", Context, Answer, specialise)
