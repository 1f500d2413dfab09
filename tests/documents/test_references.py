"""Reference lists of every shape, with and without headings, at the end or not."""

import pytest

from dreambench.documents import BlockKind, parse_document

BODY = "# Report\n\nA first claim [1]. A second claim [2].\n\n"


def entries(text):
    return [(entry.label, entry.title, entry.url) for entry in parse_document(text).references]


@pytest.mark.parametrize(
    "heading",
    [
        "## Sources", "### References:", "**Sources:**", "References", "参考文献：", "## 六、参考文献", "## ### 参考文献",
        "## 7. References", "## 参考资料", "## 来源", "## 引用", "## Works cited", "## Bibliography", "- Sources",
        "## 主要参考来源", "## 八、参考文献与数据源", "## References and Further Reading",
    ],
)  # fmt: skip
def test_headings(heading):
    text = f"{BODY}{heading}\n\n- First title: https://a.example/1\n- Second title: https://b.example/2\n"
    assert [url for _, _, url in entries(text)] == ["https://a.example/1", "https://b.example/2"]


@pytest.mark.parametrize(
    "heading", ["## Sources of funding", "## Open Source", "### 数据来源分析", "## Reference architectures"]
)
def test_headings_that_name_no_list(heading):
    assert entries(f"{BODY}{heading}\n\n- First point: https://a.example/1\n- Second point\n") == []


@pytest.mark.parametrize(
    "line",
    [
        "[1] A title: https://a.example/1",
        "[1] https://a.example/1 - A title",
        "1. [A title](https://a.example/1)",
        "[1] [A title](https://a.example/1)",
        "- [1] A title (https://a.example/1)",
        "[1]. A title. https://a.example/1",
        "[^1]: A title <https://a.example/1>",
        "【1】A title https://a.example/1",
        r"\[1\] A title: https://a.example/1",
        "**[1]** A title: https://a.example/1",
        "[1] A title\nhttps://a.example/1",
        "[1] A title\n    <https://a.example/1>",
        "1. A title, 链接：https://a.example/1",
        "¹ A title: https://a.example/1",
    ],
)
def test_entry_forms(line):
    found = entries(f"{BODY}## References\n\n{line}\n")
    assert [(label, url) for label, _, url in found] == [("1", "https://a.example/1")]
    assert found[0][1].startswith("A title")


def test_a_list_without_heading():
    text = BODY + "[1] https://a.example/1 - One\n[2] https://b.example/2 - Two\n"
    assert entries(text) == [("1", "One", "https://a.example/1"), ("2", "Two", "https://b.example/2")]


def test_a_closing_list_without_heading_and_urls():
    assert entries(BODY + "[1] One book\n[2] Another book\n") == [("1", "One book", None), ("2", "Another book", None)]


def test_a_closing_numbered_list_of_links():
    text = BODY + "1. [One](https://a.example/1)\n2. [Two](https://b.example/2)\n"
    assert [label for label, _, _ in entries(text)] == ["1", "2"]


def test_a_numbered_list_in_the_middle_is_no_reference_list():
    assert entries(BODY + "1. Do this\n2. Do that\n\nThe end.") == []


def test_a_list_need_not_be_last():
    text = BODY + "## Sources\n\n1. [One](https://a.example/1)\n2. [Two](https://b.example/2)\n\n## Limitations\n\nFew data.\n"
    document = parse_document(text)
    assert [entry.label for entry in document.references] == ["1", "2"]
    assert document.sentence_text(len(document.sentences) - 1) == "Few data."
    assert [b.kind for b in document.blocks][-4:] == [
        BlockKind.HEADING, BlockKind.REFERENCE_LIST, BlockKind.HEADING, BlockKind.PARAGRAPH,
    ]  # fmt: skip


