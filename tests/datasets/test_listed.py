"""Criteria and protocol items as lists: one report per task and origin, queries joined across folders."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from dreambench.datasets.criteria import CriteriaDataset
from dreambench.datasets.listed import read_items
from dreambench.datasets.protocol_items import ProtocolItemsDataset
from dreambench.errors import DatasetError
from dreambench.metrics.race.formula import DIMENSIONS
from dreambench.protocols.files import write_protocol
from dreambench.protocols.model import Creator, KicItem, Protocol


def test_the_demo_s_criteria() -> None:
    dataset = CriteriaDataset().load()
    assert len(dataset.tasks) == 8
    assert dataset.agents == sorted(DIMENSIONS)
    for task in dataset.tasks:
        assert task.query
        items = [item for report in dataset.reports if report.task_id == task.id for item in read_items(report.text) or []]
        assert sum(item.weight for item in items) == pytest.approx(1)


def test_the_benchmark_s_criteria(real_data: Path) -> None:
    dataset = CriteriaDataset(path=str(real_data / "drb" / "criteria.jsonl")).load()
    assert len(dataset.tasks) == 100 and len(dataset.reports) == 400


def protocol(query: str) -> Protocol:
    item = KicItem(id="k1", question="Is it?", fact="It is.", url="https://a.example/x", quote="It is")
    return Protocol(query=query, as_of=date(2025, 1, 1), creator=Creator.HUMAN, kic=[item])


def test_protocols_of_two_folders_meet_at_their_query(tmp_path: Path) -> None:
    write_protocol(tmp_path / "a" / "first.json", protocol("How?"))
    write_protocol(tmp_path / "b" / "other.json", protocol("How?"))
    dataset = ProtocolItemsDataset(folders={"one": tmp_path / "a", "two": tmp_path / "b"}).load()
    assert [task.id for task in dataset.tasks] == ["first"]
    assert dataset.tasks[0].as_of == date(2025, 1, 1)
    assert dataset.agents == ["one", "two"]
    (item,) = read_items(dataset.reports[0].text) or []
    assert item.text == "Is it?\nFact: It is.\nhttps://a.example/x: It is"


def test_folders_that_hold_nothing_are_said(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="names no folder of protocols"):
        ProtocolItemsDataset().load()
    with pytest.raises(DatasetError, match="does not exist"):
        ProtocolItemsDataset(folders={"one": tmp_path / "missing"}).load()
