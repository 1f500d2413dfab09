"""`entailment`: what passages say about a claim, with the deciding words and the passage that they stand in.

Settings: `labels` (required), the verdicts; `unquoted` (default: the labels of SILENT), those that need no quote.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, create_model, model_validator

from dreambench.errors import Problem, RubricError
from dreambench.judges import kinds
from dreambench.judges.quotes import check_quote

SILENT = ("neutral", "unverifiable", "unrelated", "unknown", "unsupported", "not_supported", "not_mentioned", "silent")
"""Verdicts that say that the passages decide nothing; they need no quote unless a rubric says so."""


class Passage(BaseModel):
    """A stretch of a page; `published` is an ISO date or empty."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    url: str = ""
    title: str = ""
    published: str = ""
    text: str


class Context(kinds.Context):
    """`claim` is judged by the passages alone."""

    claim: str
    passages: list[Passage]
    as_of: str | None


class Answer(kinds.Answer):
    """A verdict that rests on quoted words of one passage."""

    reason: str = Field(min_length=1, description="One sentence: what the passages say about the claim.")
    passage: str = Field(description="The id of the passage that decides; empty when none does.")
    quote: str = Field(description="The deciding words of that passage, copied exactly; empty when no passage decides.")
    label: str = Field(description="The verdict.")

    @model_validator(mode="after")
    def _quote_stands_in_passage(self, info: ValidationInfo) -> Answer:
        reading = info.context
        if isinstance(reading, kinds.Reading) and reading.strict:
            assert isinstance(reading.context, Context)
            _check(self, {passage.id: passage.text for passage in reading.context.passages}, self._unquoted())
        return self

    @classmethod
    def _unquoted(cls) -> tuple[str, ...]:
        return SILENT


def labels_of(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The verdicts of a rubric. Raises RubricError unless they are two or more different texts."""
    return _texts(settings, "labels", settings.get("labels"), least=2)


def unquoted_of(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The verdicts that need no quote. Raises RubricError when one of them is no label."""
    labels = labels_of(settings)
    unquoted = _texts(settings, "unquoted", settings.get("unquoted", [label for label in labels if label in SILENT]), least=0)
    if strange := [label for label in unquoted if label not in labels]:
        raise RubricError(Problem("unquoted", f"{strange[0]!r} is no label", labels))
    return unquoted


def specialise(settings: Mapping[str, Any], context: Context) -> type[Answer]:
    """The answer model with the rubric's labels."""
    return _labelled(labels_of(settings), unquoted_of(settings))


@cache
def _labelled(labels: tuple[str, ...], unquoted: tuple[str, ...]) -> type[Answer]:
    base = type("EntailmentAnswer", (Answer,), {"_unquoted": classmethod(lambda cls: unquoted), "__module__": __name__})
    wording = f"The verdict: {', '.join(labels)}."
    allowed: Any = Literal[labels]
    return create_model("EntailmentAnswer", __base__=base, label=(allowed, Field(description=wording)))


def _check(answer: Answer, texts: Mapping[str, str], unquoted: Sequence[str]) -> None:
    if answer.passage and answer.passage not in texts:
        raise ValueError(f"there is no passage {answer.passage!r}; the passages are {', '.join(texts) or 'none'}")
    if answer.quote.strip():
        if check_quote(answer.quote, texts.get(answer.passage, "")) is None:
            raise ValueError(f"the quote does not stand in passage {answer.passage!r}; copy its words exactly")
    elif answer.label not in unquoted:
        raise ValueError(f"the label {answer.label!r} needs a quote from a passage")


def _texts(settings: Mapping[str, Any], key: str, value: Any, least: int) -> tuple[str, ...]:
    texts = tuple(value) if isinstance(value, list | tuple) else ()
    if len(set(texts)) == len(texts) >= least and value is not None and all(isinstance(text, str) for text in texts):
        return texts
    problem = f"{value!r} is no list of {least or 'some'} or more different texts"
    raise RubricError(Problem(key, problem, type=f"{key}: [supported, contradicted, neutral]"))


KIND = kinds.Kind("entailment", "what passages say about a claim, with a quote", Context, Answer, specialise)
