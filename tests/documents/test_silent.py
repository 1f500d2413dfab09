"""Markers that are no words of their sentence, and links that are."""

import pytest

from dreambench.documents import parse_document

A, B = "https://a.example/x", "https://b.example/y"


@pytest.mark.parametrize(
    ("sentence", "silent"),
    [
        (f"The rate rose to 10% in 2019 [2]({A}).", [f"[2]({A})"]),
        (f"The rate rose to 10% in 2019 [Source 4]({A}).", [f"[Source 4]({A})"]),
        (f"根据规定，费率是百分之十 [来源21]({A})。", [f"[来源21]({A})"]),
        (f"UTC ticks like TAI ([Registry, 2024]({A})).", [f"([Registry, 2024]({A}))"]),
        (
            f"UTC ticks like TAI ([Registry, 2024]({A}); [Courier]({B})).",
            [f"([Registry, 2024]({A}); [Courier]({B}))"],
        ),
        (f"The [European Commission]({A}) proposed a law in 2021.", []),
        (f"The law (proposed by the [Commission]({A}) in 2021) applies.", []),
        (f"Under [Article 5]({A}) the rate is 10%.", []),
        (f"See the [2019 survey]({A}) and the [budget of 2020]({B}).", []),
    ],
)
def test_what_is_taken_out(sentence: str, silent: list[str]) -> None:
    document = parse_document(f"# Title\n\n{sentence}\n")
    assert [span.of(document.text) for span in document.silent_markers] == silent


def test_entries_of_a_list_are_silent_whatever_their_style() -> None:
    document = parse_document(f"The rate rose [1] again (Li, 2023).\n\n## Sources\n[1] {A}\n\nLi, Q. (2023). Rates. {B}\n")
    assert "[1]" in [span.of(document.text) for span in document.silent_markers]


def test_words_do_not_depend_on_the_style_of_citations() -> None:
    numbered = parse_document(f"It rose to 10% in 2019 [1].\n\n## Sources\n[1] {A}\n")
    linked = parse_document(f"It rose to 10% in 2019 [1]({A}).\n")
    named = parse_document(f"It rose to 10% in 2019 ([Registry, 2024]({A})).\n")
    assert numbered.word_count == linked.word_count == named.word_count == 6
