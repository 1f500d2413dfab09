from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dreambench.language.comparison import same_quantity
from dreambench.language.quantities import Quantity, find_quantities
from tests.support.growth import assert_not_quadratic


def one(text: str) -> Quantity:
    found = find_quantities(text)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("text", "value", "kind", "unit"),
    [
        ("a city of 12.3 million people", 12_300_000, "plain", ""),
        ("1,234.5 km of roads", 1234.5, "measure", "km"),
        ("1 234 bridges", 1234, "plain", ""),
        ("it cost $3.5bn", 3.5e9, "money", "USD"),
        ("€50m in aid", 5e7, "money", "EUR"),
        ("5 million USD", 5e6, "money", "USD"),
        ("US$1.2 trillion", 1.2e12, "money", "USD"),
        ("up by 3.5 per cent", 3.5, "percent", "percent"),
        ("2 percentage points", 2, "percentage_points", "percentage_points"),
        ("twenty-seven members", 27, "plain", ""),
        ("two hundred and thirty-five thousand people", 235_000, "plain", ""),
        ("two thirds of voters", 200 / 3, "percent", "percent"),
        ("a dozen eggs", 12, "plain", ""),
        ("one in five adults", 20, "percent", "percent"),
        ("half of them", 50, "percent", "percent"),
        ("3x faster", 3, "multiple", "times"),
        ("twice as many", 2, "multiple", "times"),
        ("the second largest city", 2, "ordinal", ""),
        ("-5 °C at night", -5, "measure", "°C"),
        ("三十五个区", 35, "plain", ""),
        ("一百二十家公司", 120, "plain", ""),
        ("两千人参加", 2000, "plain", ""),
        ("百分之五的人", 5, "percent", "percent"),
        ("占三成", 30, "percent", "percent"),
        ("五分之一的家庭", 20, "percent", "percent"),
        ("12.3万人", 123_000, "plain", ""),
        ("人口为14亿5000万", 1.45e9, "plain", ""),
        ("1.2万亿美元", 1.2e12, "money", "USD"),
        ("共3.5亿元人民币", 3.5e8, "money", "CNY"),
        ("增长１２．５％", 12.5, "percent", "percent"),
        ("零下5度", -5, "measure", "°C"),
        ("排名第三", 3, "ordinal", ""),
    ],
)
def test_value_kind_and_unit(text: str, value: float, kind: str, unit: str) -> None:
    found = one(text)
    assert found.value == pytest.approx(value)
    assert (found.kind, found.unit) == (kind, unit)


@pytest.mark.parametrize(
    "text",
    [
        "Directive 2022/2380 and Resolution 4",
        "COVID-19, ISO 8601, Falcon 9, GPT-4 and Boeing 737",
        "as shown before [12] and again [3, 4]",
        "Python 3.11, version 3.2 and release 12.5.1",
        "## 2.1 Heading",
        "In 2023 and by 13 September 2024, on May 5 at 10:30",
        "see https://example.com/2024/12345 or 10.1038/s41586-020-2649",
        "统一标准十分重要，一些人一般认为如此",
        "第3章第12条，2024年5月3日",
        "In the 1990s, one of the men left. That one stayed.",
    ],
)
def test_what_is_no_amount(text: str) -> None:
    assert find_quantities(text) == []


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("10-15 %", 10, 15),
        ("between 3 and 5 million people", 3e6, 5e6),
        ("$3 to $5 million", 3e6, 5e6),
        ("约3到5年", 3, 5),
        ("5 ± 0.3 %", 4.7, 5.3),
    ],
)
def test_ranges(text: str, low: float, high: float) -> None:
    found = one(text)
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))


