"""`extract_citations`: every statement of a report that cites a page, with the page's address."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from dreambench.judges import kinds


class Context(kinds.Context):
    """The report as it was written, reference list included."""

    question: str
    as_of: str | None
    report: str


class Cited(BaseModel):
    """One statement and one address that it cites."""

    model_config = ConfigDict(extra="forbid")

    fact: str = Field(
        min_length=1,
        description="The statement that the citation stands for, understandable by itself: names instead of pronouns, with "
        "the year, place and unit that it is about; without the citation marker.",
    )
    url: str = Field(
        min_length=1, description="The address cited for it, copied exactly from the report or from its reference list."
    )

    @field_validator("url")
    @classmethod
    def _stands_in_report(cls, url: str, info: ValidationInfo) -> str:
        reading = info.context
        if isinstance(reading, kinds.Reading) and reading.strict and not is_in(url, getattr(reading.context, "report", "")):
            raise ValueError(f"the report has no address {url}; copy addresses exactly and leave out what has none")
        return url


class Answer(kinds.Answer):
    """The cited statements in the order of the report; an empty list says that nothing is cited."""

    citations: list[Cited] = Field(description="One entry for each statement and address; empty when nothing is cited.")


def is_in(url: str, report: str) -> bool:
    """Whether the address stands in the report, a scheme or a slash at its end apart."""
    bare = url.strip().rstrip("/").rpartition("://")[2]
    return bool(bare) and bare in report


KIND = kinds.Kind("extract_citations", "the statements of a report that cite a page, with its address", Context, Answer)