def test_lists_per_section_keep_their_own_labels():
    text = (
        "## One\n\nFirst claim [1].\n\nSources:\n\n[1] A: https://a.example\n\n"
        "## Two\n\nOther claim [1].\n\nSources:\n\n[1] B: https://b.example\n"
    )
    document = parse_document(text)
    assert [citation.url for citation in document.citations] == ["https://a.example", "https://b.example"]
    assert document.uncited == ()


def test_two_lists_in_a_row_give_the_entry_that_has_a_url():
    text = BODY + "## References\n\n1. A book, 2021\n2. Another book, 2022\n\n参考文献：\n[1] https://a.example/1 - One\n"
    document = parse_document(text)
    assert [c.url for c in document.citations] == ["https://a.example/1", None]


def test_entries_in_one_line():
    text = BODY + "Sources: [1] One: https://a.example/1 [2] Two: https://b.example/2\n"
    assert [label for label, _, _ in entries(text)] == ["1", "2"]


def test_a_table_of_sources():
    text = (
        BODY
        + "## Sources\n\n| # | Title | URL |\n|---|---|---|\n"
        + "| 1 | One | https://a.example/1 |\n| 2 | Two | https://b.example |\n"
    )
    assert [(label, url) for label, _, url in entries(text)] == [("1", "https://a.example/1"), ("2", "https://b.example")]


def test_prose_below_a_reference_heading_stays_prose():
    text = (
        BODY
        + "**Primary sources**\n\n- Letters confirm this approach [1][2].\n- Interviews agree [1].\n\n### Sources\n\n[1] A: https://a.example\n"
    )
    document = parse_document(text)
    assert [entry.label for entry in document.references] == ["1"]
    assert len(document.markers) == 5


def test_a_shortened_address_gives_way_to_the_whole_one():
    text = BODY + "## Sources\n\n[1] https://a.example/long/...: https://a.example/long/path\n"
    assert entries(text)[0][2] == "https://a.example/long/path"


def test_apa_lines_are_read_by_author_and_year():
    text = (
        "Growth slowed (Müller et al., 2021). Prices rose (Li & Chen, 2020). Nobody knows (Ortega et al., 1999).\n\n"
        "Deng (2022) disagrees. Brown (2001) is a colour.\n\n"
        "## References\n\nMüller, A., & Roth, B. (2021). On growth. https://a.example/m\n\n"
        "Li, X., & Chen, Y. (2020). On prices. doi:10.1000/xyz\n\nDeng, Q. (2022, May 3). Against. A Journal.\n"
    )
    document = parse_document(text)
    assert [(c.label, c.url, c.status.value) for c in document.citations] == [
        ("Müller et al., 2021", "https://a.example/m", "resolved"),
        ("Li & Chen, 2020", "https://doi.org/10.1000/xyz", "resolved"),
        ("Ortega et al., 1999", None, "dangling"),
        ("Deng, 2022", None, "no_url"),
    ]


def test_two_works_of_one_author_and_year_are_ambiguous():
    text = "It is so (Li, 2020).\n\n## References\n\nLi, A. (2020). One. https://a.example\n\nLi, B. (2020). Two. https://b.example\n"
    document = parse_document(text)
    assert [c.status.value for c in document.citations] == ["ambiguous"]


def test_an_inline_link_cites_the_entry_with_its_url():
    text = "A fact ([Li, 2020](https://www.a.example/x/)).\n\n## References\n\n"
    text += "Li, A. (2020). One. https://a.example/x\n\nOld, B. (2019). Two. https://b.example\n"
    document = parse_document(text)
    assert [entry.authors for entry in document.uncited] == ["Old, B"]


def test_every_kind_of_unresolved_marker_is_counted():
    text = "One [1]. Two [2]. Nine [9].\n\n## Sources\n\n[1] A: https://a.example\n[2] A book\n[3] C: https://c.example\n"
    document = parse_document(text)
    assert [c.status.value for c in document.citations] == ["resolved", "no_url", "dangling"]
    assert [c.label for c in document.dangling] == ["9"]
    assert [entry.label for entry in document.uncited] == ["3"]
    assert len(document.unresolved) == 2
