"""Stated sums: read where the words leave no other reading, held to no more precision than is written, else passed over."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreambench.language.arithmetic import find_sums

SUMS = [
    ("The dam grew from 40 to 50 metres, an increase of 10 metres.", "50 - 40", True),
    ("The dam grew from 40 to 50 metres, an increase of 12 metres.", "50 - 40", False),
    ("Output rose from 40 million to 50 million tonnes, or 25 percent.", "(50000000 - 40000000) / 40000000 * 100", True),
    ("Output rose from 40 to 50 million tonnes, by 30 percent.", "(50000000 - 40000000) / 40000000 * 100", False),
    ("Prices fell by 25 percent from 200 to 150 euros.", "(150 - 200) / 200 * 100", True),
    ("Prices fell by 35 percent from 200 to 150 euros.", "(150 - 200) / 200 * 100", False),
    ("The duty rose from 5 percent to 8 percent, by 3 percentage points.", "8 - 5", True),
    ("The duty rose from 5 percent to 8 percent, by 4 percentage points.", "8 - 5", False),
    ("Traffic more than doubled from 4 to 9 trains.", "9 / 4", True),
    ("Traffic tripled from 4 to 9 trains.", "9 / 4", False),
    ("Traffic was halved from 40 to 20 trains.", "20 / 40", True),
    ("It was approved by 12 of the 48 members (25 percent).", "12 / 48 * 100", True),
    ("It was approved by 12 out of 48 members, or 35 percent.", "12 / 48 * 100", False),
    ("The west has 274 wells and the east has 97, a difference of 177.", "274 - 97", True),
    ("The west has 274 wells and the east has 97, a difference of 167.", "274 - 97", False),
    ("There are 60 bridges, of which 20 are steel and the other 40 are wood.", "20 + 40", True),
    ("There are 60 bridges, of which 25 are steel and the other 40 are wood.", "25 + 40", False),
    ("They sold 20 cars and 10 trucks, together 30.", "20 + 10", True),
    ("They sold 20 cars and 10 trucks, together 40.", "20 + 10", False),
    ("The opening was put off from May 2014 to May 2016, by two years.", "731 / 365.25", True),
    ("From 2010 to 2016, over nine years, nothing was built.", "2191 / 365.25", False),
    ("12 + 30 = 42", "12 + 30", True),
    ("7 × 6 equals 48", "7 * 6", False),
    ("桥梁从40座增加到50座，增加了10座。", "50 - 40", True),
    ("桥梁从40座增加到50座，增加了12座。", "50 - 40", False),
    ("共有60座，其中20座为钢桥，其余40座为木桥。", "20 + 40", True),
    ("共有60座，其中20座为钢桥，其余30座为木桥。", "20 + 30", False),
    ("从2010年到2016年，历时九年。", "2191 / 365.25", False),
    ("12加30等于42。", "12 + 30", True),
]


@pytest.mark.parametrize(("text", "expression", "holds"), SUMS)
def test_a_stated_sum_is_calculated(text: str, expression: str, holds: bool) -> None:
    (found,) = find_sums(text)
    assert (found.expression, found.holds) == (expression, holds)
    assert 0 <= found.start < found.end <= len(text)


@pytest.mark.parametrize(
    "text",
    [
        "The duty rose from 3 percent in 1989 to 5 percent in 1997, and exports by 7 percent.",
        "The vote was 602 to 13, with 8 abstentions.",
        "The limit fell from 4.50 % to 3.50 % in 2012, and to 0.50 % in 2020.",
        "Output rose from 40 to 50 tonnes, and 7 workers were hired.",
        "The threshold is raised from 15 to 20 years, by 6 months each year.",
        "Ten of the bridges are steel, 40 percent of the tunnels are old.",
        "It has 60 bridges, of which 20 are steel and 10 are wood.",
        "They sold 5 buses, 20 cars and 10 trucks, together 35.",
        "从2030年起，最低年限由十五年逐步提高到二十年，每年提高六个月。",
        "",
    ],
)
def test_what_may_be_meant_otherwise_is_passed_over(text: str) -> None:
    assert find_sums(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Output rose from 16.0 to 23.1 trillion yen, an increase of about 45 percent.",
        "Output rose from 16.0 to 23.1 trillion yen, an increase of 44 percent.",
        "Output grew from 10 to 12 tonnes, more than 15 percent.",
        "Costs rose from about 3.0 to 3.3 million dollars, up 10 percent.",
    ],
)
def test_rounding_and_bounds_are_taken_at_their_word(text: str) -> None:
    (found,) = find_sums(text)
    assert found.holds


@given(st.integers(1, 999), st.integers(1, 999), st.integers(-50, 50))
def test_a_difference_holds_exactly_when_it_computes(start: int, rise: int, error: int) -> None:
    text = f"The number of wells rose from {start} to {start + rise}, an increase of {rise + error}."
    for found in find_sums(text):
        assert found.holds == (error == 0)


@given(st.text(max_size=80))
def test_any_text_is_read(text: str) -> None:
    assert all(0 <= one.start <= one.end <= len(text) for one in find_sums(text))
