"""Reports in parts: nothing lost, cut at sections, led by what stands before, shares that sum."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from dreambench.documents import parse_document
from dreambench.evaluators.parts import cut_in_parts, shares

SECTION = "## Part {n}\n\nThe first sentence of part {n} is short. The second sentence of part {n} is no longer.\n\n"
REPORT = "# Title\n\n" + "".join(SECTION.format(n=n) for n in range(6)) + "## Sources\n\n[1] https://a.example\n"


def test_a_short_report_is_one_part_without_its_sources() -> None:
    document = parse_document(REPORT)
    (part,) = cut_in_parts(document, 10_000, 600)
    assert part.text(REPORT).startswith("# Title") and "https://a.example" not in part.text(REPORT)
    assert not len(part.lead)


def test_parts_are_cut_at_sections_and_led_by_whole_sentences() -> None:
    document = parse_document(REPORT)
    parts = cut_in_parts(document, 250, 60)
    assert len(parts) == 3
    assert all(len(part) <= 250 for part in parts)
    for part in parts[1:]:
        assert REPORT[part.own[0].start :].startswith("## Part")
        assert part.lead.of(REPORT).startswith("The second sentence of part")
        assert len(part.lead) <= 60


def test_a_paragraph_longer_than_a_part_is_cut_between_sentences() -> None:
    text = " ".join(f"Sentence number {n} stands in one long paragraph." for n in range(40))
    parts = cut_in_parts(parse_document(text), 300, 0)
    assert len(parts) > 5
    assert all(part.text(text).startswith("Sentence number") for part in parts)


def test_thinking_and_narration_are_no_part_of_it() -> None:
    text = "<think>The moon is made of cheese in 1999.</think>\n\n# Moon\n\nThe moon is made of rock.\n"
    (part,) = cut_in_parts(parse_document(text), 1000, 100)
    assert "cheese" not in part.text(text) and "rock" in part.text(text)


@given(
    st.lists(
        st.sampled_from(["## H\n\n", "A sentence of some length. ", "x" * 50, "\n\n", "- item one\n", "数字。"]), max_size=30
    ),
    st.integers(20, 200),
    st.integers(0, 80),
)
def test_every_character_of_the_body_is_in_exactly_one_part(pieces: list[str], size: int, overlap: int) -> None:
    document = parse_document("".join(pieces))
    parts = cut_in_parts(document, size, overlap)
    assert all(len(part) <= size for part in parts)
    own = [span for part in parts for span in part.own]
    assert own == sorted(own) and all(a.end <= b.start for a, b in pairwise(own))
    letters = "".join("".join(span.of(document.text) for span in document.body).split())
    assert "".join("".join(span.of(document.text) for span in own).split()) == letters


@given(st.integers(0, 60), st.integers(1, 400))
def test_shares_sum_to_the_total(total: int, size: int) -> None:
    parts = cut_in_parts(parse_document(REPORT), max(size, 20), 0)
    given_out = shares(total, parts)
    assert sum(given_out) == total
    assert max(given_out) - min(given_out) <= total and min(given_out) >= 0
