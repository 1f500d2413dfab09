"""Thinking, tool traffic, answer tags and narration are recognised, kept, and no part of the body."""

import pytest

from dreambench.documents import WrapperKind, parse_document


def kinds(text):
    document = parse_document(text)
    return [(w.kind.value, w.content.of(text).strip()) for w in document.wrappers], document


def test_thinking_is_kept_apart():
    found, document = kinds("<think>Maybe [9] or https://x.example.</think>\n\n# Title\n\nIt grew (https://a.example).")
    assert found == [("think", "Maybe [9] or https://x.example.")]
    assert document.cited_urls == ("https://a.example",)
    assert document.body_text.startswith("# Title")
    assert [document.sentence_text(i) for i in range(len(document.sentences))] == ["It grew (https://a.example)."]


def test_a_thought_whose_opening_tag_is_lost():
    found, document = kinds("Thinking aloud.\n</think>\nThe answer.")
    assert found == [("think", "Thinking aloud.")]
    assert document.body_text == "The answer."


def test_a_thought_that_never_ends():
    found, document = kinds("<think>\nThinking and then cut off")
    assert [kind for kind, _ in found] == ["think"]
    assert document.body == ()
    assert document.sentences == ()


def test_the_answer_tags_hold_the_body():
    text = (
        "<think>plan</think><search>q</search><information>Doc [1] https://d.example</information>Some words.\n"
        "<answer>The result is 4.</answer> Bye."
    )
    found, document = kinds(text)
    assert [kind for kind, _ in found] == ["think", "tool", "tool", "outside_answer", "answer", "outside_answer"]
    assert document.body_text == "The result is 4."
    assert document.citations == ()
    assert document.word_count == 4


def test_the_last_answer_counts():
    _, document = kinds("<answer>First.</answer><answer>Second.</answer>")
    assert document.body_text == "Second."


def test_a_tag_in_running_text_is_text():
    _, document = kinds("Models write <think> before they answer. That helps.")
    assert document.wrappers == ()
    assert len(document.sentences) == 2


@pytest.mark.parametrize(
    "line",
    [
        "Let me search for more details on this.",
        "I'll research the funds and provide a comprehensive analysis.",
        "Now I need to gather information about the armour classes.",
        "让我继续搜索更多资料：",
        "我需要更多关于这些公司的数据，让我继续搜索。",
        "继续搜索更多详细信息：",
        "目前的结果不够具体，让我进行更精确的搜索。",
        "To answer this properly, I'll need to search for recent studies.",
        "为了给您提供全面的分析，我将先搜索相关信息。",
    ],
)
def test_narration_lines(line):
    text = f"{line}\n# Title\n\nIt grew.\n"
    document = parse_document(text)
    assert [(w.kind, w.span.of(text)) for w in document.wrappers] == [(WrapperKind.NARRATION, line)]
    assert document.body_text == "# Title\n\nIt grew."


@pytest.mark.parametrize(
    "line",
    [
        "Let me be clear: the market grew.",
        "I will show that search costs fell [1].",
        "- Let me search for it",
        "让我们感到意外的是价格。",
        "现在，当代理调用服务器时，请求会升级。",
        "The agents let me search widely.",
        "搜索引擎的市场份额继续上升。",
        "消费者了解产品的主要渠道包括：",
    ],
)
def test_what_is_no_narration(line):
    assert parse_document(f"# Title\n\n{line}\n").wrappers == ()
