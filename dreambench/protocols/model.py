"""One protocol: the adaptive items of one task (DREAM, METRICS 1.5, 1.6), with what they rest on and who made them.

A protocol is content-addressed: `content_hash` covers all of it but the `hash` that is written into its file, so a file
that was changed afterwards is noticed. It is made from a query and a date and never from a report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import date
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationInfo, field_validator

from dreambench.engine.call import canonical_json
from dreambench.judges.keyed import ItemId
from dreambench.records import short_hash

LEAST_KIC, MOST_KIC = 8, 20
"""Hard range of key facts: with fewer the KIC part is invalid, with more the file is."""

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Creator(StrEnum):
    """Who made a protocol: a model without tools, an agent without or with retrieval, a person, the embedded judge."""

    LLM = "llm"
    AGENT = "agent"
    AGENT_RETRIEVAL = "agent_retrieval"
    HUMAN = "human"
    EMBEDDED = "embedded"

    @property
    def reads_pages(self) -> bool:
        """Whether every key fact must name the page and the words that it rests on."""
        return self not in (Creator.LLM, Creator.AGENT)


class Part(BaseModel):
    """A record of a protocol's file: unknown fields are errors, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class KicItem(Part):
    """One essential fact as a yes/no question about a report, with the page and the words that it rests on."""

    id: ItemId
    question: Words
    fact: Words
    url: str = ""
    quote: str = ""
    published: date | None = None
    time_sensitive: bool = False


class Verification(Part):
    """One thing to verify outside of the report, and the tools to do it with."""

    what: Words
    tools: list[Words] = Field(min_length=1)


class Plan(Part):
    """How a reasoning question is checked: what to extract from the report, what to verify, what to compare."""

    extract: Words
    verify: list[Verification] = Field(min_length=1)
    criteria: list[Words] = Field(min_length=1)


class RqItem(Part):
    """One open, hard question of the task with its validation plan."""

    id: ItemId
    question: Words
    plan: Plan


class Rejected(Part):
    """An item that was not taken: from which part, in which round (0: the first), why, and the item as it was given."""

    part: Literal["kic", "rq"]
    round: int = Field(ge=0)
    reason: Words
    item: dict[str, Any]


class Edit(Part):
    """A change by hand: who, when, why, and the hash of what stood there before."""

    by: Words
    on: date
    note: Words
    was: str


class Protocol(Part):
    """All that one task's reports are held against by KIC and RQ.

    `judge` and `tools` are the identities of who created it and with what; `settings` is what else could have changed it
    (rubrics, sizes, limits). All three are null in a protocol written by a person.
    """

    version: Literal[1] = 1
    query: Words
    as_of: date | None
    creator: Creator
    judge: dict[str, Any] | None = Field(default=None, validate_default=True)
    tools: dict[str, Any] | None = None
    settings: dict[str, Any] | None = None
    kic: list[KicItem] = Field(default=[], max_length=MOST_KIC)
    rq: list[RqItem] = []
    rejected: list[Rejected] = []
    edits: list[Edit] = []
    hash: str | None = None

    @field_validator("judge")
    @classmethod
    def _has_a_maker(cls, judge: dict[str, Any] | None, info: ValidationInfo) -> dict[str, Any] | None:
        if judge is None and info.data.get("creator") not in (None, Creator.HUMAN):
            raise ValueError("must say which judge created it, unless creator is human")
        return judge

    @field_validator("kic")
    @classmethod
    def _rest_on_pages(cls, items: list[KicItem], info: ValidationInfo) -> list[KicItem]:
        _distinct(item.id for item in items)
        creator: Creator | None = info.data.get("creator")
        as_of: date | None = info.data.get("as_of")
        for item in items:
            if creator and creator.reads_pages and not (item.url.strip() and item.quote.strip()):
                raise ValueError(f"item {item.id}: names no url and quote, which creator {creator.value} must give")
            if as_of and item.published and item.published > as_of:
                raise ValueError(f"item {item.id}: was published {item.published}, after as_of {as_of}")
        return items

    @field_validator("rq")
    @classmethod
    def _have_own_ids(cls, items: list[RqItem]) -> list[RqItem]:
        _distinct(item.id for item in items)
        return items

    def content_hash(self) -> str:
        """First 16 hex digits of SHA-256 over everything but `hash`."""
        return short_hash("protocol", canonical_json(self.model_dump(mode="json", exclude={"hash"})))

    def kic_trouble(self) -> str | None:
        """Why no report can be scored on the key facts (a reason code), None when it can."""
        if not self.kic:
            return "no_kic_items"
        return "protocol_invalid" if len(self.kic) < LEAST_KIC else None

    def rq_trouble(self) -> str | None:
        """Why no report can be scored on the reasoning questions (a reason code), None when it can."""
        return None if self.rq else "no_rq_items"


def _distinct(ids: Iterable[str]) -> None:
    if twice := [name for name, count in Counter(ids).items() if count > 1]:
        raise ValueError(f"the id {twice[0]!r} is given twice")
