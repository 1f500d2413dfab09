"""`verify_facts`: whether one page supports each of several facts, one required key per fact id.

A fact is supported when the page holds it wholly or in part, unsupported when the page is readable and does not, unknown
when the page has no content that could be read (an error page, a login).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from dreambench.judges import kinds
from dreambench.judges.keyed import ItemId, KeyedAnswer, keyed_model
from dreambench.judges.quotes import check_quote

Label = Literal["supported", "unsupported", "unknown"]


class Context(kinds.Context):
    """`page` is the page's text, `cut` says that its end is missing; `published` is an ISO date or empty."""

    url: str
    title: str = ""
    published: str = ""
    page: str
    cut: bool = False
    facts: dict[ItemId, str] = Field(min_length=1)
    as_of: str | None


class Verdict(BaseModel):
    """The verdict on one fact, with the words of the page that decide."""

    model_config = ConfigDict(extra="forbid")

    reason: str = Field(min_length=1, description="One sentence: what the page says about the fact.")
    quote: str = Field(description="The deciding words of the page, copied exactly; empty unless the fact is supported.")
    label: Label = Field(
        description="supported: the page holds the fact wholly or in part, rounding allowed. unsupported: the page can be "
        "read and holds none of it. unknown: the page has no content to judge by (an error page, a login, a robot check)."
    )

    @model_validator(mode="after")
    def _quote_stands_in_page(self, info: ValidationInfo) -> Verdict:
        reading = info.context
        if isinstance(reading, kinds.Reading) and reading.strict:
            page: str = getattr(reading.context, "page", "")
            if self.label == "supported" and not self.quote.strip():
                raise ValueError("the label 'supported' needs a quote from the page")
            if self.quote.strip() and check_quote(self.quote, page) is None:
                raise ValueError("the quote does not stand in the page; copy its words exactly")
        return self


class Answer(KeyedAnswer[Verdict]):
    """One `Verdict` per fact id."""


def specialise(settings: Mapping[str, Any], context: Context) -> type[Answer]:
    """The answer model for these facts; equal ids give the same model."""
    return keyed_model("VerifyFactsAnswer", Answer, Verdict, tuple(context.facts), "The verdict on fact {}.")


KIND = kinds.Kind(
    "verify_facts", "whether a page supports each of several facts, one required key each", Context, Answer, specialise
)
