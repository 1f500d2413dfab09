"""Filters, screening, sampling and strictness, tried on DeepResearch Bench files as the simplest source."""

from __future__ import annotations

from datetime import date

import pytest

from dreambench.datasets import Dataset
from dreambench.datasets.drb import DrbDataset
from dreambench.errors import DatasetError

from .conftest import WriteLines

QUERIES = [
    {"id": 1, "topic": "Health", "language": "en", "prompt": "Does tea help?"},
    {"id": 2, "topic": "Law", "language": "zh", "prompt": "劳动法有哪些修订？"},
    {"id": 3, "topic": "Law", "language": "en", "prompt": "Which duties are new?"},
    {"id": 4, "topic": "Travel", "language": "en", "prompt": "Where is it warm?"},
]


def report(task_id: int, text: str = "A report.") -> dict:
    return {"id": task_id, "prompt": QUERIES[task_id - 1]["prompt"], "article": text}


@pytest.fixture
def files(write_lines: WriteLines) -> dict[str, str]:
    write_lines("reports/a.jsonl", [report(3), report(1), report(2)])
    write_lines("reports/b.jsonl", [report(1), report(2, "")])
    return {
        "queries": write_lines("query.jsonl", QUERIES),
        "reports": write_lines("reports/b.jsonl", [report(1)])[: -len("/b.jsonl")],
    }


def shape(dataset: Dataset) -> list[tuple[str, str]]:
    return [(each.task_id, each.agent) for each in dataset.reports]


def codes(dataset: Dataset) -> list[str]:
    return [finding.code for finding in dataset.findings]


def test_reports_come_by_task_and_agent_and_what_nobody_or_not_everybody_answered_is_a_finding(files: dict):
    dataset = DrbDataset(**files).load()
    assert [task.id for task in dataset.tasks] == ["1", "2", "3"]
    assert shape(dataset) == [("1", "a"), ("1", "b"), ("2", "a"), ("3", "a")]
    assert [str(finding) for finding in dataset.findings] == [
        f"{files['queries']}: 1 of 4 tasks are answered by no agent: 4",
        "b has no report for 2 of 3 answered tasks: 2, 3",
    ]
    assert [task.id for task in DrbDataset(**files, tasks="all").load().tasks] == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"ids": 3}, [("3", "a")]),
        ({"ids": ["1", 2]}, [("1", "a"), ("1", "b"), ("2", "a")]),
        ({"language": "zh"}, [("2", "a")]),
        ({"language": "Chinese"}, [("2", "a")]),
        ({"domain": ["Law"]}, [("2", "a"), ("3", "a")]),
        ({"domain": "Law", "language": "en"}, [("3", "a")]),
        ({"agents": "b"}, [("1", "b")]),
        ({"limit": 1}, [("1", "a"), ("1", "b")]),
        ({"limit": 99}, [("1", "a"), ("1", "b"), ("2", "a"), ("3", "a")]),
        ({"agents": ["a"], "limit": 2}, [("1", "a"), ("2", "a")]),
    ],
)
def test_filters(files: dict, keys: dict, expected: list):
    assert shape(DrbDataset(**files, **keys).load()) == expected


def test_a_filter_that_names_what_is_not_there_is_refused_with_the_nearest(files: dict):
    with pytest.raises(DatasetError) as caught:
        DrbDataset(**files, ids=[1, 10], language="fr", domain="Healt", agents=["a", "c"]).load()
    assert str(caught.value).splitlines() == [
        "dataset.ids: there is no task '10'; did you mean '1'?",
        "  allowed: 1, 2, 3, 4",
        "  type: dataset.ids=1",
        "dataset.language: there is no task in language 'fr'",
        "  allowed: en, zh",
        "dataset.domain: there is no task in domain 'Healt'; did you mean 'Health'?",
        "  allowed: Health, Law, Travel",
        "  type: dataset.domain=Health",
        "dataset.agents: there is no agent 'c'",
        "  allowed: a, b",
    ]


