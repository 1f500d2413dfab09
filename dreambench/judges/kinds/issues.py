"""`issues`: every place of a report that has one kind of fault, how many there are, and the judge's own score for that.

Setting: `about` names the fault for judges with rules of their own (`uncited`: claims without a source).
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationInfo, field_validator

from dreambench.judges import kinds
from dreambench.judges.kinds.yes_no import quoted_from_report


class Context(kinds.Context):
    """The report as it was written."""

    question: str
    as_of: str | None
    report: str


class Issue(BaseModel):
    """One fault at one place."""

    model_config = ConfigDict(extra="forbid")

    issue: str = Field(min_length=1, description="What is wrong at this place.")
    quote: str = Field(description="The words of the report where it is, copied exactly; empty when it is no single place.")

    @field_validator("quote")
    @classmethod
    def _stands_in_report(cls, quote: str, info: ValidationInfo) -> str:
        return quoted_from_report(quote, info)


class Answer(kinds.Answer):
    """The faults; an empty list says that there are none."""

    issues: list[Issue] = Field(description="One entry per fault, none twice; empty when there are none.")
    total: NonNegativeInt = Field(description="How many faults there are.")
    reason: str = Field(min_length=1, description="One sentence: what the score rests on.")
    score: int = Field(ge=0, le=100, description="The score that the instructions give for this number of faults.")


KIND = kinds.Kind("issues", "every place of a report with one kind of fault, their number and a score", Context, Answer)
