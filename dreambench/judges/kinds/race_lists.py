"""`race_lists`: the same question as `race_scores`, answered in the free lists that DeepResearch Bench's scorer reads.

Nothing is checked but that the answer is an object: what is odd in it (a score left out, "8/10", a criterion nobody asked
for) is left to the metric, which handles it like the original.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field, WithJsonSchema

from dreambench.judges import kinds
from dreambench.judges.kinds.race_scores import Context

_ITEM = {
    "type": "object",
    "properties": {
        "criterion": {"type": "string", "description": "The criterion, word for word."},
        "analysis": {"type": "string", "description": "How the two reports meet it."},
        "article_1_score": {"type": "number", "minimum": 0, "maximum": 10, "description": "Score of the first report."},
        "article_2_score": {"type": "number", "minimum": 0, "maximum": 10, "description": "Score of the second report."},
    },
    "required": ["criterion", "analysis", "article_1_score", "article_2_score"],
}
Scores = Annotated[Any, WithJsonSchema({"type": "array", "items": _ITEM})]
"""A list of scored criteria as far as the model kept to it; anything that JSON can hold."""


class Answer(kinds.Answer):
    """The lists by dimension, as they came; all four are asked for, none is insisted on."""

    model_config = ConfigDict(
        json_schema_extra={"required": ["comprehensiveness", "insight", "instruction_following", "readability"]}
    )

    comprehensiveness: Scores = Field(default=None, description="One entry per criterion of comprehensiveness.")
    insight: Scores = Field(default=None, description="One entry per criterion of insight.")
    instruction_following: Scores = Field(default=None, description="One entry per criterion of instruction_following.")
    readability: Scores = Field(default=None, description="One entry per criterion of readability.")


KIND = kinds.Kind("race_lists", "two reports scored on criteria in free lists, read leniently", Context, Answer)
