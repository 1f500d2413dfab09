"""`rewrite`: text for a place in a report, written by an author model as an instruction says.

What the answer must and must not hold comes with the context and is checked here, by code; the judge sends an answer back with
what is wrong. Rubrics word the instruction and never the checks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from pydantic import Field, create_model, field_validator

from dreambench.judges.kinds import Answer, Context, Kind


class RewriteContext(Context):
    """The passage with its surroundings, what the rubric needs to word the instruction, and what the answer must meet."""

    query: str
    passage: str
    before: str = ""
    after: str = ""
    mode: str = ""
    material: str = ""
    language: str = "en"
    least: int = 0
    most: int = 4000
    """Bounds of the answer's length in characters."""
    keep: tuple[str, ...] = ()
    """Strings that the answer must hold, each as often as it is listed."""
    gone: tuple[str, ...] = ()
    """Strings that the answer must not hold."""
    choices: tuple[str, ...] = ()
    """Where given, the answer is one of these."""
    pattern: str = ""
    """Where given, a regular expression that the whole answer fits."""
    same_words: bool = False
    """Whether the answer must have the passage's words, in their order; marks and white space may differ."""
    no_numbers: bool = False
    """Whether the answer must be free of digits."""
    order: int = 0
    """Where given, the answer is the numbers from 1 to this in an order in which none stands at its own place."""


class RewriteAnswer(Answer):
    """The text as it shall stand in the report."""

    text: str = Field(description="the text that is asked for and nothing else: no quotation marks around it, no comment")


def _specialise(settings: Mapping[str, Any], context: RewriteContext) -> type[Answer]:
    def check(text: str) -> str:
        if problems := problems_of(text, context):
            raise ValueError("; ".join(problems))
        return text

    validators: dict[str, Any] = {"check": field_validator("text")(check)}
    return create_model("RewriteAnswer", __base__=RewriteAnswer, __validators__=validators)


_WORD = re.compile(r"\w+")


def problems_of(text: str, context: RewriteContext) -> list[str]:
    """What is wrong with an answer, in words for the model; empty when it can be used."""
    bare = text.strip()
    problems = []
    if bare == context.passage.strip():
        problems.append("nothing was changed; do what the instruction says")
    for kept, wanted in Counter(context.keep).items():
        if text.count(kept) < wanted:
            problems.append(f"{kept!r} must be in the text, exactly so, {wanted} times")
    problems += [f"{gone!r} must not be in the text" for gone in context.gone if gone in text]
    if not context.least <= len(bare) <= context.most:
        problems.append(f"{len(bare)} characters long; {context.least} to {context.most} are allowed")
    if context.choices and bare not in context.choices:
        problems.append(f"must be one of: {' '.join(context.choices)}")
    if context.pattern and re.fullmatch(context.pattern, bare) is None:
        problems.append("does not have the form that the instruction asks for")
    if context.same_words and _WORD.findall(text.replace("_", " ")) != _WORD.findall(context.passage.replace("_", " ")):
        problems.append("the words and their order must stay; only marks and white space may change")
    if context.no_numbers and re.search(r"\d", text):
        problems.append("must hold no number")
    if "\n\n" in bare and "\n\n" not in context.passage:
        problems.append("must stay one paragraph")
    if context.order:
        problems += _order_problems(bare, context.order)
    return problems


def order_of(text: str) -> list[int]:
    """The numbers of an answer, in order."""
    return [int(number) for number in re.findall(r"\d+", text)]


def _order_problems(text: str, count: int) -> list[str]:
    numbers = order_of(text)
    if sorted(numbers) != list(range(1, count + 1)):
        return [f"must list each number from 1 to {count} once"]
    fixed = [number for place, number in enumerate(numbers, 1) if place == number]
    return [f"{fixed[0]} must not stay at its place"] if fixed else []


KIND = Kind("rewrite", "write a passage of a report anew", RewriteContext, RewriteAnswer, _specialise)
