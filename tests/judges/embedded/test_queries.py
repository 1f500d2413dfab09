"""Queries by rules ask for the value and never hold it."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreambench.errors import AnswerError
from dreambench.judges.embedded.queries import answer
from dreambench.judges.kinds import Reading
from dreambench.judges.kinds.queries import KIND, Answer, Context


def queries(claim: str, question: str = "How large is the Rance plant?", count: int = 3) -> list[str]:
    context = Context(claim=claim, question=question, as_of=None, count=count)
    found = KIND.answer.model_validate(answer({}, context), context=Reading(context))
    assert isinstance(found, Answer)
    return found.queries


@pytest.mark.parametrize(
    ("claim", "asked", "hidden"),
    [
        ("The Rance plant has a capacity of 240 megawatts.", "Rance plant capacity", "240"),
        ("The Rance plant opened in 1966.", "Rance plant opened", "1966"),
        ("In 2023, exports of Norland fell by 3.5 %.", "2023", "3.5"),
        ("2023年中国出口总额为3.5万亿元。", "出口总额", "3.5"),
    ],
)
def test_the_topic_is_asked_for_and_the_value_hidden(claim: str, asked: str, hidden: str) -> None:
    found = queries(claim)
    assert asked in found[0]
    assert not any(hidden in query for query in found)


def test_at_most_count_different_queries() -> None:
    assert len(queries("The Rance plant has a capacity of 240 megawatts.", count=1)) == 1
    found = queries("The Rance plant in France opened in 1966 and has a capacity of 240 megawatts.", count=9)
    assert len(set(found)) == len(found) > 1


def test_no_words_are_an_error_and_no_answer() -> None:
    with pytest.raises(AnswerError, match="no words"):
        queries("240 %", "?")


@given(st.text(max_size=80), st.text(max_size=60))
def test_any_claim_gives_neutral_queries_or_a_reason(claim: str, question: str) -> None:
    with suppress(AnswerError):
        assert queries(claim, question)
