"""Causal claims and direct quotations: what counts as one, and whether a text speaks of both sides."""

from __future__ import annotations

import pytest

from dreambench.language.causes import find_causal_claim, links
from dreambench.language.quotations import find_quotations


@pytest.mark.parametrize(
    "text",
    [
        "The old harbour silted up because farmers cleared the upper valley.",
        "Clearing of the upper valley led to the silting of the harbour.",
        "上游农民大量开垦土地，导致老港口泥沙淤积。",
    ],
)
def test_a_plain_statement_of_cause_has_two_sides(text: str) -> None:
    claim = find_causal_claim(text)
    assert claim is not None and claim.before and claim.after
    assert links(claim, text)


@pytest.mark.parametrize(
    "text",
    [
        "The harbour may have silted up because farmers cleared the upper valley.",
        "The harbour did not silt up because farmers cleared the upper valley.",
        "Did the harbour silt up because farmers cleared the upper valley?",
        "I would not rely on the harbour, because farmers clear the upper valley.",
        "It silted up because of this.",
        "Farmers cleared the upper valley, and the harbour silted up.",
    ],
)
def test_doubt_denial_and_questions_claim_no_cause(text: str) -> None:
    assert find_causal_claim(text) is None


def test_a_text_links_two_things_only_when_it_speaks_of_both() -> None:
    claim = find_causal_claim("The old harbour silted up because farmers cleared the upper valley.")
    assert claim is not None
    assert links(claim, "Erosion began when farmers cleared woods of the upper valley. The old harbour filled with silt.")
    assert not links(claim, "The old harbour was famous for herring. Boats landed there until the railway came.")
    assert not links(claim, "The old harbour was closed. It was sold. Then nothing happened. Farmers cleared the upper valley.")


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("The inspector wrote: “the piers were sound in every respect”.", ["the piers were sound in every respect"]),
        ('According to the act, "no ship may enter the basin at night" [1].', ["no ship may enter the basin at night"]),
        ("公报指出：“本港自即日起停止接收外国船舶”。", ["本港自即日起停止接收外国船舶"]),
        ("The so-called “moon factory on the edge of rings” is a myth.", []),
        ("The inspector called the piers “sound”.", []),
        ("He said that the piers were sound in every respect.", []),
    ],
)
def test_quotations_are_long_and_somebodys(text: str, quoted: list[str]) -> None:
    found = find_quotations(text)
    assert [one.text for one in found] == quoted
    assert all(text[one.start : one.end] == one.text for one in found)
