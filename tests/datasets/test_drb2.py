"""DeepResearch Bench II: the task file, report folders of every kind, and what is left out of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from dreambench.datasets.drb2 import Drb2Dataset
from dreambench.errors import DatasetError

SLICE = Path(__file__).resolve().parents[1] / "data" / "drb2"
TASKS, REPORTS = str(SLICE / "tasks_and_rubrics.jsonl"), str(SLICE / "report")


def test_tasks_are_known_by_idx_and_ask_the_clean_query() -> None:
    dataset = Drb2Dataset(queries=TASKS, reports=REPORTS).load()
    assert [(task.id, task.language, task.domain) for task in dataset.tasks] == [
        ("1", "en", "History"),
        ("2", "en", "Home & Hobbies"),
        ("3", "zh", "Travel"),
        ("4", "en", "Religion"),
    ]
    assert not any("must not open" in task.query for task in dataset.tasks), "not the prompt with its rule"
    assert [(report.task_id, report.agent) for report in dataset.reports] == [
        ("1", "gull"),
        ("1", "heron"),
        ("2", "gull"),
        ("2", "heron"),
        ("3", "heron"),
        ("4", "gull"),
        ("4", "heron"),
    ]
    html = dataset.reports[0].text
    assert "# Vessa lights" in html and "<p>" not in html


def test_what_is_odd_is_said() -> None:
    findings = {finding.code: str(finding) for finding in Drb2Dataset(queries=TASKS, reports=REPORTS).load().findings}
    assert set(findings) == {"duplicated_item", "skipped_file", "missing_report"}
    assert "1 item repeats another one of analysis; counted once" in findings["duplicated_item"]
    assert "notes.txt" in findings["skipped_file"]


def test_tasks_can_be_excluded_and_one_model_folder_read_alone() -> None:
    dataset = Drb2Dataset(queries=TASKS, reports=f"{REPORTS}/heron", exclude=(2, "4")).load()
    assert dataset.agents == ["heron"]
    assert [task.id for task in dataset.tasks] == ["1", "3"]
    assert not any(finding.code == "duplicated_item" for finding in dataset.findings)


def test_two_files_of_one_report_and_unknown_tasks_are_findings(tmp_path: Path) -> None:
    shutil.copytree(SLICE / "report", tmp_path / "report")
    (tmp_path / "report" / "heron" / "idx-1.txt").write_text("Another text.")
    (tmp_path / "report" / "heron" / "idx-99.md").write_text("To no task.")
    findings = [finding.code for finding in Drb2Dataset(queries=TASKS, reports=str(tmp_path / "report")).load().findings]
    assert {"duplicated_report", "orphan_report"} <= set(findings)


def test_what_is_missing_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"(?s)dataset.queries: is required.*dataset.reports: is required"):
        Drb2Dataset().load()
    with pytest.raises(DatasetError, match=r"dataset.agent: names the agent of a folder of idx files"):
        Drb2Dataset(queries=TASKS, reports=REPORTS, agent="heron").load()
    (tmp_path / "empty" / "model").mkdir(parents=True)
    with pytest.raises(DatasetError, match="holds no <model>/idx-<n> report"):
        Drb2Dataset(queries=TASKS, reports=str(tmp_path / "empty")).load()
    (tmp_path / "tasks.jsonl").write_text(json.dumps({"id": "task1", "content": {"tusk": "x"}}) + "\n")
    with pytest.raises(DatasetError, match=r"(?s)no field 'idx'.*no field 'content.task'"):
        Drb2Dataset(queries=str(tmp_path / "tasks.jsonl"), reports=REPORTS).load()


def test_the_real_slice_loads(real_data: Path, tmp_path: Path) -> None:
    model = tmp_path / "report" / "model"
    model.mkdir(parents=True)
    for idx in (41, 116, 124):
        (model / f"idx-{idx}.md").write_text("A report.")
    path = str(real_data / "drb2" / "tasks_and_rubrics_slice.jsonl")
    dataset = Drb2Dataset(queries=path, reports=str(tmp_path / "report")).load()
    assert [task.id for task in dataset.tasks] == ["41", "116", "124"]
    assert [str(finding).rpartition(": ")[2] for finding in dataset.findings if finding.code == "duplicated_item"] == [
        "6 items repeat another one of analysis; counted once"
    ]
