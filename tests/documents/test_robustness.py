"""Any text gives a consistent document, in time that grows with its length."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dreambench.documents import Span, normalize_url, parse_document, registrable_domain

PIECES = [
    "[1]",
    "[2, 3]",
    "[1-3]",
    "【1】",
    "[^2]",
    "[",
    "]",
    "(",
    ")",
    "](",
    "https://a.example/x",
    "www.b.example",
    "<",
    ">",
    "<think>",
    "</think>",
    "<answer>",
    "</answer>",
    "`",
    "```\n",
    "| a | b |\n|---|---|\n",
    "# H\n",
    "## Sources\n",
    "参考文献：\n",
    "\n",
    "\n\n",
    ". ",
    "。",
    " ",
    "word",
    "中文",
    "Li, A. (2020). ",
    "(Li, 2020)",
    "¹",
    "<sup>1</sup>",
    "- ",
    "1. ",
    "> ",
    "\\[",
    "\r\n",
    "\r",
    "\t",
    "😀",
    "\x00",
    "\u2028",
    "[a](https://a.example)",
    "[1] T: https://a.example\n",
    "[^1]: x\n",
    "Let me search for it\n",
    "===\n",
    "---\n",
    '<cite id="id_1">',
    "\ue200cite\ue201",
    "et al. ",
    "\ud800",
]
MIXED = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


def check(text):
    document = parse_document(text)
    assert document.text is text
    whole = Span(0, len(text))
    spans = [
        *(b.span for b in document.blocks), *(b.content for b in document.blocks), *(s.span for s in document.sections),
        *(r.span for r in document.references), *(w.span for w in document.wrappers), *document.body,
    ]  # fmt: skip
    for span in spans:
        assert whole.start <= span.start <= span.end <= whole.end
    for one, other in zip(document.blocks, document.blocks[1:], strict=False):
        assert one.span.end <= other.span.start
    for one, other in zip(document.body, document.body[1:], strict=False):
        assert one.end < other.start or one.end == other.start
    position = 0
    for sentence in document.sentences:
        assert position <= sentence.span.start < sentence.span.end <= whole.end
        assert sentence.span.of(text) == sentence.span.of(text).strip()
        block = document.blocks[sentence.block]
        assert block.span.start <= sentence.span.start and sentence.span.end <= block.span.end
        position = sentence.span.end
    for one, other in zip(document.markers, document.markers[1:], strict=False):
        assert one.end <= other.start
    for citation in document.citations:
        assert citation.raw == citation.span.of(text) != ""
        assert (citation.url is not None) == (citation.status.value == "resolved")
        assert citation.sentence is None or 0 <= citation.sentence < len(document.sentences)
        assert citation.reference is None or 0 <= citation.reference < len(document.references)
    assert document.word_count >= 0
    assert len(document.dangling) + len(document.resolved) <= len(document.citations)
    assert all(block.section < len(document.sections) for block in document.blocks)
    return document


@settings(max_examples=300, deadline=None)
@given(MIXED)
def test_offsets_are_consistent_on_mixed_markup(text):
    check(text)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=400))
def test_offsets_are_consistent_on_any_text(text):
    check(text)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_urls_never_raise(text):
    assert normalize_url(normalize_url(text)) == normalize_url(text)
    registrable_domain(text)
    registrable_domain("https://" + text)


@pytest.mark.parametrize(
    "text", ["", " ", "\n", "x", "[", "| a |", "| a | b |\n|---|---|\n| 1 | 2 |", "# ", "[1]", "https://", "\x00"]
)
def test_tiny_texts(text):
    check(text)


def test_a_thousand_citations():
    text = "".join(f"Claim {n} holds [{n}]. " for n in range(1, 1000)) + "\n\n## Sources\n\n"
    text += "".join(f"[{n}] Title: https://site{n}.example\n" for n in range(1, 1000))
    document = check(text)
    assert len(document.resolved) == len(document.cited_urls) == len(document.sentences) == 999


MANY = 100_000
HARD = {
    "open brackets": "[" * MANY,
    "open parentheses": "(" * MANY,
    "nested brackets": "[" * MANY + "]" * MANY,
    "open links": "[](" * MANY,
    "link heads": "[a](http://x " * MANY,
    "pictures": "![a](http://x)" * MANY,
    "backticks": "`a" * MANY,
    "growing ticks": " ".join("`" * n for n in range(1, 1000)),
    "tags": "<a " * MANY,
    "think": "<think>" * MANY,
    "answers": "<answer>a</answer>\n" * 20_000,
    "one url": "http://a.b/" + "(" * MANY,
    "schemes": "http://" * MANY,
    "spaces": " " * 1_000_000,
    "space lines": ("\n" + " " * 1000) * 1000,
    "newlines": "\n" * 1_000_000,
    "bullets": "- " * MANY,
    "rows": ("|a" * 50 + "|\n") * 2000,
    "numbers": "[" + "1," * MANY,
    "markers": "[1]" * MANY,
    "chinese": "中文。" * MANY,
    "stops": "." * MANY,
    "headings": "## Sources\n" * 50_000,
    "fences": "```a\n" * MANY,
    "entry": "## References\n" + "Li, A. " * MANY,
    "labels": "## Sources\n" + ("- " + "[" * 300 + "\n") * 3000,
    "escapes": "\\[1\\]" * MANY,
    "quotes": ">" * MANY,
    "many lists": "A [1].\n\nSources:\n\n[1] T: https://a.example\n\n" * 20_000,
}


@pytest.mark.parametrize("name", HARD)
def test_hard_texts_end_soon(name):
    start = time.process_time()
    parse_document(HARD[name])
    # Each takes at most about two seconds; anything quadratic takes minutes.
    assert time.process_time() - start < 15
