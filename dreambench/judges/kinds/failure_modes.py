"""`failure_modes`: why matrix cells failed, one of five modes for each, one required key per cell id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from dreambench.judges import kinds
from dreambench.judges.keyed import KeyedAnswer, keyed_model
from dreambench.judges.kinds.matrix_cells import Context

Mode = Literal["hallucinated_precision", "silent_source_choice", "incomplete_derivation", "scope_drift", "retrieval_gap"]
MODES: tuple[str, ...] = get_args(Mode)


class Failure(BaseModel):
    """Why one cell failed."""

    model_config = ConfigDict(extra="forbid")

    reason: str = Field(min_length=1, description="One sentence: what went wrong, shown by the answer's words.")
    mode: Mode = Field(
        description="hallucinated_precision: commits to a precise value where the truth is not available or a range. "
        "silent_source_choice: takes one of several conflicting sources without saying so. incomplete_derivation: right "
        "inputs, composed wrongly or not to the end. scope_drift: wrong unit, period or level of aggregation. "
        "retrieval_gap: the authoritative source was not found."
    )


class Answer(KeyedAnswer[Failure]):
    """One `Failure` per cell id."""


def specialise(settings: Mapping[str, Any], context: Context) -> type[Answer]:
    """The answer model for these cells; equal ids give the same model."""
    return keyed_model("FailureModesAnswer", Answer, Failure, tuple(context.cells), "Why cell {} failed.")


KIND = kinds.Kind("failure_modes", "why matrix cells failed, one required key each", Context, Answer, specialise)