def test_samples_depend_on_the_seed_only_and_contain_the_smaller_ones(write_lines: WriteLines):
    lines = [{"id": number, "prompt": f"q{number}", "article": "x"} for number in range(60)]
    forward, backward = write_lines("f/a.jsonl", lines), write_lines("b/a.jsonl", reversed(lines))

    def drawn(path: str, sample: int, seed: int) -> set[str]:
        return {task.id for task in DrbDataset(reports=path, sample=sample, seed=seed).load().tasks}

    assert len(drawn(forward, 10, 0)) == 10
    assert drawn(forward, 10, 0) == drawn(backward, 10, 0)
    assert drawn(forward, 10, 0) < drawn(forward, 20, 0)
    assert drawn(forward, 10, 0) != drawn(forward, 10, 1)


def test_the_same_selection_has_the_same_fingerprint_from_another_folder_and_order(files: dict, write_lines: WriteLines):
    moved = write_lines("moved/a.jsonl", [report(2), report(3), report(1)])
    other = write_lines("moved/b.jsonl", [report(1)])
    queries = write_lines("moved/queries.jsonl", reversed(QUERIES))
    again = DrbDataset(reports=[other, moved], queries=queries).load()
    assert again.fingerprint() == DrbDataset(**files).load().fingerprint()
    assert again.fingerprint() != DrbDataset(**files, limit=2).load().fingerprint()


def test_duplicates_keep_the_first_valid_report_and_name_both_lines(write_lines: WriteLines):
    path = write_lines("a.jsonl", [report(1, " \n"), report(1, "First."), report(1, "Second."), report(1, "First.")])
    dataset = DrbDataset(reports=path).load()
    assert [each.text for each in dataset.reports] == ["First."]
    assert [str(finding) for finding in dataset.findings] == [
        f"{path}:1: the report of a for task 1 is empty; left out",
        f"{path}:3: a second report of a for task 1 (another text); the first, at {path}:2, is kept",
        f"{path}:4: a second report of a for task 1 (the same text); the first, at {path}:2, is kept",
    ]
    assert [(finding.code, finding.line) for finding in dataset.findings] == [
        ("empty_report", 1),
        ("duplicated_report", 3),
        ("duplicated_report", 4),
    ]


def test_sentinels_are_found_and_the_list_of_them_is_the_users(write_lines: WriteLines):
    texts = ["[Failed]", " no answer found\n", "No answer found after 2h30mins", "[Failed] at first, then this report."]
    path = write_lines("a.jsonl", [report(number, text) for number, text in enumerate(texts, 1)])
    dataset = DrbDataset(reports=path).load()
    assert [each.task_id for each in dataset.reports] == ["4"]
    assert codes(dataset) == ["sentinel"] * 3 + ["unanswered_task"]
    assert str(dataset.findings[1]) == f"{path}:2: the report of a for task 2 is no report but 'no answer found'; left out"
    assert len(DrbDataset(reports=path, sentinels=[]).load().reports) == 4
    assert len(DrbDataset(reports=path, sentinels=["[failed]"]).load().reports) == 3


def test_a_repeated_task_keeps_the_first_and_a_report_without_a_task_is_left_out(files: dict, write_lines: WriteLines):
    queries = write_lines("twice.jsonl", [QUERIES[0], {**QUERIES[0], "prompt": "Does coffee?"}, QUERIES[2]])
    dataset = DrbDataset(**{**files, "queries": queries}).load()
    assert shape(dataset) == [("1", "a"), ("1", "b"), ("3", "a")]
    assert [str(finding) for finding in dataset.findings][:2] == [
        f"{queries}:2: task 1 is given again; the first, at {queries}:1, is kept",
        f"{files['reports']}/a.jsonl:3: the report of a for task 2 has no task in {queries}; left out",
    ]


