from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dreambench.language.entities import find_entities
from tests.support.growth import assert_not_quadratic


def norms(text: str) -> list[tuple[str, str]]:
    return [(found.kind, found.norm) for found in find_entities(text)]


def test_an_introduced_acronym_shares_the_norm_of_its_long_form() -> None:
    found = find_entities("The World Health Organization (WHO) met in Geneva, where WHO staff spoke.")
    assert [(e.kind, e.norm) for e in found] == [
        ("name", "world health organization"),
        ("acronym", "world health organization"),
        ("name", "geneva"),
        ("acronym", "world health organization"),
    ]
    assert found[1].long_form == "world health organization"


def test_an_acronym_that_does_not_fit_is_left_alone() -> None:
    assert ("acronym", "xyz") in norms("We met the Bank of England (XYZ) there.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Prices rose. Turnout fell. Construction began.", []),
        (
            "Norvent grew in Denmark, and Norvent's rivals did not.",
            [("name", "norvent"), ("name", "denmark"), ("name", "norvent")],
        ),
        ("Directive (EU) 2022/2380 and Resolution 4 apply.", [("law", "directive (eu) 2022/2380"), ("law", "resolution 4")]),
        ("The U.S. and the UK agreed.", [("acronym", "us"), ("acronym", "uk")]),
        ("COVID-19 spread.", [("acronym", "covid-19")]),
        ("They met Dr. Maria Voss.", [("name", "maria voss")]),
        ("根据《湿地保护条例》，国家统计局表示同意", [("title", "湿地保护条例"), ("organisation", "国家统计局")]),
        ("公司位于上海市，与北京大学合作", [("place", "上海市"), ("organisation", "北京大学")]),
        ("全部地区和本公司都如此", []),
    ],
)
def test_kinds_and_norms(text: str, expected: list[tuple[str, str]]) -> None:
    assert norms(text) == expected


PIECES = st.lists(st.sampled_from(["Aa ", "of ", "(AB)", "U.", "《", "》", "大学", "中国", "X20", "-", ". ", "Act 5"])).map(
    "".join
)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=200), PIECES))
def test_any_text_gives_ordered_valid_offsets(text: str) -> None:
    position = 0
    for found in find_entities(text):
        assert position <= found.start < found.end <= len(text)
        assert text[found.start : found.end] == found.text
        assert found.norm
        position = found.end


@pytest.mark.parametrize("piece", ["A ", "Aa ", "中国", "《", "(AB)", "Ab-", "Aa of ", "U.", "Zorn fell. "])
def test_work_grows_no_faster_than_the_text(piece: str) -> None:
    assert_not_quadratic(find_entities, piece)
