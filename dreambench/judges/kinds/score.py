"""`score`: how good a report is in one respect, as a whole number on the rubric's scale.

Settings: `aspect` names the respect, `scale` is [lowest, highest] (default [0, 100]). All rubrics of one scale share one
answer model, so their calls share a provider-side cached prefix.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import Field, create_model

from dreambench.errors import Problem, RubricError
from dreambench.judges import kinds

DEFAULT_SCALE = (0, 100)


class Context(kinds.Context):
    """`question` is the task's query; `as_of` an ISO date, None when unknown."""

    question: str
    as_of: str | None
    report: str


class Answer(kinds.Answer):
    """A score with its reason; the reason comes first, so that the number follows from it."""

    reason: str = Field(min_length=1, description="One or two sentences: what in the report decides the score.")
    score: int = Field(description="The score as a whole number.")


def scale_of(settings: Mapping[str, Any]) -> tuple[int, int]:
    """Lowest and highest score of a rubric. Raises RubricError unless they are two ascending whole numbers."""
    scale = settings.get("scale", DEFAULT_SCALE)
    if isinstance(scale, list | tuple) and len(scale) == 2 and all(type(end) is int for end in scale) and scale[0] < scale[1]:
        return scale[0], scale[1]
    raise RubricError(Problem("scale", f"{scale!r} is no pair of ascending whole numbers", type="scale: [0, 100]"))


def specialise(settings: Mapping[str, Any], context: Context) -> type[Answer]:
    """The answer model with the rubric's scale as bounds."""
    return _scaled(*scale_of(settings))


@cache
def _scaled(low: int, high: int) -> type[Answer]:
    text = f"The score as a whole number from {low} (worst) to {high} (best)."
    return create_model("ScoreAnswer", __base__=Answer, score=(int, Field(ge=low, le=high, description=text)))


KIND = kinds.Kind("score", "how good a report is in one respect, on a scale", Context, Answer, specialise)
