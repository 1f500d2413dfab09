"""DeepResearchGym's folders: reports, queries, systems, and what is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from dreambench.datasets.deepresearchgym import DeepResearchGymDataset
from dreambench.errors import DatasetError
from tests.apps.command import ROOT

REPORTS = ROOT / "tests" / "data" / "deepresearchgym" / "reports"


def test_reports_are_joined_with_their_query_files() -> None:
    for folder in (REPORTS, REPORTS / "sys_one"):
        dataset = DeepResearchGymDataset(reports=str(folder)).load()
        assert [(task.id, task.query) for task in dataset.tasks] == [("879", "how did bridges change")]
        assert [(report.agent, report.text) for report in dataset.reports] == [("sys_one", "Bridges grew longer.\n")]
        assert dataset.findings == []


def test_a_flat_folder_can_be_named_and_listed_queries_win(tmp_path: Path) -> None:
    queries = tmp_path / "queries.jsonl"
    queries.write_text('{"id": "879", "query": "how did bridges change"}\n')
    dataset = DeepResearchGymDataset(reports=str(REPORTS / "sys_one"), agent="ours", queries=str(queries)).load()
    assert dataset.agents == ["ours"]


def test_other_files_are_said_and_an_empty_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "1.a").write_text("A report.")
    (tmp_path / "1.md").write_text("Another.")
    dataset = DeepResearchGymDataset(reports=str(tmp_path), agent="x").load()
    assert "skipped_file" in [finding.code for finding in dataset.findings]
    (tmp_path / "1.a").unlink()
    with pytest.raises(DatasetError, match=r"holds no <id>\.a"):
        DeepResearchGymDataset(reports=str(tmp_path)).load()
