"""A small question of our own for tests of judges: a kind, and a rubric that asks it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from jinja2 import StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import Field, create_model, field_validator

from dreambench.judges.fence import fence
from dreambench.judges.kinds import Answer, Context, Kind
from dreambench.judges.rubric import Rubric

TEMPLATE = """
{% block system %}You judge reports.{% endblock %}
{% block user %}{{ fence(report, "report") }}
How clear is it?{% endblock %}
"""


class ReportContext(Context):
    report: str


class GradeAnswer(Answer):
    """A grade with its reason."""

    score: int = Field(ge=0, le=10, description="0 (unclear) to 10 (clear)")
    label: Literal["good", "bad"]
    reason: str = Field(description="one sentence")

    @field_validator("reason")
    @classmethod
    def _no_shouting(cls, reason: str) -> str:
        if reason.isupper():
            raise ValueError("do not shout, write a sentence")
        return reason


def _batched(settings: Mapping[str, Any], context: Any) -> type[Answer]:
    names = [f"item_{number}" for number in range(len(context.report.split()))]
    return create_model("BatchAnswer", __base__=Answer, **dict.fromkeys(names, (bool, ...)))  # type: ignore[call-overload,no-any-return]


GRADE = Kind("grade", "a grade for a report", ReportContext, GradeAnswer)
BATCH = Kind("batch", "one verdict per word", ReportContext, Answer, _batched)


def rubric(kind: Kind = GRADE) -> Rubric:
    """A rubric that asks `kind`; our kinds are no modules of the package, so it is made without a file."""
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined)
    environment.globals["fence"] = fence
    template = environment.from_string(TEMPLATE)
    return Rubric(f"test/{kind.name}.default", kind, "1", {"aspect": "clarity"}, "0" * 64, template)