def test_a_change_is_two_amounts() -> None:
    assert [found.value for found in find_quantities("It rose from 5 to 10 percent.")] == [5, 10]


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("about 12 %", "about"),
        ("more than 500 firms", "more_than"),
        ("at least 20 banks", "at_least"),
        ("80+ schools", "at_least"),
        ("up to 30 kg", "at_most"),
        ("fewer than 9 deaths", "less_than"),
        ("超过100万人", "more_than"),
        ("不到2000公里", "less_than"),
        ("近20%", "about"),
        ("60岁以上", "at_least"),
        ("10多万人", "more_than"),
    ],
)
def test_bounds(text: str, bound: str) -> None:
    assert one(text).bound == bound


@pytest.mark.parametrize(
    ("text", "per"), [("2.5 tonnes per capita", "person"), ("£2,000 a year", "year"), ("每年500吨", "year")]
)
def test_rates(text: str, per: str) -> None:
    assert one(text).per == per


def test_offsets_cover_the_written_words() -> None:
    text = "The plant made about 12.5 GWh in its first test, then US$3 million."
    assert [text[q.start : q.end] for q in find_quantities(text)] == ["about 12.5 GWh", "first", "US$3 million"]


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ("12.3 million people", "12,300,000 people", "equal"),
        ("1.4 billion people", "1.412 billion people", "equal"),
        ("1.40 billion people", "1.412 billion people", "different"),
        ("5 km", "5,000 m", "equal"),
        ("5 km", "3.1 miles", "equal"),
        ("two thirds of voters", "67 % of voters", "equal"),
        ("五成", "50 %", "equal"),
        ("14,000 people", "13,960 people", "compatible"),
        ("about 50 cars", "48 cars", "compatible"),
        ("about 50 cars", "60 cars", "different"),
        ("10-15 %", "12 %", "compatible"),
        ("10-15 %", "18 %", "different"),
        ("10-15 %", "10 to 15 percent", "equal"),
        ("more than 5 million", "5.6 million", "compatible"),
        ("more than 5 million", "4.1 million", "different"),
        ("more than 5 million", "50 million", "incomparable"),
        ("at least 20 banks", "20 banks", "equal"),
        ("5 %", "5 percentage points", "incomparable"),
        ("$5 million", "€5 million", "incomparable"),
        ("5 kg", "5 km", "incomparable"),
        ("5 people", "6 people", "different"),
        ("3 tonnes per capita", "3 tonnes per hectare", "incomparable"),
        ("500 tonnes a year", "700 tonnes", "incomparable"),
        ("the second largest", "the third largest", "different"),
        ("3亿元", "300 million yuan", "equal"),
        ("200 deaths", "240 deaths", "different"),
    ],
)
def test_same_quantity(a: str, b: str, verdict: str) -> None:
    left, right = find_quantities(a)[0], find_quantities(b)[0]
    if verdict == "equal" and left.bound != right.bound:
        verdict = "compatible"
    assert same_quantity(left, right) == verdict
    assert same_quantity(right, left) == verdict


def test_tolerance_widens_what_is_compatible() -> None:
    a, b = one("100 tests"), one("108 tests")
    assert same_quantity(a, b) == "different"
    assert same_quantity(a, b, tolerance=0.1) == "compatible"


PIECES = st.lists(
    st.sampled_from(
        [
            "12",
            "1,234",
            ".",
            "-",
            " ",
            "%",
            "$",
            "million",
            "万",
            "三十",
            "百分之",
            "to",
            "[",
            "2024",
            "年",
            "half",
            "±",
            "\n",
            "一",
            "Q3",
        ]
    ),
    max_size=40,
).map("".join)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=200), PIECES))
def test_any_text_gives_ordered_valid_offsets(text: str) -> None:
    position = 0
    for found in find_quantities(text):
        assert position <= found.start < found.end <= len(text)
        assert text[found.start : found.end] == found.text
        assert found.low <= found.value <= found.high
        assert same_quantity(found, found) in ("equal", "compatible")
        position = found.end


@pytest.mark.parametrize("piece", ["1", "1,", "[", "[1,", "one ", "三", "$", "-", "百分之", "a-1", " ", "]("])
def test_work_grows_no_faster_than_the_text(piece: str) -> None:
    assert_not_quadratic(find_quantities, piece, small=3_000)
