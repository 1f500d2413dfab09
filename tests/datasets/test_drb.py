from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dreambench.datasets.drb import DrbDataset
from dreambench.errors import DatasetError

from .conftest import SLICE, WriteLines

FINGERPRINT = "832be16a305f4c5e09a38276a1825147bf684b99e873f8fc9c9477dfddfcf425"
"""Of the slice. When it changes, finished runs on the same data are no longer resumed."""
AGENTS = ["claude-3-7-sonnet", "claude4-sonnet", "gpt-4.1", "gpt-5"]


def test_the_slice_is_three_tasks_answered_by_four_agents():
    dataset = DrbDataset(reports=str(SLICE), queries=str(SLICE / "query.jsonl")).load()
    assert [(task.id, task.language, task.domain, task.dataset) for task in dataset.tasks] == [
        ("7", "zh", "Finance & Business", "drb"),
        ("56", "en", "Finance & Business", "drb"),
        ("77", "en", "Health", "drb"),
    ]
    assert [report.agent for report in dataset.reports] == AGENTS * 3
    assert all(len(report.text) > 3000 for report in dataset.reports)
    assert [str(finding) for finding in dataset.findings] == [
        f"{SLICE}/race_claude-3-7-sonnet_raw_results.jsonl: holds no reports: its records have id, comprehensiveness, "
        "insight, instruction_following, readability, overall_score; left out"
    ]


def test_the_fingerprint_of_the_slice_is_fixed_and_knows_no_path(tmp_path: Path):
    shutil.copytree(SLICE, tmp_path / "copy")
    here, there = (
        DrbDataset(reports=str(folder), queries=str(folder / "query.jsonl")).load() for folder in (SLICE, tmp_path / "copy")
    )
    assert here.fingerprint() == there.fingerprint() == FINGERPRINT


def test_without_queries_the_reports_say_what_the_tasks_are():
    dataset = DrbDataset(reports=[str(SLICE / "gpt-5.jsonl"), str(SLICE / "gpt-4.1.jsonl")]).load()
    assert {(task.id, task.language, task.domain) for task in dataset.tasks} == {
        ("7", "zh", ""),
        ("56", "en", ""),
        ("77", "en", ""),
    }
    assert dataset.findings == []


def test_a_named_file_without_reports_is_refused_and_one_in_a_folder_is_a_finding(write_lines: WriteLines, tmp_path: Path):
    criteria = write_lines("all/criteria.jsonl", [{"id": 1, "prompt": "q", "criterions": {}}])
    empty = write_lines("all/none.jsonl", [])
    write_lines("all/a.jsonl", [{"id": 1, "prompt": "q", "article": "x"}])
    (tmp_path / "all" / "LICENSE").write_text("MIT", encoding="utf-8")
    dataset = DrbDataset(reports=str(tmp_path / "all")).load()
    assert [str(finding) for finding in dataset.findings] == [
        f"{criteria}: holds no reports: its records have id, prompt, criterions; left out",
        f"{empty}: holds no reports: it is empty; left out",
    ]
    with pytest.raises(DatasetError) as caught:
        DrbDataset(reports=[criteria, empty]).load()
    assert str(caught.value) == (
        f"{criteria}: holds no reports: its records have id, prompt, criterions; a report's record has id, prompt, article\n"
        f"{empty}: holds no reports: it is empty; a report's record has id, prompt, article"
    )


def test_a_misspelt_field_is_no_file_without_reports(write_lines: WriteLines, tmp_path: Path):
    path = write_lines("in/a.jsonl", [{"id": number, "prompt": "q", "artcle": "x"} for number in range(3)])
    with pytest.raises(DatasetError) as caught:
        DrbDataset(reports=str(tmp_path / "in")).load()
    assert str(caught.value) == (
        f"{path}:1: has no field 'article'; did you mean 'artcle'? (and 2 more lines)\n  allowed: artcle, id, prompt"
    )


def test_all_problems_of_all_files_are_said_at_once(write_lines: WriteLines, write_text, tmp_path: Path):
    broken = write_text("a.jsonl", '{"id": 1, "prompt": "q", "article": "x"}\n{"id": 2\n')
    untyped = write_lines("b.jsonl", [{"id": 1, "prompt": "q", "article": ["x"]}])
    with pytest.raises(DatasetError) as caught:
        DrbDataset(reports=[broken, untyped, str(tmp_path / "c.jsonl")], queries=str(tmp_path / "quer.jsonl")).load()
    assert [str(problem).splitlines()[0] for problem in caught.value.problems] == [
        f"dataset.queries: {tmp_path}/quer.jsonl does not exist",
        f"dataset.reports: {tmp_path}/c.jsonl does not exist",
        f"{broken}:2: is not JSON: expecting ',' delimiter at column 9",
        f"{untyped}:1: field 'article' is a list, text is needed",
    ]


def test_two_files_of_one_name_are_refused_unless_they_are_one_file(write_lines: WriteLines):
    line = [{"id": 1, "prompt": "q", "article": "x"}]
    raw, cleaned = write_lines("raw/a.jsonl", line), write_lines("cleaned/a.jsonl", line)
    with pytest.raises(DatasetError) as caught:
        DrbDataset(reports=[raw, cleaned]).load()
    assert str(caught.value) == f"{cleaned}: names the agent a, and so does {raw}; rename one of the files"
    assert len(DrbDataset(reports=[raw, raw]).load().reports) == 1


