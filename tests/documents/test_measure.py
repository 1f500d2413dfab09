"""Word counts and language, for English, Chinese and both."""

import pytest

from dreambench.documents import count_words, detect_language, parse_document


@pytest.mark.parametrize(
    ("text", "words"),
    [("", 0), ("It's a state-of-the-art 3.5 GHz chip.", 6), ("价格上涨3%。", 5), ("GPT模型很强", 5), ("— … !", 0)],
)
def test_count_words(text, words):
    assert count_words(text) == words


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("", "en"),
        ("A text with 一 sign of Chinese in it, no more.", "en"),
        ("使用Prometheus和Kubernetes监控系统", "zh"),
        ("价格上涨 https://a.example/a/very/long/address/that/would/outweigh/the/four/signs/of/this/line/by/far", "zh"),
    ],
)
def test_detect_language(text, language):
    assert detect_language(text) == language


def test_a_report_is_counted_without_markers_urls_and_references():
    text = (
        "# A title\n\nThree more words [1]. See [the page](https://a.example/x) or https://b.example.\n\n"
        "## Sources\n\n[1] Not counted: https://c.example\n"
    )
    assert parse_document(text).word_count == 2 + 3 + 4


def test_a_chinese_report_with_english_sources_is_chinese():
    text = "价格上涨[1]。\n\n## 参考文献\n\n" + "[1] A very long English title of a source: https://a.example\n"
    assert parse_document(text).language == "zh"
