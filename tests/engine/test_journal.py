"""The journal: whole lines or none, the last line of a cell counts, torn tails are owed again."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreambench.engine.call import CallRecord
from dreambench.engine.cell import Cell
from dreambench.engine.journal import Journal, JournalError, read_lines
from dreambench.records import Evidence, Judgment, Status


def make_cell(name: str) -> Cell:
    return Cell(name, "m", "j", "t", "r", 0, {"task": "t"})


def row(status: Status = Status.SCORED) -> Judgment:
    return Judgment("item", "family", "label", 0.5 if status is Status.SCORED else None, status)


def test_finished_cells_are_known_after_reopening(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.write_cell(make_cell("a"), [row()])
    journal.write_cell(make_cell("b"), [row(Status.JUDGE_ERROR)])
    journal.close()
    again = Journal(tmp_path / "journal.jsonl")
    assert again.is_done(make_cell("a"))
    assert not again.is_done(make_cell("b")), "an error is owed, not done"
    assert not again.is_done(make_cell("c"))


def test_the_last_line_of_a_cell_counts(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.write_cell(make_cell("a"), [row(Status.TOOL_ERROR)])
    journal.write_cell(make_cell("a"), [row()])
    journal.close()
    assert Journal(tmp_path / "journal.jsonl").is_done(make_cell("a"))


@given(cut=st.integers(min_value=0, max_value=10_000))
def test_any_cut_of_the_file_loses_only_its_last_line(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    journal = Journal(path)
    for name in ("a", "b", "c"):
        journal.write_cell(make_cell(name), [row()])
    journal.close()
    whole = path.read_bytes()
    cut = min(cut, len(whole))
    path.write_bytes(whole[:cut])
    kept = whole[:cut].count(b"\n")
    again = Journal(path)
    assert [again.is_done(make_cell(name)) for name in ("a", "b", "c")] == [index < kept for index in range(3)]
    again.write_cell(make_cell("d"), [row()])
    again.close()
    assert [line["cell"] for line in read_lines(path, "cell")] == [*"abc"[:kept], "d"]


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text(
        '{"type":"cell","cell":"a","owed":false,"columns":{},"judgments":[]}\n{"type":"cell", broken\n"type":"cell"}\n',
        encoding="utf-8",
    )
    with pytest.raises(JournalError, match=r"journal\.jsonl:2"):
        Journal(path)


@pytest.mark.parametrize("kind", ["cell", "call", "lost"])
def test_a_line_of_no_type_in_the_middle_is_named_and_counted_whatever_is_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "journal.jsonl"
    cell = '{"type":"cell","cell":"a","owed":false,"columns":{},"judgments":[]}'
    path.write_text(f'{cell}\n\x00\x00garbage\n{cell}\n\n"outcome": 1}}\n', encoding="utf-8")
    with pytest.raises(JournalError, match=r"journal\.jsonl:2: not a journal line \(.*\) and 1 more like it; take it out"):
        list(read_lines(path, kind))


def test_a_damaged_call_line_is_named_when_the_journal_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text('{"type":"call","key":"k","sour\n', encoding="utf-8")
    with pytest.raises(JournalError, match=r"journal\.jsonl:1"):
        Journal(path)


def test_lines_are_json_with_the_judgments_of_the_cell(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.write_cell(make_cell("a"), [row(), row()])
    journal.close()
    (line,) = (tmp_path / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    parsed = json.loads(line)
    assert parsed["columns"] == {"task": "t"}
    assert len(parsed["judgments"]) == 2
    assert (tmp_path / "journal.jsonl").stat().st_mode & 0o077 == 0


def record(source: str) -> CallRecord:
    return CallRecord("k", "c", "judging", "p", "a", "m", "m", "", 0, source, "ok", 0, 0, 0, 0, 0, 0.0, 0.0)


def test_stored_answers_are_noted_with_the_next_line_and_bought_ones_at_once(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = Journal(path)
    journal.write_call(record("cache"))
    assert path.read_bytes() == b""
    journal.write_call(record("provider"))
    assert [line["source"] for line in read_lines(path, "call")] == ["cache", "provider"]
    journal.write_call(record("flight"))
    journal.write_cell(make_cell("a"), [row()])
    journal.write_call(record("cache"))
    journal.close()
    assert [line["source"] for line in read_lines(path, "call")] == ["cache", "provider", "flight", "cache"]
    assert [json.loads(line)["type"] for line in path.read_text().splitlines()] == ["call", "call", "call", "cell", "call"]


def test_a_row_is_written_with_its_evidence(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = Journal(path)
    judged = replace(row(), evidence=(Evidence("https://a.example/", quote="words"),))
    journal.write_cell(make_cell("a"), [judged])
    journal.close()
    (line,) = read_lines(path, "cell")
    assert line["judgments"] == json.loads(json.dumps([asdict(judged)]))
