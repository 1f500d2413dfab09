"""`race_scores`: two reports to one question, scored side by side on every criterion, one required key per criterion id.

The judge is not told which of the two is under test. Setting: `highest`, the best score (default 10).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from dreambench.errors import Problem, RubricError
from dreambench.judges import kinds
from dreambench.judges.keyed import ItemId, KeyedAnswer, keyed_model

LOWEST, HIGHEST = 0, 10


class Criterion(BaseModel):
    """One thing to score by; `explanation` says what it asks for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: ItemId
    dimension: str
    criterion: str
    explanation: str = ""


class Context(kinds.Context):
    """`first` and `second` are the reports in the order in which they are shown."""

    question: str
    as_of: str | None
    first: str
    second: str
    criteria: list[Criterion] = Field(min_length=1)


class Comparison(BaseModel):
    """Both reports' scores on one criterion; the reason comes first, so that the numbers follow from it."""

    model_config = ConfigDict(extra="forbid")

    reason: str = Field(min_length=1, description="One or two sentences: how the two reports meet the criterion.")
    first: float = Field(ge=LOWEST, le=HIGHEST, description="Score of the first report, 0 (worst) to 10 (best).")
    second: float = Field(ge=LOWEST, le=HIGHEST, description="Score of the second report, 0 (worst) to 10 (best).")


class Answer(KeyedAnswer[Comparison]):
    """One `Comparison` per criterion id."""


def specialise(settings: Mapping[str, Any], context: Context) -> type[Answer]:
    """The answer model for these criteria; equal ids give the same model."""
    ids = tuple(criterion.id for criterion in context.criteria)
    return keyed_model("RaceScoresAnswer", Answer, _comparison(highest_of(settings)), ids, "The scores on criterion {}.")


def highest_of(settings: Mapping[str, Any]) -> int:
    """The best score of a rubric. Raises RubricError unless it is a whole number from 1."""
    highest = settings.get("highest", HIGHEST)
    if type(highest) is int and highest > LOWEST:
        return highest
    raise RubricError(Problem("highest", f"{highest!r} is no whole number from 1", type=f"highest: {HIGHEST}"))


@lru_cache(maxsize=16)
def _comparison(highest: int) -> type[Comparison]:
    if highest == HIGHEST:
        return Comparison
    sides: dict[str, Any] = {
        side: (float, Field(ge=LOWEST, le=highest, description=f"Score of the {side} report, 0 (worst) to {highest} (best)."))
        for side in ("first", "second")
    }
    return create_model("Comparison", __base__=Comparison, **sides)


KIND = kinds.Kind("race_scores", "two reports scored on every criterion, one required key each", Context, Answer, specialise)
