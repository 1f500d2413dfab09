"""Exact counts over real reports of four agents, English and Chinese, each looked through by eye once."""

import json
from collections import Counter

import pytest

from dreambench.documents import parse_document

COLUMNS = ("reports", "markers", "citations", "resolved", "dangling", "no_url", "ambiguous", "references", "uncited")
COUNTS = {
    "odr/claude4-sonnet": (),
    "odr/gpt-4.1": (),
    "odr/gpt-5": (),
    "drb/claude-3-7-sonnet": (),
}


@pytest.fixture(scope="module")
def documents(real_data):
    return {
        agent: {
            (record := json.loads(line))["id"]: parse_document(record["article"])
            for line in (real_data / f"{agent}.jsonl").read_text("utf-8").splitlines()
        }
        for agent in COUNTS
    }


@pytest.mark.parametrize("agent", COUNTS)
def test_counts(documents, agent):
    total = Counter()
    for document in documents[agent].values():
        total["reports"] += 1
        total["markers"] += len(document.markers)
        total["citations"] += len(document.citations)
        total["references"] += len(document.references)
        total["uncited"] += len(document.uncited)
        total.update(citation.status.value for citation in document.citations)
    assert tuple(total[column] for column in COLUMNS) == COUNTS[agent]


@pytest.mark.parametrize("agent", COUNTS)
def test_every_report_has_references_a_title_and_its_language(documents, agent):
    for number, document in documents[agent].items():
        assert document.references, number
        assert document.title, number
        # Tasks 1-50 are Chinese and 51-100 English.
        assert document.language == ("zh" if int(number) <= 50 else "en"), number


def test_only_one_report_cites_nothing(documents):
    silent = [(agent, number) for agent, reports in documents.items() for number, d in reports.items() if not d.citations]
    assert [(agent, int(number)) for agent, number in silent] == [("odr/claude4-sonnet", 41)]
