"""`matrix_answer`: an agent's answers to the cells of a matrix task, one required key per cell id, nothing left out unsaid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from dreambench.judges import kinds
from dreambench.judges.keyed import ItemId, KeyedAnswer, keyed_model
from dreambench.judges.kinds.agent_step import ClosingContext


class Context(ClosingContext):
    """`items` maps cell ids to what is asked: the dimension and the entity."""

    items: dict[ItemId, str] = Field(min_length=1)


class CellAnswer(BaseModel):
    """The answer to one cell."""

    model_config = ConfigDict(extra="forbid")

    answer: str = Field(
        min_length=1,
        description="The value with its unit; an interval where only an estimate is possible; or 'not available'.",
    )
    derivation: str = Field(description="How the value follows from its inputs, or how an estimate was made; else empty.")
    reason: str = Field(description="One sentence where the answer is not available: why. Else empty.")
    sources: list[str] = Field(description="Addresses of the pages that the answer rests on; empty where there is none.")


class Answer(KeyedAnswer[CellAnswer]):
    """One `CellAnswer` per cell id."""


def specialise(settings: Mapping[str, Any], context: Context) -> type[Answer]:
    """The answer model for these cells; equal ids give the same model."""
    return keyed_model("MatrixAnswer", Answer, CellAnswer, tuple(context.items), "The answer to cell {}.")


KIND = kinds.Kind("matrix_answer", "an agent's answers to the cells of a matrix task", Context, Answer, specialise)
