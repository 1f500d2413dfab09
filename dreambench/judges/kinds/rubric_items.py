"""`rubric_items`: binary rubric items about one report, one required key per item id, each 1, 0 or -1.

1: the report satisfies the item, not through the source that the task forbids. 0: it does not. -1: it does, and what
supports it cites the forbidden source. An answer that lacks items is taken for what it has, so that only the missing ones
are asked again; all keys are asked for. Settings: `covers`, the dimensions of the rubric that the items may belong to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from dreambench.judges import kinds
from dreambench.judges.keyed import keyed_model
from dreambench.judges.kinds import checklist

DIMENSIONS = ("info_recall", "analysis", "presentation")


class Source(BaseModel):
    """The article that a task was made from and that an agent must not use."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = ""
    authors: list[str] = []
    urls: list[str] = []


class Context(checklist.Context):
    """`items` maps ids to rubric items; `blocked` is None where the task forbids none; `cut`: the report's end is missing."""

    blocked: Source | None = None
    cut: bool = False


class Item(checklist.Item):
    """The verdict on one item."""

    answer: Literal["1", "0", "-1"] = Field(
        description="1: satisfied by the report, and not only with a citation of the forbidden source. 0: not satisfied, or "
        "said otherwise. -1: satisfied, but what supports it cites the forbidden source."
    )


def specialise(settings: Mapping[str, Any], context: Context) -> type[checklist.PartialAnswer]:
    """The answer model for these item ids; equal ids give the same model."""
    said = "The verdict on item {}."
    return keyed_model("RubricItemsAnswer", checklist.PartialAnswer, Item, tuple(context.items), said, partial=True)


KIND = kinds.Kind(
    "rubric_items",
    "binary rubric items about one report (1, 0, or -1 through a forbidden source), one required key each",
    Context,
    checklist.Answer,
    specialise,
)
