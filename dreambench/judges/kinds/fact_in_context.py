"""`fact_in_context`: a fact of a report made understandable by itself, and whether it answers the question at all."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dreambench.judges import kinds


class Context(kinds.Context):
    """`claim` is the fact as it was taken out of the report."""

    question: str
    as_of: str | None
    report: str
    claim: str


class Answer(kinds.Answer):
    """The fact by itself, then why it counts for the question or not."""

    fact: str = Field(
        min_length=1,
        description="The same fact with names instead of pronouns and vague references, and nothing added or corrected.",
    )
    reason: str = Field(min_length=1, description="One sentence: what ties the fact to the question, or that nothing does.")
    relevant: Literal["yes", "no"] = Field(description="yes when the fact is about what the question asks for.")


KIND = kinds.Kind("fact_in_context", "a fact made understandable by itself, and whether it is to the point", Context, Answer)
