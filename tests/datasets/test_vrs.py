"""Expert consulting: task packages in JSON lines and in the benchmark's sheet, and folders of reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dreambench.datasets.vrs import VrsDataset
from dreambench.errors import DatasetError

SLICE = Path(__file__).resolve().parents[1] / "data" / "vrs"
PACKAGES, REPORTS = str(SLICE / "packages.jsonl"), str(SLICE / "reports")


def test_packages_are_tasks_and_folders_are_agents() -> None:
    dataset = VrsDataset(queries=PACKAGES, reports=REPORTS).load()
    assert [task.id for task in dataset.tasks] == ["kettles", "ferry", "orchard", "archive", "clinic", "mill"]
    assert dataset.tasks[0].domain == "Procurement"
    assert dataset.agents == ["ash", "birch", "cedar"]
    assert len(dataset.reports) == 18
    assert dataset.findings == []


def test_the_sheet_is_read_by_its_headers_in_any_case(tmp_path: Path) -> None:
    dataset = VrsDataset(queries=str(SLICE / "packages.csv"), reports=f"{REPORTS}/ash/kettles.md").load()
    assert [(task.id, task.query, task.domain) for task in dataset.tasks] == [
        ("kettles", "State the true unit cost.", "Procurement")
    ]
    assert [report.agent for report in dataset.reports] == ["ash"]


def test_what_is_missing_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"(?s)dataset.queries: is required.*dataset.reports: is required"):
        VrsDataset().load()
    (tmp_path / "packages.jsonl").write_text(json.dumps({"task_id": "a", "promt": "x"}) + "\n")
    with pytest.raises(DatasetError, match=r"packages.jsonl:1: has no field 'prompt'"):
        VrsDataset(queries=str(tmp_path / "packages.jsonl"), reports=REPORTS).load()
    with pytest.raises(DatasetError, match=r"is no report: its name ends in \.jsonl"):
        VrsDataset(queries=PACKAGES, reports=PACKAGES).load()
