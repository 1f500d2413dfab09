"""Sentences in English and Chinese, and which markers belong to them."""

import pytest

from dreambench.documents import parse_document

LIST = "\n\n## Sources\n\n" + "".join(f"[{n}] Title {n}: https://site{n}.example/p\n" for n in range(1, 6))


def pairs(body):
    document = parse_document(body + LIST)
    return [(s.span.of(document.text), [c.label for c in cs]) for s, cs in document.iter_sentences()]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "It grew.[1] It fell. [2] It stayed [3].",
            [("It grew.[1]", ["1"]), ("It fell. [2]", ["2"]), ("It stayed [3].", ["3"])],
        ),
        (
            "它增长了。[1]它下降了【2】。它不变。 [3][4]",
            [("它增长了。[1]", ["1"]), ("它下降了【2】。", ["2"]), ("它不变。 [3][4]", ["3", "4"])],
        ),
        ("人数近30万人。2024年增加[1]。", [("人数近30万人。", []), ("2024年增加[1]。", ["1"])]),
        ("包括A.M. Best的评级。", [("包括A.M. Best的评级。", [])]),
        ("Smith et al. [1] showed it. Dr. Roe agrees.", [("Smith et al. [1] showed it.", ["1"]), ("Dr. Roe agrees.", [])]),
        ("It grew.¹ It fell.<sup>2</sup> End.", [("It grew.¹", ["1"]), ("It fell.<sup>2</sup>", ["2"]), ("End.", [])]),
        (
            "It grew. ([Li, 2020](https://a.example/x.y)) It fell.",
            [("It grew. ([Li, 2020](https://a.example/x.y))", ["Li, 2020"]), ("It fell.", [])],
        ),
        ("It grew. [Li](https://a.example) says so.", [("It grew.", []), ("[Li](https://a.example) says so.", ["Li"])]),
        ("It grew.[1](https://a.example)[2](https://b.example) It fell.", [(
            "It grew.[1](https://a.example)[2](https://b.example)", ["1", "2"]), ("It fell.", [])]),
        ("It grew.[1, 2], [3] Then more.", [("It grew.[1, 2], [3]", ["1", "2", "3"]), ("Then more.", [])]),
    ],
)  # fmt: skip
def test_markers_after_the_full_stop_belong_to_the_sentence_before(body, expected):
    assert pairs(body) == expected


def test_a_paragraph_of_markers_belongs_to_the_sentence_before_it():
    assert pairs("It grew.\n\n[1][2]\n") == [("It grew.", ["1", "2"])]


def test_list_items_and_table_rows_are_read_by_themselves():
    body = "- First item [1]\n- Second item. And more [2].\n\n| Name | Value |\n| --- | --- |\n| a | 3 [3] |\n"
    assert pairs(body) == [
        ("First item [1]", ["1"]),
        ("Second item.", []),
        ("And more [2].", ["2"]),
        ("| a | 3 [3] |", ["3"]),
    ]


def test_headings_code_and_lists_of_references_have_no_sentences():
    assert pairs("# A heading. With stops.\n\n```\nCode here. And here.\n```\n") == []


def test_a_marker_in_a_heading_has_no_sentence():
    document = parse_document("Text before.\n\n## Heading [1]\n\nText after [2]." + LIST)
    assert [citation.sentence for citation in document.citations] == [None, 1]


def test_sentences_with_citation():
    document = parse_document("One [1]. Two. Three [2][3]." + LIST)
    assert document.sentences_with_citation == (0, 2)
    assert [c.label for c in document.citations_of(2)] == ["2", "3"]


def test_a_long_paragraph_is_cut_at_every_full_stop():
    assert len(pairs("增长了。" * 4000)) == 4000
    assert len(pairs("It did grow. " * 4000)) == 4000
