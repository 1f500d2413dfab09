"""`reasoning_questions`: open, hard questions about a topic, each with a plan to check how a report reasons about it."""

from __future__ import annotations

from pydantic import BaseModel, Field, PositiveInt, ValidationInfo, field_validator

from dreambench.judges import kinds
from dreambench.judges.kinds.agent_step import ClosingContext


class Context(ClosingContext):
    """`count` questions are wanted; `tools` are what a plan may name."""

    count: PositiveInt
    tools: list[str]


class Check(BaseModel):
    """One thing to verify outside of the report."""

    what: str = Field(min_length=1, description="What has to be verified outside of the report.")
    tools: list[str] = Field(min_length=1, description="The names of the tools to verify it with.")


class Question(BaseModel):
    """One reasoning question with its validation plan."""

    question: str = Field(min_length=1, description="An open question that only reasoning over several facts can answer.")
    extract: str = Field(min_length=1, description="Which chain of reasoning to extract from a report, step by step.")
    verify: list[Check] = Field(min_length=1, description="What to verify outside of the report, and with which tools.")
    criteria: list[str] = Field(min_length=1, description="What to compare: what sound reasoning must hold up to.")


class Answer(kinds.Answer):
    """The questions, the most telling first."""

    questions: list[Question] = Field(min_length=1, description="Questions that differ in what they test.")

    @field_validator("questions")
    @classmethod
    def _as_wanted(cls, questions: list[Question], info: ValidationInfo) -> list[Question]:
        reading = info.context
        if isinstance(reading, kinds.Reading) and reading.strict and isinstance(reading.context, Context):
            if len(questions) != reading.context.count:
                raise ValueError(f"{len(questions)} questions were given; {reading.context.count} are wanted")
            for question in questions:
                if unknown := unknown_tools(question, reading.context.tools):
                    raise ValueError(f"there is no tool {unknown[0]!r}; the tools are {', '.join(reading.context.tools)}")
        return questions


def unknown_tools(question: Question, tools: list[str]) -> list[str]:
    """The tools that a question's plan names and that do not exist."""
    return [name for check in question.verify for name in check.tools if name not in tools]


KIND = kinds.Kind("reasoning_questions", "hard questions of a topic with validation plans", Context, Answer)
