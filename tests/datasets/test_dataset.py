from __future__ import annotations

from dataclasses import replace
from datetime import date

from dreambench.datasets import Dataset, Finding
from dreambench.records import Report, Task

TASKS = [Task("1", "why?", "drb", date(2025, 1, 2), "Health", "en"), Task("2", "为什么？", "drb", None, "", "zh")]
REPORTS = [Report("1", "a", "because", "x.jsonl:1"), Report("2", "a", "因为", "x.jsonl:2")]


def test_the_fingerprint_is_that_of_the_content_wherever_and_in_whatever_order_it_lies():
    dataset = Dataset(TASKS, REPORTS)
    moved = Dataset(
        [replace(task, dataset="jsonl") for task in reversed(TASKS)],
        [replace(report, source="elsewhere") for report in reversed(REPORTS)],
        [Finding("a", 1, "empty_report", "is empty")],
    )
    assert dataset.fingerprint() == moved.fingerprint()
    assert len(dataset.fingerprint()) == 64


def test_every_part_of_the_content_changes_the_fingerprint():
    changed = [
        Dataset([replace(TASKS[0], query="how?"), TASKS[1]], REPORTS),
        Dataset([replace(TASKS[0], as_of=None), TASKS[1]], REPORTS),
        Dataset([replace(TASKS[0], domain="Law"), TASKS[1]], REPORTS),
        Dataset([TASKS[0], replace(TASKS[1], language="en")], REPORTS),
        Dataset(TASKS[:1], REPORTS),
        Dataset(TASKS, REPORTS[:1]),
        Dataset(TASKS, [replace(REPORTS[0], text="because "), REPORTS[1]]),
        Dataset(TASKS, [replace(REPORTS[0], agent="b"), REPORTS[1]]),
        Dataset(TASKS, [*REPORTS, REPORTS[0]]),
    ]
    prints = {dataset.fingerprint() for dataset in [Dataset(TASKS, REPORTS), *changed]}
    assert len(prints) == len(changed) + 1


def test_a_finding_says_its_place_as_far_as_it_has_one():
    assert str(Finding("a.jsonl", 3, "empty_report", "is empty")) == "a.jsonl:3: is empty"
    assert str(Finding("a.jsonl", None, "skipped_file", "holds no reports")) == "a.jsonl: holds no reports"
    assert str(Finding("", None, "missing_report", "b has no report")) == "b has no report"


def test_agents_are_listed_once():
    assert Dataset(TASKS, [*REPORTS, Report("1", "Z", "")]).agents == ["Z", "a"]
