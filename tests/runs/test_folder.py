"""The run folder: one process at a time, an attempt per start, tables that are the journal's last word."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from dreambench.engine.cell import Cell
from dreambench.engine.clock import Clock
from dreambench.engine.journal import Journal
from dreambench.records import Evidence, Judgment, Status
from dreambench.runs.folder import RunFolder, RunInUseError
from dreambench.runs.tables import ITEM_SCHEMA, item_table


def test_a_second_process_is_told_that_the_run_is_in_use(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run").locked():
        with pytest.raises(RunInUseError, match="another process"), RunFolder(tmp_path / "run").locked():
            pass
    with RunFolder(tmp_path / "run").locked():
        pass


def test_every_start_is_an_attempt_with_a_manifest(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    with folder.locked():
        first = folder.start_attempt(["dreambench", "seed=1"], Clock())
        second = folder.start_attempt(["dreambench"], Clock())
    assert [first.name, second.name] == ["1", "2"]
    assert json.loads((first / "manifest.json").read_text(encoding="utf-8"))["command"] == ["dreambench", "seed=1"]
    assert folder.root.stat().st_mode & 0o077 == 0


def test_the_item_table_has_each_cell_once_with_its_evidence(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = Journal(path)
    columns = {"dataset": "d", "task": "t", "report": "r", "agent": "a", "metric": "m", "judge": "j", "repeat": 0}
    cell = Cell("c", "m", "j", "t", "r", 0, columns)
    journal.write_cell(cell, [Judgment("i", "f", "", None, Status.TOOL_ERROR, reason_code="timeout")])
    proof = Evidence("https://a.example/p", "abc", "2024-01-01", "words")
    journal.write_cell(cell, [Judgment("i", "f", "supported", 1.0, evidence=(proof,), report_start=3, report_end=9)])
    journal.close()
    table = item_table(path, "run1")
    assert table.schema == pl.Schema(ITEM_SCHEMA)
    (row,) = table.to_dicts()
    assert (row["run"], row["cell"], row["label"], row["status"]) == ("run1", "c", "supported", "scored")
    assert row["evidence"] == [{"url": "https://a.example/p", "snapshot": "abc", "published": "2024-01-01", "quote": "words"}]
    assert (row["report_start"], row["report_end"]) == (3, 9)


def test_an_empty_journal_gives_an_empty_table_with_all_columns(tmp_path: Path) -> None:
    assert item_table(tmp_path / "none.jsonl", "run").schema == pl.Schema(ITEM_SCHEMA)
