"""Every form of marker that agents emit, alone and mixed, and what only looks like one."""

import pytest

from dreambench.documents import parse_document

LIST = "\n\n## Sources\n\n" + "".join(f"[{n}] Title {n}: https://site{n}.example/p\n" for n in range(1, 21))


def labels(body, sources=LIST):
    return [citation.label for citation in parse_document(body + sources).citations]


def urls(body, sources=""):
    return [citation.url for citation in parse_document(body + sources).citations]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("A claim [1].", ["1"]),
        ("A claim [1][2].", ["1", "2"]),
        ("A claim [1, 3].", ["1", "3"]),
        ("A claim [1-3].", ["1", "2", "3"]),
        ("A claim [1–3, 7].", ["1", "2", "3", "7"]),
        ("A claim [1],[2].", ["1", "2"]),
        ("一个论断【1】。", ["1"]),
        ("一个论断【1,15，16】。", ["1", "15", "16"]),
        ("一个论断[1]、[2]。", ["1", "2"]),
        ("A claim【4†source】.", ["4"]),
        ("A claim [15†L10-L12].", ["15"]),
        ("A claim【4:0†source】.", ["4:0"]),
        ("A claim.[^2][^4]", ["2", "4"]),
        ("A claim [cite: 3, 5].", ["3", "5"]),
        ("A claim [Source 3].", ["3"]),
        ("论断[来源7]。", ["7"]),
        ("A claim [3, p. 12].", ["3"]),
        (r"A claim \[2\].", ["2"]),
        ("A proven claim¹ and another²,³.", ["1", "2", "3"]),
        ("A proven claim<sup>1,2</sup> here.", ["1", "2"]),
        ("A proven claim<sup>[4]</sup> here.", ["4"]),
        ('A claim <a href="#ref3">3</a>.', ["3"]),
        ("A claim [3](#ref3).", ["3"]),
        ('Claim.<qwen:cite id="id_3, id_7">evidence</qwen:cite>', ["id_3", "id_7"]),
        ("A claim \ue200cite\ue202turn0search3\ue201.", ["cite\ue202turn0search3"]),
        ("A claim [web:3] and [turn0search12].", ["web:3", "turn0search12"]),
        ("A claim :contentReference[oaicite:3]{index=3}.", ["oaicite:3"]),
    ],
)
def test_marker_forms(body, expected):
    assert labels(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("See [the page](https://a.example/x_(y)).", ["https://a.example/x_(y)"]),
        ("A fact ([Li, 2023](https://a.example/x)).", ["https://a.example/x"]),
        ("A fact [[Li](https://a.example/x)].", ["https://a.example/x"]),
        ("A fact [[1]](https://a.example/x).", ["https://a.example/x"]),
        ("事实[来源21](https://a.example/x)。", ["https://a.example/x"]),
        ("See <https://a.example/x>.", ["https://a.example/x"]),
        ("See https://a.example/x, then (https://b.example/y).", ["https://a.example/x", "https://b.example/y"]),
        ("见https://a.example/x。", ["https://a.example/x"]),
        ('See <a href="https://a.example/x">this</a>.', ["https://a.example/x"]),
        ("Torn [link](https://a.example/x and on", ["https://a.example/x"]),
        ("A [site][home] here.\n\n[home]: https://a.example/x\n", ["https://a.example/x"]),
        ("![a picture](https://a.example/x.png) shows it.", []),
        ("See [section two](#two) and [a file](notes.md).", []),
    ],
)
def test_markers_with_their_own_url(body, expected):
    assert urls(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "The code `a[1]` is safe.",
        "```\nx[1] = y[2]\n```",
        "- [x] done\n- [ ] open",
        "As he said [sic] in [2023].",
        "Values in [0, 1] and [0].",
        "A score in the range [1, 5] is usual; x ∈ [2, 3].",
        "An area of 5 km² and 10³ kg, R² = 0.9.",
        "磷酸盐(PO₄³⁻)和10¹⁰次。",
        "Report of the [World Bank] and 【主办单位】.",
        "1. first\n2. second",
        "The film (Blue Door, 2011) was shown.",
        "It opened (in 1999) and closed (2001).",
        "| a [b] | c |\n| --- | --- |\n| [x] | [2024] |",
    ],
)
def test_what_only_looks_like_a_marker(body):
    assert labels(body) == []


def test_numbers_without_any_list_need_a_sequence():
    assert labels("One claim [1]. Another [2].", "") == ["1", "2"]
    assert labels("Option [3] is the best.", "") == []


def test_numbers_far_beyond_the_list_are_no_labels():
    assert labels("A face [111] of the crystal, and a claim [45].") == ["45"]


def test_a_marker_across_a_blank_line_is_none():
    assert labels("An open [\n\n1] bracket.") == []
