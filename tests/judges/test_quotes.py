"""Quotes must stand in the text; folding is tolerant, numbers are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreambench.judges.quotes import check_quote

TEXT = "In **2024**, output grew by 8 % \nto “12 million” units [3]. Exports fell in the north. 出口总额为3.5万亿元，同比下降。"


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("In 2024, output grew by 8 %", "In **2024**, output grew by 8 %"),
        ('grew by 8 % to "12 million" units', "grew by 8 % \nto “12 million” units"),
        ("exports fell in the North", "Exports fell in the north"),
        ("Exports fel in the north.", "Exports fell in the north."),
        ("In 2024, output ... Exports fell", "In **2024**, output grew by 8 % \nto “12 million” units [3]. Exports fell"),
        ("出口总额为3.5万亿元", "出口总额为3.5万亿元"),
    ],
)
def test_finds_a_quote_where_it_stands(quote: str, found: str) -> None:
    span = check_quote(quote, TEXT)
    assert span is not None
    assert span.of(TEXT) == found


@pytest.mark.parametrize(
    "quote",
    [
        "",
        "...",
        "output grew by 3 % to 12 million units",
        "output fell by a lot last year",
        "Exports fell in the north. In 2024, output grew",
        "Exports fell ... In 2024, output grew",
        "出口总额为8.5万亿元",
    ],
)
def test_what_does_not_stand_there_is_not_found(quote: str) -> None:
    assert check_quote(quote, TEXT) is None


def test_a_text_inside_a_longer_quote_is_no_evidence() -> None:
    assert check_quote("The lake is deep, blue and full of fish in every season", "The lake is deep") is None


@given(st.text(max_size=80), st.integers(0, 40), st.integers(1, 40))
def test_every_stretch_with_a_letter_is_found_inside_the_text(text: str, start: int, length: int) -> None:
    quote = text[start : start + length]
    span = check_quote(quote, text)
    if any(char.isalpha() for char in quote) and "..." not in quote and "…" not in quote:
        assert span is not None
    assert span is None or 0 <= span.start < span.end <= len(text)


@pytest.mark.parametrize("quote", ["İstanbul", "ΟΔΟΣ ΑΣ", "a  b", "ﬃ ß"])
def test_places_stand_where_letters_change_their_number_or_shape(quote: str) -> None:
    text = f"** so `{quote}` *x*, İ"
    span = check_quote(quote, text)
    assert span is not None and span.of(text) == quote