def test_a_folder_as_query_file_is_refused(tmp_path: Path):
    with pytest.raises(DatasetError) as caught:
        DrbDataset(reports=str(SLICE / "gpt-5.jsonl"), queries=str(tmp_path)).load()
    assert str(caught.value) == f"{tmp_path}: cannot be read: Is a directory"


def test_an_empty_folder_says_what_it_should_hold(tmp_path: Path):
    with pytest.raises(DatasetError) as caught:
        DrbDataset(reports=str(tmp_path)).load()
    assert str(caught.value) == f"dataset.reports: the folder {tmp_path} holds no .jsonl or .ndjson file"


QUERIES = [
    {"id": 1, "prompt": "one?"},
    {"id": "2", "prompt": "two?"},
    {"id": 3, "prompt": "twice?"},
    {"id": 4, "prompt": "twice?"},
]


@pytest.mark.parametrize(
    ("record", "task"),
    [
        ({"id": "1", "prompt": "one?"}, "1"),
        ({"id": 2, "prompt": "two? "}, "2"),
        ({"id": 99, "prompt": "two?"}, "2"),
        ({"prompt": "one?"}, "1"),
        ({"id": 4, "prompt": "twice?"}, "4"),
    ],
)
def test_reports_join_by_id_then_by_exact_prompt(write_lines: WriteLines, record: dict, task: str):
    queries = write_lines("query.jsonl", QUERIES)
    path = write_lines("a.jsonl", [{**record, "article": "x"}])
    dataset = DrbDataset(reports=path, queries=queries).load()
    assert [report.task_id for report in dataset.reports] == [task]
    assert [finding.code for finding in dataset.findings] == ["unanswered_task"]


def test_a_prompt_that_belongs_to_another_task_than_the_id_is_a_finding(write_lines: WriteLines):
    queries = write_lines("query.jsonl", QUERIES)
    path = write_lines("a.jsonl", [{"id": 1, "prompt": "two?", "article": "x"}, {"prompt": "twice?", "article": "y"}])
    dataset = DrbDataset(reports=path, queries=queries).load()
    assert [report.task_id for report in dataset.reports] == ["1"]
    assert [str(finding) for finding in dataset.findings][:2] == [
        f"{path}:1: joined by id with task 1 at {queries}:1, whose query is another one, its query is that of task 2",
        f"{path}:2: the report of a has no id and its query is none of {queries}; left out",
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
@given(ids=st.lists(st.integers(0, 10**9), min_size=1, max_size=6, unique=True), data=st.data())
def test_numbers_and_texts_as_ids_give_the_same_data_set(write_lines: WriteLines, ids: list[int], data: st.DataObject):
    def form(number: int) -> int | str:
        return data.draw(st.sampled_from([number, str(number)]))

    queries = write_lines("query.jsonl", [{"id": form(each), "prompt": f"q {each}"} for each in ids])
    reports = write_lines("a.jsonl", [{"id": form(each), "article": f"r {each}"} for each in data.draw(st.permutations(ids))])
    dataset = DrbDataset(reports=reports, queries=queries, ids=[form(each) for each in ids]).load()
    assert [(report.task_id, report.text) for report in dataset.reports] == [(str(each), f"r {each}") for each in ids]
    assert dataset.findings == []


def test_all_real_reports_load(real_data: Path):
    dataset = DrbDataset(
        reports=[str(real_data / "odr"), str(real_data / "drb")], queries=str(real_data / "drb/query.jsonl")
    ).load()
    assert Counter(report.agent for report in dataset.reports) == dict(zip(AGENTS, [67, 66, 67, 67], strict=True))
    languages = {task.id: task.language for task in dataset.tasks}
    assert Counter(languages.values()) == {"zh": 34, "en": 33}
    assert Counter(languages[report.task_id] for report in dataset.reports) == {"zh": 136, "en": 131}
    assert [(finding.code, Path(finding.file).name) for finding in dataset.findings] == [
        ("skipped_file", "criteria.jsonl"),
        ("skipped_file", "race_claude-3-7-sonnet_raw_results.jsonl"),
        ("unanswered_task", "query.jsonl"),
        ("missing_report", ""),
    ]
    assert dataset.findings[2].message.startswith("33 of 100 tasks are answered by no agent: 3, 6, 9,")
    assert dataset.findings[3].message == "claude4-sonnet has no report for 1 of 67 answered tasks: 98"


def test_the_detected_language_of_every_real_query_is_the_published_one(real_data: Path, write_lines: WriteLines):
    import json

    with (real_data / "drb/query.jsonl").open(encoding="utf-8") as stream:
        published = [json.loads(line) for line in stream]
    bare = write_lines("query.jsonl", [{"id": each["id"], "prompt": each["prompt"]} for each in published])
    found = DrbDataset(queries=bare, tasks="all").load()
    assert {task.id: task.language for task in found.tasks} == {str(each["id"]): each["language"] for each in published}
