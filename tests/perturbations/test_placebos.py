"""Placebos keep what a report says: claims, amounts, dates, names of sections and what its citations point to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from dreambench.documents import Document, normalize_url, parse_document
from dreambench.language.claims import check_worthy_sentences
from dreambench.language.dates import find_dates
from dreambench.language.entities import find_entities
from dreambench.language.quantities import find_quantities
from dreambench.perturbations.prose import view
from tests.perturbations.reports import PLACEBOS, SMALL, arm, perturbed, real_reports

EACH = 3
SAME_LETTERS = ("reorder_sections", "heading_style", "whitespace_markup")
"""Placebos that promise to leave the text of every claim, markers included, as it was; `citation_style` leaves its words."""


def sentences(document: Document) -> list[str]:
    """The words of all sentences and rows, markup aside."""
    return [re.sub(r"[*_]+", "", line.words) for line in view(document).lines]


def letters(document: Document) -> Counter[str]:
    """The letters, digits and signs of each sentence or row, emphasis marks and white space aside."""
    return Counter(re.sub(r"[*_\s]+", "", line.text) for line in view(document).lines)


def amounts(texts: Iterable[str]) -> Counter[tuple[object, ...]]:
    return Counter((q.kind, q.unit, round(q.base_value, 6), q.low, q.high) for text in texts for q in find_quantities(text))


def periods(texts: Iterable[str]) -> Counter[tuple[object, ...]]:
    return Counter((mention.first, mention.last) for text in texts for mention in find_dates(text))


def targets(document: Document) -> Counter[str]:
    return Counter(normalize_url(citation.url) for citation in document.resolved if citation.url)


def headings(document: Document) -> Counter[tuple[int, str]]:
    """Level and words of the headings, their numbers aside."""
    number = re.compile(r"^[\s*_]*(?:\d+(?:\.\d+)*|[一二三四五六七八九十]+|[A-Z])?[.、．)）:：\s]*")
    return Counter((section.level, number.sub("", section.title).strip("*_ #")) for section in document.sections)


def check(kind: str, text: str, seed: int) -> None:
    before = parse_document(text)
    after = parse_document(perturbed(arm(kind, seed=seed), text, document=before).report.text)
    assert targets(after) == targets(before)
    assert {normalize_url(entry.url) for entry in before.references if entry.url} <= {
        normalize_url(entry.url) for entry in after.references if entry.url
    }
    assert headings(after) == headings(before)
    if kind in SAME_LETTERS:
        assert letters(after) == letters(before)
        return
    old, new = sentences(before), sentences(after)
    assert amounts(new) == amounts(old)
    assert periods(new) == periods(old)
    if kind == "citation_style":
        assert Counter(new) == Counter(old)
    if kind == "neutral_padding":
        assert not Counter(old) - Counter(new) or len(new) >= len(old)
        joined, parts = " ".join(new), [sentence for sentence in old if sentence not in new]
        assert all(part in joined for part in parts)


@pytest.mark.parametrize("language", SMALL)
@pytest.mark.parametrize("kind", PLACEBOS)
def test_small_reports_say_the_same(kind: str, language: str) -> None:
    for seed in range(6):
        check(kind, SMALL[language], seed)


@pytest.mark.parametrize("kind", PLACEBOS)
def test_real_reports_say_the_same(kind: str, real_data: Path) -> None:
    for number, (_, report, _document) in enumerate(real_reports(real_data, EACH, PLACEBOS.index(kind))):
        check(kind, report.text, seed=number)


@pytest.mark.parametrize("language", SMALL)
def test_padding_claims_nothing(language: str) -> None:
    for seed in range(20):
        done = perturbed(arm("neutral_padding", seed=seed), SMALL[language])
        added = [edit.after.strip() for edit in done.log.edits]
        assert added
        assert not [text for text in added if check_worthy_sentences(text, minimum=0.4)]


def test_links_become_numbers_and_numbers_links() -> None:
    there = perturbed(arm("citation_style", to="inline"), SMALL["english"])
    linked = parse_document(there.report.text)
    assert {citation.style for citation in linked.resolved} == {"link"}
    back = parse_document(perturbed(arm("citation_style", to="numbered"), there.report.text).report.text)
    assert {citation.style for citation in back.resolved} == {"numeric"}
    assert [normalize_url(c.url or "") for c in back.resolved] == [
        normalize_url(c.url or "") for c in parse_document(SMALL["english"]).resolved
    ]


def test_links_of_a_report_without_a_list_get_one() -> None:
    text = (
        "# A\n\nHeat is stored in pits ([Pit](https://example.org/pit)). "
        "It lasts, as [a survey](https://example.com/s) found.\n"
    )
    done = perturbed(arm("citation_style"), text).report.text
    assert "## References" in done
    assert "as a survey [" in done
    assert targets(parse_document(done)) == targets(parse_document(text))


def test_names_stay() -> None:
    for kind in ("rephrase", "synonyms"):
        before = {entity.norm for entity in find_entities(SMALL["english"])}
        done = perturbed(arm(kind), SMALL["english"]).report.text
        assert {"denmark", "sweden", "finland", "silkeborg"} <= {entity.norm for entity in find_entities(done)} & before


def test_sections_keep_their_numbers_in_order() -> None:
    text = "# T\n\n" + "\n\n".join(
        f"## {n}. Topic {word}\n\n### {n}.1 Sub\n\nText about {word}." for n, word in enumerate("abcd", 1)
    )
    done = perturbed(arm("reorder_sections"), text).report.text
    assert re.findall(r"^## (\d)", done, re.MULTILINE) == ["1", "2", "3", "4"]
    assert re.findall(r"^### (\d)\.1", done, re.MULTILINE) == ["1", "2", "3", "4"]
    assert re.findall(r"Topic (\w)", done) != list("abcd")


def test_sections_that_the_text_refers_to_by_number_stay() -> None:
    text = "# T\n\n## One\n\nSee section 2.\n\n## Two\n\nText.\n\n## Three\n\nText.\n"
    assert perturbed(arm("reorder_sections"), text).log.eligible == 0