def test_strict_refuses_with_everything_that_is_wrong_but_not_for_unanswered_tasks(files: dict, write_lines: WriteLines):
    assert len(DrbDataset(**files, strict=True).load().reports) == 4
    path = write_lines("c.jsonl", [report(1, ""), report(2), report(2), report(3, "[Failed]")])
    with pytest.raises(DatasetError) as caught:
        DrbDataset(reports=path, queries=files["queries"], strict=True).load()
    assert [str(problem) for problem in caught.value.problems] == [
        f"{path}:1: the report of c for task 1 is empty; left out",
        f"{path}:4: the report of c for task 3 is no report but '[Failed]'; left out",
        f"{path}:3: a second report of c for task 2 (the same text); the first, at {path}:2, is kept",
    ]


def test_nothing_is_said_about_data_that_was_not_asked_for(write_lines: WriteLines):
    path = write_lines("a.jsonl", [report(1), report(2, ""), report(3), report(3)])
    assert codes(DrbDataset(reports=path, ids=[1]).load()) == []
    assert codes(DrbDataset(reports=path, limit=1).load()) == ["empty_report", "unanswered_task"]
    DrbDataset(reports=path, ids=[1], strict=True).load()


def test_no_valid_report_at_all_is_an_error_that_says_why(write_lines: WriteLines):
    path = write_lines("a.jsonl", [report(1, ""), report(2, "[Failed]")])
    with pytest.raises(DatasetError) as caught:
        DrbDataset(reports=path).load()
    assert [str(problem) for problem in caught.value.problems] == [
        "dataset: no valid report is left to score",
        f"{path}:1: the report of a for task 1 is empty; left out",
        f"{path}:2: the report of a for task 2 is no report but '[Failed]'; left out",
    ]
    assert DrbDataset(reports=path, tasks="all").load().reports == []


def test_reports_of_another_benchmark_are_refused_in_a_few_lines_and_without_a_long_search(write_lines: WriteLines):
    queries = write_lines("q.jsonl", [{"id": f"task-{number}", "prompt": f"q{number}"} for number in range(2000)])
    path = write_lines("a.jsonl", [{"id": f"other-{number}", "prompt": "p", "article": "x"} for number in range(2000)])
    with pytest.raises(DatasetError) as caught:
        DrbDataset(reports=path, queries=queries).load()
    said = [str(problem) for problem in caught.value.problems]
    assert len(said) == 22
    assert said[1] == f"{path}:1: the report of a for task other-0 has no task in {queries}; left out"
    assert said[-1] == "dataset: and 1980 more findings"


def test_the_date_of_a_task_is_its_own_else_the_runs_else_the_data_sets(files: dict):
    loader = DrbDataset(**files, as_of="2024-05-06")
    assert {task.as_of for task in loader.load().tasks} == {date(2024, 5, 6)}
    assert {task.as_of for task in loader.load(as_of=date(2025, 7, 8)).tasks} == {date(2025, 7, 8)}
    assert {task.as_of for task in DrbDataset(**files).load().tasks} == {None}


def test_half_surrogate_pairs_are_replaced_and_said(write_text):
    path = write_text("a.jsonl", '{"id": 1, "prompt": "q", "article": "bad \\ud83d end"}\n')
    dataset = DrbDataset(reports=path).load()
    assert dataset.reports[0].text == "bad \ufffd end"
    assert str(dataset.findings[0]) == f"{path}:1: holds half a surrogate pair at character 5; replaced by U+FFFD"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"limit": 0}, "dataset.limit: is 0, a whole number from 1 is needed"),
        ({"sample": -1}, "dataset.sample: is -1, a whole number from 1 is needed"),
        ({"tasks": "al"}, "dataset.tasks: input should be 'reported' or 'all', got 'al'"),
        ({"as_of": "soon"}, "dataset.as_of: input should be a valid date or datetime, input is too short, got 'soon'"),
        ({}, "dataset.reports: is required: a file, a folder, or a list of them\n  type: dataset.reports=path/to/reports"),
    ],
)
def test_keys_are_checked_whoever_makes_the_loader(keys: dict, message: str):
    with pytest.raises(DatasetError) as caught:
        DrbDataset(**keys).load()
    assert str(caught.value) == message
