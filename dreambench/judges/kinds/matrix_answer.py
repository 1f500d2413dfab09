"""`matrix_answer`: an agent's answers to the cells of a matrix task, one required key per cell id, nothing left out unsaid."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from dreambench.judges import kinds
from dreambench.judges.kinds.agent_step import ClosingContext
from dreambench.judges.kinds.checklist import ItemId


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


class Answer(kinds.Answer):
    """One `CellAnswer` per cell id; see `by_id`."""

    model_config = ConfigDict(extra="forbid", serialize_by_alias=True)

    def by_id(self) -> dict[str, CellAnswer]:
        """The answers under the ids of the cells, in their order."""
        return {info.alias or name: getattr(self, name) for name, info in type(self).model_fields.items()}


def specialise(settings: Mapping[str, Any], context: Context) -> type[Answer]:
    """The answer model for these cells; equal ids give the same model."""
    return _for_cells(tuple(context.items))


@lru_cache(maxsize=128)
def _for_cells(ids: tuple[str, ...]) -> type[Answer]:
    fields: dict[str, Any] = {
        f"cell_{number}": (CellAnswer, Field(alias=name, description=f"The answer to cell {name}."))
        for number, name in enumerate(ids)
    }
    return create_model("MatrixAnswer", __base__=Answer, **fields)


KIND = kinds.Kind("matrix_answer", "an agent's answers to the cells of a matrix task", Context, Answer, specialise)
