"""`yes_no`: one yes/no question about a report, answered with the words of the report that decide it.

Settings: `item` where a rubric asks one fixed question (the metric puts it into the context).
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from dreambench.judges import kinds
from dreambench.judges.quotes import check_quote


class Context(kinds.Context):
    """`question` is the task's query, `item` the yes/no question about the report."""

    question: str
    as_of: str | None
    report: str
    item: str


class Answer(kinds.Answer):
    """A yes or no that rests on quoted words."""

    reason: str = Field(min_length=1, description="One sentence: why the answer is yes or no.")
    quote: str = Field(
        description="The words of the report that decide the answer, copied exactly and without additions; empty when the "
        "report says nothing about it."
    )
    answer: Literal["yes", "no"] = Field(description="yes only when the report itself says so, else no.")

    @field_validator("quote")
    @classmethod
    def _stands_in_report(cls, quote: str, info: ValidationInfo) -> str:
        return quoted_from_report(quote, info)


def quoted_from_report(quote: str, info: ValidationInfo) -> str:
    """`quote`, when the report that the question is about has it (or nobody checks). Raises ValueError when it has not."""
    reading = info.context
    if isinstance(reading, kinds.Reading) and reading.strict and quote.strip():
        report: str = getattr(reading.context, "report", "")
        if check_quote(quote, report) is None:
            raise ValueError("these words do not stand in the report; copy them exactly or leave the quote empty")
    return quote


KIND = kinds.Kind("yes_no", "one yes/no question about a report, with a quote", Context, Answer)
