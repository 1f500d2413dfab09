"""Exact counts over real reports of four agents, English and Chinese, each looked through by eye once."""

import json
from collections import Counter

import pytest

from dreambench.documents import parse_document

COLUMNS = ("reports", "markers", "citations", "resolved", "dangling", "no_url", "ambiguous", "references", "uncited")
COUNTS = {
    "odr/claude4-sonnet": (66, 3750, 3755, 3736, 0, 0, 19, 1857, 93),
    "odr/gpt-4.1": (67, 3103, 3158, 3141, 15, 2, 0, 1317, 30),
    "odr/gpt-5": (67, 4872, 5110, 4978, 119, 13, 0, 2617, 49),
    "drb/claude-3-7-sonnet": (67, 2404, 2404, 2403, 1, 0, 0, 1192, 37),
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
