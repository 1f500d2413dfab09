"""DR3-Eval's queries and result folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from dreambench.datasets.dr3 import Dr3Dataset
from dreambench.errors import DatasetError
from tests.apps.command import ROOT

DATA = ROOT / "tests" / "data" / "dr3"


def test_reports_of_models_are_joined_with_the_queries() -> None:
    dataset = Dr3Dataset(reports=str(DATA / "result"), queries=str(DATA / "datasets_en" / "query.jsonl")).load()
    assert [(task.id, task.language) for task in dataset.tasks] == [("001", "en")]
    assert dataset.tasks[0].query.startswith("I have attached my notes")
    assert [(report.agent, report.task_id) for report in dataset.reports] == [("model_a", "001")]
    assert [finding.code for finding in dataset.findings] == ["unanswered_task"]


def test_a_folder_without_reports_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"holds no <model>/<task>/final_report\.md"):
        Dr3Dataset(reports=str(tmp_path)).load()
