"""Extraction by code: every cited sentence is a claim and a fact; all else is the judge's."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from dreambench.config.locations import bundled
from dreambench.judges.judge import Judge
from dreambench.judges.kinds import Answer, Context
from dreambench.judges.rubric import Rubric, RubricShelf
from dreambench.metrics.given_claims import Listing
from tests.support.gateway import TestGateway

REPORT = (
    "# T\n\nThe dam holds 30 million tons of water ([Dam](https://d.example/a)). It is old.\n\n"
    "Nobody lives there since 1990 ([Town](https://d.example/b)).\n"
)
ASKED = {"question": "What of the dam?", "as_of": None, "report": REPORT}


class Never(Judge):
    """Fails when it is asked."""

    def identity(self) -> Mapping[str, Any]:
        return {"judge": "never"}

    def refusal(self, rubric: Rubric) -> str | None:
        return "it answers nothing"

    async def answer(self, rubric: Rubric, context: Context, *, repeat: int, role: str) -> Answer:
        raise AssertionError(rubric.id)


@pytest.fixture
def listing(gateway: TestGateway) -> Listing:
    return Listing(Never(name="never", gateway=gateway))


@pytest.fixture
def shelf() -> RubricShelf:
    return RubricShelf([bundled("rubrics")])


def test_cited_sentences_are_the_claims(listing: Listing, shelf: RubricShelf) -> None:
    answer: Any = asyncio.run(listing.ask(shelf.load("factuality/extract.default"), limit=30, **ASKED))
    claims = [claim.claim for claim in answer.claims]
    assert claims == ["The dam holds 30 million tons of water.", "Nobody lives there since 1990."]
    one: Any = asyncio.run(listing.ask(shelf.load("factuality/extract.default"), limit=1, **ASKED))
    assert [claim.claim for claim in one.claims] == claims[:1]


def test_cited_sentences_are_the_facts_with_their_pages(listing: Listing, shelf: RubricShelf) -> None:
    answer: Any = asyncio.run(listing.ask(shelf.load("fact/extract.default"), **ASKED))
    assert [cited.url for cited in answer.citations] == ["https://d.example/a", "https://d.example/b"]


def test_other_questions_are_refused_as_the_judge_refuses_them(listing: Listing, shelf: RubricShelf) -> None:
    assert listing.refusal(shelf.load("factuality/judgment.default")) == "it answers nothing"
    assert listing.refusal(shelf.load("factuality/extract.default")) is None
