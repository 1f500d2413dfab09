from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dreambench.language.dates import compare_dates, find_dates, overlapping, yearless_spans


@pytest.mark.parametrize(
    ("text", "first", "last", "precision"),
    [
        ("on 13 September 2024", "2024-09-13", "2024-09-13", "day"),
        ("Sept. 13, 2024", "2024-09-13", "2024-09-13", "day"),
        ("2024-09-13", "2024-09-13", "2024-09-13", "day"),
        ("12/25/2023", "2023-12-25", "2023-12-25", "day"),
        ("2024年9月13日", "2024-09-13", "2024-09-13", "day"),
        ("in September 2024", "2024-09-01", "2024-09-30", "month"),
        ("2024-02", "2024-02-01", "2024-02-29", "month"),
        ("2024年2月", "2024-02-01", "2024-02-29", "month"),
        ("It was 2024.", "2024-01-01", "2024-12-31", "year"),
        ("于2024年成立", "2024-01-01", "2024-12-31", "year"),
        ("二〇二四年", "2024-01-01", "2024-12-31", "year"),
        ("in the first half of 2023", "2023-01-01", "2023-06-30", "half"),
        ("2023年上半年", "2023-01-01", "2023-06-30", "half"),
        ("Q3 2021", "2021-07-01", "2021-09-30", "quarter"),
        ("2021年第三季度", "2021-07-01", "2021-09-30", "quarter"),
        ("late 2025", "2025-09-01", "2025-12-31", "part"),
        ("the 1990s", "1990-01-01", "1999-12-31", "decade"),
        ("20世纪80年代", "1980-01-01", "1989-12-31", "decade"),
        ("19th century", "1801-01-01", "1900-12-31", "century"),
        ("2019-2021", "2019-01-01", "2021-12-31", "range"),
        ("2010-12", "2010-01-01", "2012-12-31", "range"),
        ("2019至2021年", "2019-01-01", "2021-12-31", "range"),
        ("from 2010 to 2015", "2010-01-01", "2015-12-31", "range"),
        ("March 3-5, 2021", "2021-03-03", "2021-03-05", "range"),
    ],
)
def test_periods(text: str, first: str, last: str, precision: str) -> None:
    [found] = find_dates(text)
    assert (found.first.isoformat(), found.last.isoformat(), found.precision) == (first, last, precision)


@pytest.mark.parametrize(
    "text",
    [
        "1800 employees",
        "about 2000 people",
        "Directive 2022/2380",
        "1500 km",
        "$2000",
        "of 2,024",
        "arXiv 2602.18940",
        "03/04/2024",
    ],
)
def test_what_is_no_date(text: str) -> None:
    assert [found for found in find_dates(text) if found.precision != "year" or "/" not in text] == []


def test_an_impossible_day_still_has_its_year() -> None:
    [found] = find_dates("February 30, 2024")
    assert (found.text, found.precision) == ("2024", "year")


def test_days_without_a_year_are_spans_only() -> None:
    text = "on 5 May at 10:30, or 5月3日"
    assert find_dates(text) == []
    assert [text[a:b] for a, b in yearless_spans(text)] == ["5 May", "10:30", "5月3日"]


@pytest.mark.parametrize(
    ("a", "b", "relation"),
    [
        ("13 September 2024", "2024", "inside"),
        ("2024", "13 September 2024", "contains"),
        ("2024", "2024年", "same"),
        ("2019-2021", "2020-2024", "overlaps"),
        ("2019", "2020", "disjoint"),
    ],
)
def test_compare_dates(a: str, b: str, relation: str) -> None:
    left, right = find_dates(a), find_dates(b)
    assert compare_dates(left[0], right[0]) == relation
    assert overlapping(left, right) == (relation != "disjoint")


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(
        st.text(max_size=200),
        st.lists(st.sampled_from(["20", "24", "-", "/", "年", "9", "月", "May ", " ", "Q3 ", "to ", "13"])).map("".join),
    )
)
def test_any_text_gives_valid_periods(text: str) -> None:
    position = 0
    for found in find_dates(text):
        assert position <= found.start < found.end <= len(text)
        assert text[found.start : found.end] == found.text
        assert date.min <= found.first <= found.last
        position = found.end
