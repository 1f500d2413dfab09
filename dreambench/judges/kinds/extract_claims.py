"""`extract_claims`: the claims of a report that can be checked, each with the words of the report that make it.

Settings belong to the rubric's wording alone (which claims are wanted).
"""

from __future__ import annotations

from pydantic import BaseModel, Field, PositiveInt, ValidationInfo, field_validator

from dreambench.judges import kinds
from dreambench.judges.kinds.yes_no import quoted_from_report


class Context(kinds.Context):
    """`limit` is the most claims wanted, the weightiest first; None is all of them."""

    question: str
    as_of: str | None
    report: str
    limit: PositiveInt | None = None


class Claim(BaseModel):
    """One assertion that is true or false by itself."""

    claim: str = Field(
        min_length=1,
        description="One single assertion that can be understood and checked without the report: names instead of pronouns, "
        "with the year, place and unit that it is about.",
    )
    quote: str = Field(min_length=1, description="The words of the report that make the claim, copied exactly.")

    @field_validator("quote")
    @classmethod
    def _stands_in_report(cls, quote: str, info: ValidationInfo) -> str:
        return quoted_from_report(quote, info)


class Answer(kinds.Answer):
    """The claims in order of weight; an empty list says that there are none."""

    claims: list[Claim] = Field(description="The claims, the weightiest for the question first, none twice.")

    @field_validator("claims")
    @classmethod
    def _within_limit(cls, claims: list[Claim], info: ValidationInfo) -> list[Claim]:
        reading = info.context
        if isinstance(reading, kinds.Reading) and reading.strict:
            limit: int | None = getattr(reading.context, "limit", None)
            if limit is not None and len(claims) > limit:
                raise ValueError(f"{len(claims)} claims are too many; keep the {limit} weightiest")
        return claims


KIND = kinds.Kind("extract_claims", "the checkable claims of a report, each with a quote", Context, Answer)
