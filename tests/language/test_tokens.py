from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dreambench.language.text import fold_width, guess_language
from dreambench.language.tokens import bm25, content_words, normalise, overlap, sentences, stem, tokens, words
from tests.support.growth import assert_not_quadratic


@pytest.mark.parametrize(
    ("form", "base"),
    [
        ("cities", "city"),
        ("rose", "rising"),
        ("supplies", "supply"),
        ("running", "runs"),
        ("women", "woman"),
        ("boxes", "box"),
        ("grew", "grows"),
    ],
)
def test_forms_of_a_word_share_a_stem(form: str, base: str) -> None:
    assert stem(form) == stem(base)


@pytest.mark.parametrize(
    ("a", "b"), [("news", "new"), ("process", "proces"), ("analysis", "analyst"), ("united", "unit"), ("bus", "bu")]
)
def test_different_words_keep_different_stems(a: str, b: str) -> None:
    assert stem(a) != stem(b)


def test_tokens_have_offsets_in_both_languages() -> None:
    text = "The firms' 1,234.5 km，中国人口"
    assert [(t.text, t.norm) for t in tokens(text)] == [
        ("The", "the"),
        ("firms", "firm"),
        ("1,234.5", "1234.5"),
        ("km", "km"),
        ("中国", "中国"),
        ("国人", "国人"),
        ("人口", "人口"),
    ]


def test_content_words_drop_function_words() -> None:
    assert content_words("The population of the city is about 5 million") == ["population", "citi", "5", "million"]
    assert content_words("城市的人口") == ["城市", "人口"]


def test_sentences_keep_abbreviations_decimals_and_citations() -> None:
    text = "Dr. Smith left the U.S. in Jan. 2024. Costs fell 3.5 %. Fine, e.g. this. It grew. [3] End.\n\n# Head\n- item"
    assert [s.text for s in sentences(text)] == [
        "Dr. Smith left the U.S. in Jan. 2024.",
        "Costs fell 3.5 %.",
        "Fine, e.g. this.",
        "It grew. [3]",
        "End.",
        "# Head",
        "- item",
    ]


def test_chinese_sentences() -> None:
    assert [s.text for s in sentences("人口为14亿。其中，22%是老人！是吗？")] == ["人口为14亿。", "其中，22%是老人！", "是吗？"]


def test_bm25_prefers_the_passage_about_the_query_and_gives_zero_for_nothing_shared() -> None:
    scores = bm25("population of France", ["France has a population of 68 million", "Germany is large", "The population grows"])
    assert scores[0] > scores[2] > scores[1] == 0.0
    assert bm25("anything", []) == []
    assert bm25("", ["x"]) == [0.0]


def test_overlap_is_the_covered_share_of_the_first() -> None:
    assert overlap("rising prices of bread", "Bread prices rise") == 1.0
    assert overlap("bread and butter", "bread") == 0.5
    assert overlap("the of", "bread") == 0.0


def test_normalise_folds_width_quotes_dashes_case_and_blanks() -> None:
    assert normalise("  “Ａ–Ｂ”\u3000 Ｃ’s ") == '"a-b" c\'s'


def test_language_is_guessed_by_counts() -> None:
    assert guess_language("中国的 GDP 增长") == "zh"
    assert guess_language("The word 中 means middle in Chinese") == "en"


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(
        st.text(max_size=200),
        st.lists(st.sampled_from(["A. ", "。", "word ", "[1]", "\n", "“", "3.5 %. ", "中文"])).map("".join),
    )
)
def test_any_text_gives_valid_offsets_and_loses_no_letter(text: str) -> None:
    assert len(fold_width(text)) == len(text)
    position = 0
    for found in sentences(text):
        assert position <= found.start < found.end <= len(text)
        assert text[found.start : found.end] == found.text
        assert not text[position : found.start].strip()
        position = found.end
    assert not text[position:].strip()
    for token in tokens(text):
        assert text[token.start : token.end] == token.text
    assert len(words(text)) == len(tokens(text))


@pytest.mark.parametrize("piece", ["1", "[", "a.", ". ", "。", '"', "“", "A. ", " ", "[1] "])
def test_work_grows_no_faster_than_the_text(piece: str) -> None:
    assert_not_quadratic(lambda text: (sentences(text), tokens(text)), piece)
