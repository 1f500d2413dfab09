from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dreambench.language.polarity import direction, find_cues, is_hedged, negations, opposites
from dreambench.language.tokens import words


@pytest.mark.parametrize(
    ("text", "scopes"),
    [
        ("It has never been closed because of wind.", [" been closed "]),
        ("The agency has not approved it for children, but it works", [" approved it for children"]),
        ("They didn't sign", [" sign"]),
        ("The probe failed to land", [" land"]),
        ("公司尚未进入美国市场，但已发展", ["进入美国市场"]),
        ("没有发现副作用", ["发现副作用"]),
        ("not only A but also B", []),
        ("not more than five", []),
        ("不断增长，不仅如此，未来非常好，无线充电", []),
        ("no. 5 on the list", []),
    ],
)
def test_negation_and_its_scope(text: str, scopes: list[str]) -> None:
    assert [text[cue.end : cue.scope_end] for cue in negations(text)] == scopes


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("Prices rose", 1),
        ("It has grown", 1),
        ("The rate is higher", 1),
        ("Output fell sharply", -1),
        ("fewer cars", -1),
        ("人口下降", -1),
        ("收入提高", 1),
        ("One rose and one fell", 0),
        ("Nothing moves here", 0),
    ],
)
def test_direction(text: str, sign: int) -> None:
    assert direction(text) == sign


def test_hedges_but_not_the_month_of_may() -> None:
    assert is_hedged("It may rain")
    assert is_hedged("可能会下雨")
    assert not is_hedged("It rained in May 2020")


@pytest.mark.parametrize(
    ("text", "value"),
    [("All members", "all"), ("Most of them", "most"), ("some say", "some"), ("大多数人", "most"), ("只有他", "only")],
)
def test_quantifiers(text: str, value: str) -> None:
    assert value in [cue.value for cue in find_cues(text, "quantifier")]


def test_causes_and_evidence() -> None:
    assert [cue.text for cue in find_cues("The flood led to losses, 因此 prices rose", "cause")] == ["led to", "因此"]
    assert [cue.text for cue in find_cues("According to a survey", "evidence")] == ["According to", "survey"]


def test_opposites_are_found_through_inflection_and_only_where_both_sides_differ() -> None:
    assert opposites(set(words("parliament rejected it")), set(words("parliament approves it"))) == [("reject", "approv")]
    assert opposites(set(words("imports and exports")), set(words("exports and imports"))) == []


@settings(max_examples=100, deadline=None)
@given(
    st.one_of(
        st.text(max_size=200), st.lists(st.sampled_from(["not ", "不", "rose ", ", ", "may ", "all ", "因此"])).map("".join)
    )
)
def test_any_text_gives_valid_offsets(text: str) -> None:
    for kind in ("negation", "direction", "hedge", "quantifier", "cause", "evidence"):
        for cue in find_cues(text, kind):
            assert 0 <= cue.start < cue.end <= cue.scope_end <= len(text)
            assert text[cue.start : cue.end] == cue.text
