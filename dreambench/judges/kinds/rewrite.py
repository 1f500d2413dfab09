"""`rewrite`: a passage of a report, written anew by an author model as an instruction says.

The answer is checked here, by code, and sent back with what is wrong: something must have changed, citation markers and
other strings must still be there, and the length must stay within the rubric's bounds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from pydantic import Field, create_model, field_validator

from dreambench.judges.kinds import Answer, Context, Kind


class RewriteContext(Context):
    """The passage with its surroundings, and what the rubric needs to word the instruction."""

    query: str
    passage: str
    before: str = ""
    after: str = ""
    mode: str = ""
    material: str = ""
    language: str = "en"
    keep: tuple[str, ...] = ()
    """Strings that must occur in the answer as often as in the passage (at least once where the passage has none)."""
    gone: tuple[str, ...] = ()
    """Strings that must not occur in the answer."""
    shortest: float = 0.5
    longest: float = 2.0
    """Length of the answer as a multiple of the passage's; slack of 80 characters above."""


class RewriteAnswer(Answer):
    """The passage as it shall stand in the report."""

    text: str = Field(description="the new passage and nothing else: no quotation marks around it, no comment")


def _specialise(settings: Mapping[str, Any], context: RewriteContext) -> type[Answer]:
    def check(text: str) -> str:
        for problem in problems_of(text, context):
            raise ValueError(problem)
        return text

    validators: dict[str, Any] = {"check": field_validator("text")(check)}
    return create_model("RewriteAnswer", __base__=RewriteAnswer, __validators__=validators)


_SPACES = re.compile(r"\s+")


def problems_of(text: str, context: RewriteContext) -> list[str]:
    """What is wrong with a new passage, in words for the model; empty when it can be used."""
    problems = []
    if _SPACES.sub(" ", text).strip() == _SPACES.sub(" ", context.passage).strip() and text.strip() == context.passage.strip():
        problems.append("nothing was changed; change the passage as the instruction says")
    for kept, wanted in Counter(context.keep).items():
        if text.count(kept) < max(1, wanted):
            problems.append(f"{kept!r} must stay in the passage, exactly as it is")
    problems += [f"{gone!r} must not occur in the new passage" for gone in context.gone if gone in text]
    longest = context.longest * len(context.passage) + 80
    if len(text) > longest:
        problems.append(f"too long: {len(text)} characters, at most {int(longest)} are allowed")
    if len(text) < context.shortest * len(context.passage):
        problems.append(
            f"too short: {len(text)} characters, at least {int(context.shortest * len(context.passage))} are needed"
        )
    if "\n\n" in text.strip() and "\n\n" not in context.passage:
        problems.append("the passage must stay one paragraph")
    return problems


KIND = Kind("rewrite", "write a passage of a report anew", RewriteContext, RewriteAnswer, _specialise)
