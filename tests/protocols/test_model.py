"""What a protocol holds: its hash follows its content, and what cannot be used is refused."""

from __future__ import annotations

from datetime import date

import pytest
from pydantic import ValidationError

from dreambench.protocols.model import Creator, Protocol
from tests.support.protocol import fact, protocol, question


def test_the_hash_is_of_the_content_and_stays_the_same_between_versions() -> None:
    made = protocol(8, 1)
    assert made.content_hash() == protocol(8, 1).content_hash() == "255ceb2a6b830706"
    assert made.model_copy(update={"hash": "x"}).content_hash() == made.content_hash()
    assert Protocol.model_validate_json(made.model_dump_json()).content_hash() == made.content_hash()


@pytest.mark.parametrize(
    "change",
    [
        {"query": "Another?"},
        {"as_of": date(2025, 1, 2)},
        {"kic": [fact(1)]},
        {"rq": [question(2)]},
        {"judge": {"judge": "x"}},
        {"tools": {"tools": "corpus"}},
        {"settings": {"rounds": 1}},
    ],
)
def test_whatever_changes_changes_the_hash(change: dict[str, object]) -> None:
    assert protocol(8, 1, **change).content_hash() != protocol(8, 1).content_hash()


@pytest.mark.parametrize(("facts", "trouble"), [(0, "no_kic_items"), (7, "protocol_invalid"), (8, None), (20, None)])
def test_the_hard_range_of_facts(facts: int, trouble: str | None) -> None:
    assert protocol(facts).kic_trouble() == trouble


def test_more_facts_than_the_range_allows_are_refused() -> None:
    with pytest.raises(ValidationError, match="at most 20 items"):
        protocol(21)


def test_reasoning_questions_may_be_missing() -> None:
    assert protocol(8).rq_trouble() == "no_rq_items"
    assert protocol(8, 1).rq_trouble() is None


@pytest.mark.parametrize("creator", [Creator.HUMAN, Creator.EMBEDDED, Creator.AGENT_RETRIEVAL])
def test_facts_rest_on_pages_where_pages_were_read(creator: Creator) -> None:
    with pytest.raises(ValidationError, match="item k1: names no url and quote"):
        protocol(creator=creator, judge={"judge": "x"}, kic=[fact(1, quote=" ")])


@pytest.mark.parametrize("creator", [Creator.LLM, Creator.AGENT])
def test_facts_from_memory_need_no_page(creator: Creator) -> None:
    assert protocol(creator=creator, judge={"judge": "x"}, kic=[fact(1, quote="", url="")]).kic[0].url == ""


def test_a_page_from_after_the_date_of_the_question_is_refused() -> None:
    with pytest.raises(ValidationError, match="was published 2025-01-02, after as_of 2025-01-01"):
        protocol(kic=[fact(1, published=date(2025, 1, 2))])


def test_ids_are_given_once_and_a_creator_says_who_it_is() -> None:
    with pytest.raises(ValidationError, match="the id 'k1' is given twice"):
        protocol(kic=[fact(1), fact(1)])
    with pytest.raises(ValidationError, match="the id 'r1' is given twice"):
        protocol(rq=[question(1), question(1)])
    with pytest.raises(ValidationError, match="must say which judge created it"):
        protocol(creator=Creator.LLM)
