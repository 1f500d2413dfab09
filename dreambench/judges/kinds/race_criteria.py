"""`race_criteria`: the criteria by which reports to one question are scored in one dimension, with their weights.

The weights are asked for as shares of 1; whoever uses them scales them.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, field_validator

from dreambench.judges import kinds

FEWEST, MOST = 2, 12


class Context(kinds.Context):
    """`dimension` is one of RACE's four."""

    question: str
    as_of: str | None
    dimension: str


class Criterion(BaseModel):
    """One thing to score by."""

    model_config = ConfigDict(extra="forbid")

    criterion: str = Field(min_length=1, description="The criterion in one short line.")
    explanation: str = Field(min_length=1, description="What a report has to do to meet it, and why it matters here.")
    weight: float = Field(gt=0, le=1, description="Its share of the dimension.")


class Answer(kinds.Answer):
    """The criteria, the weightiest first."""

    criteria: list[Criterion] = Field(
        min_length=FEWEST, max_length=MOST, description="Criteria that do not overlap; their weights sum to 1."
    )

    @field_validator("criteria")
    @classmethod
    def _differ(cls, criteria: list[Criterion]) -> list[Criterion]:
        texts = [" ".join(criterion.criterion.casefold().split()) for criterion in criteria]
        if twice := next((text for number, text in enumerate(texts) if text in texts[:number]), None):
            raise ValueError(f"the criterion {twice!r} is there twice")
        return criteria


KIND = kinds.Kind("race_criteria", "weighted criteria of one RACE dimension for a question", Context, Answer)
