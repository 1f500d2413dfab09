from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dreambench.language.claims import check_worthy_sentences, clauses, quantity_topic, why_excluded
from dreambench.language.quantities import find_quantities
from dreambench.language.tokens import sentences

REPORT = """# Trams in Velden

This report examines trams in Velden and other cities.

## 1. Findings

The network opened in 1994 and has 71 km of track [1]. I think it is a lovely thing to see. What do we know about fares?
- Ridership fell by 12 percent because of a strike in 2022. [2]
Let me look for more about fares in Velden.
该市2022年末常住人口为845万人。本报告分析电车的历史和发展。

[1] https://example.com/a - Trams of the world
"""


def test_checkable_sentences_of_a_report() -> None:
    found = check_worthy_sentences(REPORT)
    assert [claim.text for claim in found] == [
        "The network opened in 1994 and has 71 km of track [1].",
        "- Ridership fell by 12 percent because of a strike in 2022. [2]",
        "该市2022年末常住人口为845万人。",
    ]
    assert all(REPORT[claim.start : claim.end] == claim.text for claim in found)


def test_the_score_is_the_sum_of_its_parts() -> None:
    [claim] = check_worthy_sentences("The network opened in 1994 and has 71 km of track.")
    assert claim.score == pytest.approx(sum(value for _, value in claim.parts))
    assert dict(claim.parts).keys() == {"quantities", "dates", "definite"}


def test_given_sentences_are_judged_as_they_are() -> None:
    assert check_worthy_sentences(sentences(REPORT)) == check_worthy_sentences(REPORT)
    assert check_worthy_sentences(REPORT, minimum=1.1) == []


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("## 2.1 Costs of the network", "heading"),
        ("**Costs of the network**", "heading"),
        ("[3] https://example.com/x - A page about 5 trams", "reference"),
        ("How many trams ran in 2020?", "question"),
        ("In this section we look at 5 trams.", "self_reference"),
        ("本文分析了5辆电车的历史。", "self_reference"),
        ("The city should buy 5 trams by 2030.", "opinion"),
        ("Costs", "fragment"),
        ("The city bought 5 trams in 2020.", None),
    ],
)
def test_why_a_sentence_is_no_claim(sentence: str, reason: str | None) -> None:
    assert why_excluded(sentence) == reason


def topic(sentence: str, index: int = 0) -> list[str]:
    return quantity_topic(sentence, find_quantities(sentence)[index])


def test_the_topic_of_an_amount_is_its_clause_with_what_follows_first() -> None:
    sentence = "In 2019 the firm sold 40 boats, and 300 engineers left."
    assert topic(sentence) == ["boat", "sell", "firm"]
    assert topic(sentence, 1) == ["engineer", "leave"] or topic(sentence, 1) == ["engineer", "leav"]
    assert "人口" in topic("该市人口为845万，面积为30平方公里。")
    assert "人口" not in topic("该市人口为845万，面积为30平方公里。", 1)


@settings(max_examples=100, deadline=None)
@given(
    st.one_of(
        st.text(max_size=200),
        st.lists(st.sampled_from(["The city ", "5 km", ". ", ", ", "为", "，", "2020 ", "and ", "?"])).map("".join),
    )
)
def test_any_text_gives_valid_offsets(text: str) -> None:
    for claim in check_worthy_sentences(text):
        assert text[claim.start : claim.end] == claim.text
        assert 0.3 <= claim.score <= 1.0
    for quantity in find_quantities(text):
        assert isinstance(quantity_topic(text, quantity), list)
    assert all(0 <= a < b <= len(text) for a, b in clauses(text))
