from __future__ import annotations

from pathlib import Path

import pytest

from dreambench.datasets.deepconsult import DeepConsultDataset
from dreambench.errors import DatasetError

HEADER = "question,baseline_answer,candidate_answer\n"


def test_a_row_is_two_agents_and_several_files_share_their_baseline(write_text, tmp_path: Path):
    write_text("runs/one.csv", HEADER + 'Enter the market?,"Base, 1",One 1\nCut costs?,Base 2,One 2\n')
    write_text("runs/two.csv", HEADER + 'Cut costs?,Base 2,Two 2\nEnter the market?,"Base, 1",Two 1\n')
    write_text("runs/queries.csv", "query\nEnter the market?\n")
    dataset = DeepConsultDataset(reports=str(tmp_path / "runs")).load()
    assert [(task.id, task.query) for task in dataset.tasks] == [("1", "Enter the market?"), ("2", "Cut costs?")]
    assert [(report.task_id, report.agent, report.text) for report in dataset.reports] == [
        ("1", "baseline", "Base, 1"),
        ("1", "one", "One 1"),
        ("1", "two", "Two 1"),
        ("2", "baseline", "Base 2"),
        ("2", "one", "One 2"),
        ("2", "two", "Two 2"),
    ]
    assert [str(finding) for finding in dataset.findings] == [
        f"{tmp_path}/runs/queries.csv: holds no reports: its records have query; left out"
    ]


def test_the_agents_may_be_named_and_another_baseline_is_a_duplicate(write_text):
    path = write_text("a.csv", HEADER + "Q?,B,C\nQ?,B2,C\n")
    dataset = DeepConsultDataset(reports=path, baseline="o3", candidate="ours").load()
    assert dataset.agents == ["o3", "ours"]
    assert [finding.code for finding in dataset.findings] == ["duplicated_report"] * 2


def test_a_missing_column_is_named(write_text):
    path = write_text("a.csv", "question,base_answer,candidate_answer\nQ?,B,C\n")
    with pytest.raises(DatasetError) as caught:
        DeepConsultDataset(reports=path).load()
    assert str(caught.value) == (
        f"{path}:2: has no field 'baseline_answer'; did you mean 'base_answer'?\n"
        "  allowed: base_answer, candidate_answer, question"
    )
