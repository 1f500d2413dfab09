"""`matrix_cells`: cells of a matrix task that code could not grade, each with its reference, rule and answer; a tier for each.

The answer has one required key per cell id, so that no cell can be lost. `cannot_tell` is for references that do not decide.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from dreambench.judges import kinds
from dreambench.judges.keyed import ItemId, KeyedAnswer, keyed_model

CANNOT_TELL = "cannot_tell"
TierName = Literal["1", "0.5", "0.25", "0", "cannot_tell"]


class CellSheet(BaseModel):
    """One cell as it is shown: what was asked, what the reference has, how it is graded, what was answered.

    `note` is what code found or could not settle, `open` the code of that (empty: settled); `agreement` whether the
    reference's sources agree.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    dimension: str
    entity: str
    type: str
    reference: str
    derivation: str = ""
    agreement: str = ""
    rule: str = ""
    answer: str
    note: str = ""
    open: str = ""


class Context(kinds.Context):
    """`cells` maps ids to sheets."""

    question: str
    as_of: str | None
    cells: dict[ItemId, CellSheet] = Field(min_length=1)


class CellGrade(BaseModel):
    """The grade of one cell; the reason comes first, so that the tier follows from it."""

    model_config = ConfigDict(extra="forbid")

    reason: str = Field(min_length=1, description="One or two sentences: how the answer meets the reference and the rule.")
    tier: TierName = Field(
        description="1, 0.5, 0.25 or 0 by the rule; cannot_tell only where reference and rule do not decide."
    )


class Answer(KeyedAnswer[CellGrade]):
    """One `CellGrade` per cell id."""


def specialise(settings: Mapping[str, Any], context: Context) -> type[Answer]:
    """The answer model for these cells; equal ids give the same model."""
    return keyed_model("MatrixCellsAnswer", Answer, CellGrade, tuple(context.cells), "The grade of cell {}.")


KIND = kinds.Kind("matrix_cells", "a tier for each of several matrix cells, one required key each", Context, Answer, specialise)
