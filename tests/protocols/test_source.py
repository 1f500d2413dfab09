"""Protocols from files serve the task that asks their query, as of the same day."""

from __future__ import annotations

import asyncio
from datetime import date
from pathlib import Path

import pytest

from dreambench.engine.store import CacheMode
from dreambench.errors import ConfigError
from dreambench.protocols.files import read_protocol, write_protocol
from dreambench.protocols.source import FileProtocols, NoProtocols
from dreambench.records import Task
from tests.support.protocol import AS_OF, QUERY, protocol

TASK = Task("t", f" {QUERY.upper()}  ", "d", AS_OF)
OTHER = Task("o", "What else?", "d", AS_OF)


@pytest.fixture
def source(tmp_path: Path) -> FileProtocols:
    write_protocol(tmp_path / "files" / "p.json", protocol(8))
    made = FileProtocols(path=tmp_path / "files")
    made.want("kic")
    return made


def test_a_file_is_found_by_its_query_and_kept_with_the_run(source: FileProtocols, tmp_path: Path) -> None:
    source.open(tmp_path / "run" / "protocols", tmp_path / "shared", CacheMode.READWRITE)
    found = asyncio.run(source.get(TASK, None))
    assert found is not None and len(found.kic) == 8
    assert asyncio.run(source.get(OTHER, None)) is None
    assert (source.hash_of(TASK, None), source.hash_of(OTHER, None)) == (found.content_hash(), "")
    (kept,) = (tmp_path / "run" / "protocols").iterdir()
    assert kept.name == f"t-{found.content_hash()}.json"
    assert read_protocol(kept) == found
    assert not (tmp_path / "shared").exists()


def test_the_hashes_are_the_identity(source: FileProtocols, tmp_path: Path) -> None:
    assert source.identity() == {"protocol": "files", "files": [protocol(8).content_hash()]}


def test_tasks_that_cannot_be_served_are_said_before_the_run(source: FileProtocols) -> None:
    assert source.problems([TASK, OTHER]) == []
    (problem,) = source.problems([OTHER])
    assert "has the query of any task" in problem.what
    (problem,) = source.problems([Task("t", QUERY, "d", date(2024, 1, 1))])
    assert problem.what == "the protocol is as of 2025-01-01, the task as of 2024-01-01"
    assert problem.type == "as_of=2025-01-01"


def test_the_problems_of_all_files_are_said_together(tmp_path: Path) -> None:
    write_protocol(tmp_path / "a.json", protocol(8))
    write_protocol(tmp_path / "b.json", protocol(9))
    (tmp_path / "c.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ConfigError) as raised:
        FileProtocols(path=tmp_path)
    said = str(raised.value)
    assert "are protocols of the same query; keep one" in said
    assert f"{tmp_path / 'c.json'}:query: is required" in said


def test_metrics_that_need_protocols_are_refused_without() -> None:
    none = NoProtocols()
    assert none.problems([TASK]) == []
    none.want("kic")
    (problem,) = none.problems([TASK])
    assert problem.what == "metric.kic cannot be judged without protocols"
