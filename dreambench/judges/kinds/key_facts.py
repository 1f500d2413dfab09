"""`key_facts`: the essential facts of a topic, each as a yes/no question about a report that nobody has seen yet."""

from __future__ import annotations

from datetime import date

from pydantic import BaseModel, Field, NonNegativeInt, PositiveInt, ValidationInfo, field_validator

from dreambench.judges import kinds
from dreambench.judges.kinds.agent_step import ClosingContext


class Refused(BaseModel):
    """An earlier fact that was not taken, and why."""

    fact: str
    reason: str


class Context(ClosingContext):
    """`least` to `most` facts are wanted; `kept` are those there already; `pages` says whether each must quote a page."""

    least: NonNegativeInt
    most: PositiveInt
    kept: list[str] = Field(default_factory=list)
    refused: list[Refused] = Field(default_factory=list)
    pages: bool = True


class Fact(BaseModel):
    """One essential fact."""

    fact: str = Field(min_length=1, description="The fact as one sentence, with its figures, names and dates.")
    question: str = Field(
        min_length=1,
        description="The fact as a yes/no question about a report, like: Does the report state that ...? It holds the fact "
        "itself and can be answered from the report alone.",
    )
    url: str = Field(default="", description="The address of the page that states the fact; empty when pages were not read.")
    quote: str = Field(default="", description="The words of that page that state it, copied exactly.")
    published: date | None = Field(default=None, description="When the page was published, as YYYY-MM-DD; null if unknown.")
    time_sensitive: bool = Field(description="true when the fact would have been another a year earlier.")


class Answer(kinds.Answer):
    """The facts, the most essential first."""

    facts: list[Fact] = Field(description="Facts that a good answer cannot do without, none twice.")

    @field_validator("facts")
    @classmethod
    def _as_many_as_wanted(cls, facts: list[Fact], info: ValidationInfo) -> list[Fact]:
        reading = info.context
        if isinstance(reading, kinds.Reading) and reading.strict and isinstance(reading.context, Context):
            least, most = reading.context.least, reading.context.most
            if not least <= len(facts) <= most:
                raise ValueError(f"{len(facts)} facts were given; {least} to {most} are wanted")
            if reading.context.pages and (bare := [fact.fact for fact in facts if not (fact.url and fact.quote)]):
                raise ValueError(f"no url and quote are given for {bare[0]!r}")
        return facts


KIND = kinds.Kind("key_facts", "the essential facts of a topic as yes/no questions", Context, Answer)
