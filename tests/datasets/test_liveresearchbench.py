from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from dreambench.datasets.liveresearchbench import LiveResearchBenchDataset, remapped
from dreambench.errors import DatasetError

from .conftest import WriteLines


@pytest.fixture
def base(tmp_path: Path, write_text) -> Path:
    for model in ("a", "b"):
        for qid in ("market6V", "law_2"):
            write_text(f"runs/{model}/qid_{qid}_report.md", f"{model} on {qid}")
    return tmp_path / "runs"


def listing(base: Path, entries: list[tuple[str, str, str]], **metadata: Any) -> str:
    path = base / "reports_20250901_101500.json"
    reports = [
        {"model_name": model, "query_id": qid, "query": f"About {qid}?", "report_file_path": recorded}
        for model, qid, recorded in entries
    ]
    path.write_text(json.dumps({"metadata": metadata, "reports": reports}), encoding="utf-8")
    return str(path)


def test_model_folders_with_questions_one_row_per_checklist_item(base: Path, write_lines: WriteLines):
    rows = [{"qid": "law_2", "question": "Law in {{current_year}}?", "checklist": f"item {number}"} for number in range(3)]
    questions = write_lines("q.jsonl", [*rows, {"qid": "market6V", "question": "x", "question_no_placeholder": "Market?"}])
    dataset = LiveResearchBenchDataset(reports=str(base), queries=questions).load(as_of=date(2025, 9, 1))
    assert {task.id: task.query for task in dataset.tasks} == {"law_2": "Law in 2025?", "market6V": "Market?"}
    assert [(report.task_id, report.agent, report.text) for report in dataset.reports] == [
        ("law_2", "a", "a on law_2"),
        ("law_2", "b", "b on law_2"),
        ("market6V", "a", "a on market6V"),
        ("market6V", "b", "b on market6V"),
    ]
    assert dataset.findings == []


def test_a_placeholder_without_a_date_stays_and_is_said(base: Path, write_lines: WriteLines):
    questions = write_lines("q.jsonl", [{"qid": "law_2", "question": "Since {{last_year}} to {{ date }}?"}])
    dataset = LiveResearchBenchDataset(reports=str(base), queries=questions, ids="law_2").load()
    assert dataset.tasks[0].query == "Since {{last_year}} to {{ date }}?"
    assert [str(finding) for finding in dataset.findings] == [
        "the query of task law_2 holds {{date}}, {{last_year}}; set as_of to fill it"
    ]
    dated = LiveResearchBenchDataset(reports=str(base), queries=questions, ids="law_2", as_of="2025-09-01").load()
    assert dated.tasks[0].query == "Since 2024 to 2025-09-01?"


def test_listed_paths_of_another_machine_are_remapped(base: Path, tmp_path: Path):
    entries = [
        ("a", "law_2", "/home/them/lrb/runs/a/qid_law_2_report.md"),
        ("b", "law_2", "C:\\lrb\\runs\\b\\qid_law_2_report.md"),
    ]
    path = listing(base, entries, timestamp="20250901_101500", use_realtime=True)
    dataset = LiveResearchBenchDataset(reports=path).load()
    assert [(report.agent, report.text) for report in dataset.reports] == [("a", "a on law_2"), ("b", "b on law_2")]
    assert (dataset.tasks[0].query, dataset.tasks[0].as_of) == ("About law_2?", date(2025, 9, 1))
    moved = tmp_path / Path(path).name
    Path(path).rename(moved)
    assert len(LiveResearchBenchDataset(reports=str(moved)).load().reports) == 2
    assert len(LiveResearchBenchDataset(reports=str(moved), root=str(base)).load().reports) == 2


def test_a_list_never_points_outside_its_root(base: Path, tmp_path: Path):
    secret = tmp_path / "secret"
    (secret / "keys").mkdir(parents=True)
    (secret / "keys" / "k.md").write_text("private", encoding="utf-8")
    assert remapped(str(secret / "keys" / "k.md"), base) is None
    assert remapped("x/../../secret/keys/k.md", base) is None
    (base / "link").symlink_to(secret / "keys")
    assert remapped("/anywhere/link/k.md", base) is None


def test_a_listed_report_that_is_not_there_is_an_error(base: Path):
    path = listing(base, [("c", "law_2", "/them/runs/c/qid_law_2_report.md")])
    with pytest.raises(DatasetError) as caught:
        LiveResearchBenchDataset(reports=path).load()
    assert str(caught.value) == (
        f"{path}: reports[0] names /them/runs/c/qid_law_2_report.md, and there is no c/qid_law_2_report.md in or below {base}\n"
        "  type: dataset.root=folder/that/holds/the/model/folders"
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{\n", ":2: is not JSON: expecting property name enclosed in double quotes at column 1"),
        ('{"reports": 3}', ': is no list of reports\n  allowed: {"metadata": {...}, "reports": [...]}'),
        ("[]", ': is no list of reports\n  allowed: {"metadata": {...}, "reports": [...]}'),
        ('{"reports": [{"model_name": 1}]}', ": reports[0] needs the texts model_name, query_id, report_file_path"),
    ],
)
def test_a_list_that_cannot_be_used_says_why(write_text, content: str, message: str):
    path = write_text("reports_x.json", content)
    with pytest.raises(DatasetError) as caught:
        LiveResearchBenchDataset(reports=path).load()
    assert str(caught.value) == path + message


def test_other_files_in_model_folders_are_said(base: Path):
    (base / "a" / "notes.md").write_text("n", encoding="utf-8")
    (base / "a" / ".hidden").touch()
    found = LiveResearchBenchDataset(reports=str(base)).load().findings
    assert str(found[0]) == f"{base}/a/notes.md: is not named qid_<qid>_report.md; left out"
    assert [finding.code for finding in found] == ["skipped_file", "unknown_query"]
    with pytest.raises(DatasetError) as caught:
        LiveResearchBenchDataset(reports=str(base / "a")).load()
    assert str(caught.value) == f"{base}/a: holds no <model>/qid_<qid>_report.md"
