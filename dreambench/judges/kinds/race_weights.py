"""`race_weights`: how much each of RACE's four dimensions matters for one question.

The weights are asked for as shares of 1; whoever uses them scales them, so that a sum of .98 costs no second call.
"""

from __future__ import annotations

from pydantic import Field, model_validator

from dreambench.judges import kinds


class Context(kinds.Context):
    """The question alone: the weights are the same for every report."""

    question: str
    as_of: str | None


class Answer(kinds.Answer):
    """Four weights with their reason."""

    reason: str = Field(min_length=1, description="One or two sentences: what this question needs most from a report.")
    comprehensiveness: float = Field(ge=0, le=1, description="Weight of breadth and depth of coverage.")
    insight: float = Field(ge=0, le=1, description="Weight of analysis, causes, consequences and original conclusions.")
    instruction_following: float = Field(ge=0, le=1, description="Weight of answering exactly what is asked, as it is asked.")
    readability: float = Field(ge=0, le=1, description="Weight of clear structure, language and presentation.")

    @model_validator(mode="after")
    def _weighs_something(self) -> Answer:
        if not self.comprehensiveness + self.insight + self.instruction_following + self.readability:
            raise ValueError("all four weights are 0; they must sum to 1")
        return self


KIND = kinds.Kind("race_weights", "weights of RACE's four dimensions for a question", Context, Answer)
