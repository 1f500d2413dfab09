"""The bundled claims: fifteen topics, each true claim in the report, each variant backed by a page of the corpus."""

from __future__ import annotations

import re

from dreambench.datasets.adversarial_claims import PAIRS, AdversarialClaims
from dreambench.documents import parse_document
from dreambench.perturbations.adversarial_claims import AdversarialClaims as Swap
from dreambench.perturbations.swap_claims import read_pairs
from dreambench.tools.page import read_pages


def test_one_report_states_every_true_claim_with_a_source_of_the_corpus() -> None:
    dataset = AdversarialClaims().load()
    (report,) = dataset.reports
    document = parse_document(report.text)
    urls = {page.url for page in read_pages(AdversarialClaims().corpus)}
    cited = [citation.url for citation in document.citations]
    assert len(cited) == len(set(cited)) == 15
    assert set(cited) <= urls
    pairs = read_pairs(PAIRS, "path")
    assert len(pairs) == 15
    assert all(pair.true.rstrip(".") in report.text for pair in pairs)
    assert not any(pair.false in report.text for pair in pairs)


def test_every_false_variant_is_backed_by_a_page_that_the_report_does_not_cite() -> None:
    pages = {page.url: page for page in read_pages(AdversarialClaims().corpus)}
    (report,) = AdversarialClaims().load().reports
    for pair in read_pairs(PAIRS, "path"):
        assert pair.source not in report.text
        subject = re.sub(r"[^a-z0-9 ]", "", pair.false.lower()).split()[:4]
        assert all(word in re.sub(r"[^a-z0-9 ]", "", pages[pair.source].text.lower()) for word in subject)
    assert len(pages) == 30


def test_the_perturbation_brings_the_pairs_and_takes_a_file_of_ones_own(tmp_path) -> None:
    assert len(Swap().pairs) == 15
    own = tmp_path / "pairs.jsonl"
    own.write_text('{"true": "A is B.", "false": "A is C.", "source": "https://a.example"}\n', encoding="utf-8")
    assert Swap(path=own).settings() != Swap().settings()
