"""`graded_criteria`: one report graded on several criteria in one call, one required key per criterion id.

Settings: `scale`, the lowest and the highest grade (default [0, 3]).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, create_model, field_validator

from dreambench.judges import kinds
from dreambench.judges.keyed import ItemId, KeyedAnswer, keyed_model
from dreambench.judges.kinds.score import scale_of
from dreambench.judges.kinds.yes_no import quoted_from_report

DEFAULT_SCALE = (0, 3)


class Context(kinds.Context):
    """`items` maps criterion ids to what they ask; `material`, what graders know of the task (solution, trap), or empty."""

    question: str
    as_of: str | None
    report: str
    items: dict[ItemId, str] = Field(min_length=1)
    material: str = ""


class Grade(BaseModel):
    """The grade on one criterion; the reason comes first, so that the number follows from it."""

    model_config = ConfigDict(extra="forbid")

    reason: str = Field(min_length=1, description="One or two sentences: which anchor the report meets, and why no higher one.")
    quote: str = Field(description="The words of the report that decide, copied exactly; empty when what decides is missing.")
    score: int = Field(description="The grade.")

    @field_validator("quote")
    @classmethod
    def _stands_in_report(cls, quote: str, info: ValidationInfo) -> str:
        return quoted_from_report(quote, info)


class Answer(KeyedAnswer[Grade]):
    """One `Grade` per criterion id."""


def specialise(settings: Mapping[str, Any], context: Context) -> type[Answer]:
    """The answer model for these criteria and this scale; equal ones give the same model."""
    grade = _grade(scale_of({"scale": settings.get("scale", list(DEFAULT_SCALE))}))
    return keyed_model("GradedCriteriaAnswer", Answer, grade, tuple(context.items), "The grade on criterion {}.")


@lru_cache(maxsize=16)
def _grade(scale: tuple[int, int]) -> type[Grade]:
    low, high = scale
    said = f"The grade, {low} (worst) to {high} (best)."
    return create_model("CriterionGrade", __base__=Grade, score=(int, Field(ge=low, le=high, description=said)))


KIND = kinds.Kind(
    "graded_criteria", "one report graded on several criteria, one required key each", Context, Answer, specialise
)
