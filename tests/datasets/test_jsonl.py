from __future__ import annotations

from datetime import date

import pytest

from dreambench.datasets.drb import DrbDataset
from dreambench.datasets.fields import Fields
from dreambench.datasets.jsonl import JsonlDataset
from dreambench.errors import DatasetError

from .conftest import SLICE, WriteLines


def test_usual_names_need_no_configuration(write_lines: WriteLines):
    path = write_lines(
        "dump.jsonl",
        [
            {
                "id": 1,
                "prompt": "Why?",
                "report": "x",
                "agent": "a",
                "domain": "Law",
                "language": "en-GB",
                "as_of": "2025-01-02",
            },
            {"id": 1, "prompt": "Why?", "report": "y"},
        ],
    )
    dataset = JsonlDataset(reports=path).load()
    task = dataset.tasks[0]
    assert (task.query, task.domain, task.language, task.as_of) == ("Why?", "Law", "en", date(2025, 1, 2))
    assert [(report.agent, report.text) for report in dataset.reports] == [("a", "x"), ("dump", "y")]
    assert [report.agent for report in JsonlDataset(reports=path, agent="mine").load().reports] == ["a", "mine"]


def test_fields_are_renamed_and_nested_ones_reached(write_lines: WriteLines):
    path = write_lines(
        "dump.jsonl", [{"meta": {"task": 7, "model": "m"}, "input": "为什么？", "output": {"text": "答"}, "when": "2024-02-03"}]
    )
    fields = {"id": "meta.task", "query": "input", "report": "output.text", "agent": "meta.model", "as_of": "when"}
    dataset = JsonlDataset(reports=path, fields=fields).load()
    assert [(report.task_id, report.agent, report.text) for report in dataset.reports] == [("7", "m", "答")]
    assert (dataset.tasks[0].language, dataset.tasks[0].as_of) == ("zh", date(2024, 2, 3))


def test_a_field_that_was_named_has_to_be_there(write_lines: WriteLines):
    path = write_lines("dump.jsonl", [{"id": 1, "query": "q", "report": "x", "model_name": "m"}] * 2)
    with pytest.raises(DatasetError) as caught:
        JsonlDataset(reports=path, fields=Fields(agent="model", domain="field")).load()
    assert [str(problem) for problem in caught.value.problems] == [
        f"{path}:1: has no field 'model' (dataset.fields.agent); did you mean 'model_name'? (and 1 more line)\n"
        "  allowed: id, model_name, query, report\n  type: dataset.fields.agent=model_name",
        f"{path}:1: has no field 'field' (dataset.fields.domain) (and 1 more line)\n  allowed: id, model_name, query, report",
    ]


def test_a_task_without_a_field_says_what_it_has_and_what_it_needs(write_lines: WriteLines):
    queries = write_lines("q.jsonl", [{"task": "q1", "question": "x"}, {"task": "q2", "question": "y", "more": 1}])
    with pytest.raises(DatasetError) as caught:
        JsonlDataset(reports=write_lines("r.jsonl", [{"id": "q1", "report": "x"}]), queries=queries).load()
    assert str(caught.value.problems[0]) == (
        f"{queries}:1: has no field 'id'; it has question, task (a task's record has id, query) (and 1 more line)\n"
        "  type: dataset.fields.id=FIELD"
    )


def test_tasks_come_from_a_csv_and_reports_from_a_csv(write_text):
    queries = write_text("q.csv", "id,question,domain\n1,Why?,Law\n2,When?,\n")
    reports = write_text("r.csv", 'id,report\n1,"because, of course"\n2,now\n')
    dataset = JsonlDataset(reports=reports, queries=queries).load()
    assert [(task.id, task.query, task.domain) for task in dataset.tasks] == [("1", "Why?", "Law"), ("2", "When?", "")]
    assert dataset.reports[0].text == "because, of course"


def test_a_query_that_nobody_tells_is_empty_and_said(write_lines: WriteLines):
    path = write_lines("a.jsonl", [{"id": 1, "report": "x"}])
    dataset = JsonlDataset(reports=path).load()
    assert dataset.tasks[0].query == ""
    assert [str(finding) for finding in dataset.findings] == [
        "no query is known for task 1: questions about it are left out or judged without it"
    ]


def test_the_same_content_has_the_same_fingerprint_in_another_format():
    fields = Fields(query="prompt", report="article", domain="topic")
    keys = {"reports": str(SLICE), "queries": str(SLICE / "query.jsonl")}
    assert JsonlDataset(**keys, fields=fields).load().fingerprint() == DrbDataset(**keys).load().fingerprint()


def test_an_empty_query_file_is_said(write_lines: WriteLines):
    empty = write_lines("q.jsonl", [])
    with pytest.raises(DatasetError) as caught:
        JsonlDataset(reports=write_lines("a.jsonl", [{"id": 1, "report": "x"}]), queries=empty).load()
    assert str(caught.value) == f"{empty}: holds no queries"
