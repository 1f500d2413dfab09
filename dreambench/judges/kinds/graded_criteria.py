"""`graded_criteria`: one report graded on several criteria in one call, one required key per criterion id.

Settings: `scale`, the lowest and the highest grade (default [0, 3]).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, create_model, field_validator

from dreambench.judges import kinds
from dreambench.judges.kinds.checklist import ItemId
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


class Answer(kinds.Answer):
    """One `Grade` per criterion id; see `by_id`."""

    model_config = ConfigDict(extra="forbid", serialize_by_alias=True)

    def by_id(self) -> dict[str, Grade]:
        """The grades under the ids of the criteria, in their order."""
        return {info.alias or name: getattr(self, name) for name, info in type(self).model_fields.items()}


def specialise(settings: Mapping[str, Any], context: Context) -> type[Answer]:
    """The answer model for these criteria and this scale; equal ones give the same model."""
    return _for_criteria(tuple(context.items), scale_of({"scale": settings.get("scale", list(DEFAULT_SCALE))}))


@lru_cache(maxsize=512)
def _for_criteria(ids: tuple[str, ...], scale: tuple[int, int]) -> type[Answer]:
    low, high = scale
    said = f"The grade, {low} (worst) to {high} (best)."
    grade: Any = create_model("CriterionGrade", __base__=Grade, score=(int, Field(ge=low, le=high, description=said)))
    fields: dict[str, Any] = {
        f"criterion_{number}": (grade, Field(alias=name, description=f"The grade on criterion {name}."))
        for number, name in enumerate(ids)
    }
    return create_model("GradedCriteriaAnswer", __base__=Answer, **fields)


KIND = kinds.Kind(
    "graded_criteria", "one report graded on several criteria, one required key each", Context, Answer, specialise
)
