"""Parts, lists and clean sentences of a report."""

from __future__ import annotations

from dreambench.judges.embedded.view import MOST_PARTS, view_of


def test_parts_are_the_sections_that_divide_the_text() -> None:
    twice_titled = (
        "# Tides\n\n# Tides again\n\n## One\n\nA is b.\n\n## Two\n\nC is d.\n\n### Deep\n\nE is f.\n\n## Three\n\nG is h.\n"
    )
    assert [part.title for part in view_of(twice_titled).parts] == ["One", "Two", "Three"]
    assert [part.length for part in view_of(twice_titled).parts] == [3.0, 6.0, 3.0]


def test_without_headings_paragraphs_are_the_parts_and_many_are_put_together() -> None:
    assert len(view_of("One is here.\n\nTwo is here.").parts) == 2
    many = view_of("\n\n".join(f"Paragraph {number} is here." for number in range(500))).parts
    assert len(many) <= MOST_PARTS
    assert sum(part.length for part in many) == 2000


def test_sentences_are_clean_of_markers_links_and_markup() -> None:
    view = view_of("The **dam** of [Rance](https://a.example/x) is `old` [1].\n\n## Sources\n\n[1] https://b.example\n")
    assert [sentence.text for sentence in view.sentences] == ["The dam of Rance is old."]


def test_lists_know_their_items_and_what_introduces_them() -> None:
    (nested, outer) = view_of("Three kinds:\n\n- Dams hold water\n  - big\n  - small\n- Wheels turn\n").lists
    assert outer.items == ("Dams hold water", "Wheels turn")
    assert outer.intro == "Three kinds:"
    assert nested.items == ("big", "small")
    assert nested.intro == "Dams hold water"


def test_chinese_is_measured_by_characters() -> None:
    (sentence,) = view_of("潮汐由月球引起。").sentences
    assert sentence.length == 7 * 0.6
