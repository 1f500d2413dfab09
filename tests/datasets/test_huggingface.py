"""The Hub stays outside: a module object stands in for the `datasets` package."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from dreambench.datasets.huggingface import HuggingFaceDataset
from dreambench.errors import DatasetError

ROWS = [
    {"qid": "a", "question": "Why?", "answer": "Because.", "model": "m"},
    {"qid": "b", "question": "When?", "answer": "", "model": "m"},
]
FIELDS = {"id": "qid", "report": "answer", "agent": "model"}


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was asked of `load_dataset`; it answers with ROWS."""
    calls: list[Any] = []

    def load_dataset(repo: str, subset: str | None, *, split: str, revision: str | None) -> list[dict[str, str]]:
        calls.append((repo, subset, split, revision))
        if split == "tset":
            raise ValueError('Unknown split "tset". Should be one of\n [test].')
        return ROWS

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    return calls


def test_rows_of_a_split_are_reports_with_the_columns_that_were_named(hub: list[Any]):
    loader = HuggingFaceDataset(repo="owner/set", subset="s", split="train", revision="abc", fields=FIELDS)
    dataset = loader.load()
    assert hub == [("owner/set", "s", "train", "abc")]
    assert [(task.id, task.query) for task in dataset.tasks] == [("a", "Why?")]
    assert [(report.agent, report.text, report.source) for report in dataset.reports] == [
        ("m", "Because.", "hub:owner/set/s/train:1")
    ]
    assert str(dataset.findings[0]) == "hub:owner/set/s/train:2: the report of m for task b is empty; left out"


def test_a_set_of_tasks_only_is_taken_with_tasks_all_and_else_refused(hub: list[Any]):
    fields = {"id": "qid", "report": "report"}
    tasks = HuggingFaceDataset(repo="owner/set", fields=fields, tasks="all").load().tasks
    assert [task.query for task in tasks] == ["Why?", "When?"]
    with pytest.raises(DatasetError) as caught:
        HuggingFaceDataset(repo="owner/set", fields=fields).load()
    assert str(caught.value) == (
        "hub:owner/set/test:1: has no field 'report'; it has answer, model, qid, question (and 1 more line)\n"
        "  type: dataset.fields.report=FIELD"
    )


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(DatasetError) as caught:
        HuggingFaceDataset(repo="owner/set").load()
    assert str(caught.value) == (
        'dataset: dataset=huggingface needs the package datasets, which is not installed\n  type: pip install "datasets>=3.0"'
    )


def test_what_the_hub_says_is_passed_on(hub: list[Any]):
    with pytest.raises(DatasetError) as caught:
        HuggingFaceDataset(repo="owner/set", split="tset").load()
    assert str(caught.value) == (
        'dataset.repo: hub:owner/set/tset cannot be loaded: Unknown split "tset". Should be one of [test].'
    )
    with pytest.raises(DatasetError, match=r"dataset.repo: is required"):
        HuggingFaceDataset().load()
