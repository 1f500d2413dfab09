from __future__ import annotations

from pathlib import Path

import pytest

from dreambench.datasets.files import assignment, check_exists, rows, text
from dreambench.datasets.problems import SHOWN_PER_FILE, Problems
from dreambench.errors import DatasetError


def read(path: Path) -> tuple[list[dict], list[str]]:
    problems = Problems()
    values = [dict(row.values) for row in rows(path, problems)]
    return values, [str(problem) for problem in problems.all()]


def test_json_lines_are_read_with_their_line_numbers_and_blank_lines_are_none(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    path.write_bytes('\ufeff{"id": 1}\r\n\n{"id": "二"}'.encode())
    found = list(rows(path, Problems()))
    assert [(row.line, row.values["id"]) for row in found] == [(1, 1), (3, "二")]
    assert found[1].place == f"{path}:3"


def test_a_malformed_line_is_named_with_its_column_and_the_others_are_read(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 1}\n{"id": 2,, "x": 3}\n[1]\n"text"\n{"id": 5', encoding="utf-8")
    values, problems = read(path)
    assert values == [{"id": 1}]
    assert problems == [
        f"{path}:2: is not JSON: expecting property name enclosed in double quotes at column 10",
        f"{path}:3: is a JSON list, an object is needed",
        f"{path}:4: is a JSON string, an object is needed",
        f"{path}:5: is not JSON: expecting ',' delimiter at column 9",
    ]


def test_hostile_json_is_a_problem_not_a_crash(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a":' * 200_000 + "\n" + '{"id": ' + "9" * 10_000 + "}\n", encoding="utf-8")
    values, problems = read(path)
    assert values == []
    assert [problem.partition(": ")[2][:21] for problem in problems] == ["cannot be read as JSO"] * 2


def test_broken_bytes_are_reported_by_line(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"id": 1}\n{"id": "caf\xe9"}\n')
    values, problems = read(path)
    assert values == [{"id": 1}]
    assert problems == [f"{path}:2: is not UTF-8: byte 12 of the line (0xe9) invalid continuation byte"]


def test_a_list_and_another_encoding_are_answered_with_the_command_that_converts_them(tmp_path: Path):
    listed, wide = tmp_path / "list.jsonl", tmp_path / "wide.jsonl"
    listed.write_text('[\n{"id": 1}\n]', encoding="utf-8")
    wide.write_text('{"id": 1}', encoding="utf-16")
    assert read(listed)[1] == [
        f"{listed}:1: is a JSON list, one object a line is needed\n  type: jq -c '.[]' {listed} > list.lines.jsonl"
    ]
    assert read(wide)[1] == [f"{wide}: is UTF-16, UTF-8 is needed\n  type: iconv -f UTF-16 -t UTF-8 {wide} > utf8.jsonl"]


def test_csv_cells_may_span_lines_and_be_longer_than_the_csv_module_likes(tmp_path: Path):
    path = tmp_path / "a.csv"
    long = "x" * 200_000
    path.write_text(f'id, text\n1,"two\nlines"\n2,{long}\n', encoding="utf-8")
    found = list(rows(path, Problems()))
    assert [(row.line, row.values["text"]) for row in found] == [(2, "two\nlines"), (4, long)]


def test_csv_rows_of_another_width_and_open_quotes_are_named(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text('id,text\n1\n2,b\n3,"open\n', encoding="utf-8")
    values, problems = read(path)
    assert values == [{"id": "2", "text": "b"}]
    assert problems == [
        f"{path}:2: has 1 columns, the header has 2",
        f"{path}:4: is not CSV: unexpected end of data",
    ]


def test_tabs_separate_tsv(tmp_path: Path):
    path = tmp_path / "a.tsv"
    path.write_text("id\ttext\n1\ta,b\n", encoding="utf-8")
    assert read(path)[0] == [{"id": "1", "text": "a,b"}]


def test_text_is_none_when_a_line_of_it_is_broken(tmp_path: Path):
    path = tmp_path / "a.md"
    path.write_bytes(b"\xef\xbb\xbfone\ntwo\n")
    assert text(path, Problems()) == "one\ntwo\n"
    path.write_bytes(b"one\n\xff\n")
    problems = Problems()
    assert text(path, problems) is None
    assert str(problems.all()[0]).startswith(f"{path}:2: is not UTF-8: byte 1 of the line (0xff)")


def test_a_missing_file_is_answered_with_the_nearest_name_in_its_folder(tmp_path: Path):
    (tmp_path / "odr").mkdir()
    (tmp_path / "odr" / "gpt-5.jsonl").touch()
    problems = Problems()
    assert not check_exists(tmp_path / "odr" / "gpt5.jsonl", "dataset.reports", problems)
    assert not check_exists(tmp_path / "odr2" / "gpt-5.jsonl", "dataset.queries", problems)
    assert [str(problem) for problem in problems.all()] == [
        f"dataset.reports: {tmp_path}/odr/gpt5.jsonl does not exist; did you mean gpt-5.jsonl?\n"
        f"  allowed: gpt-5.jsonl\n  type: dataset.reports={tmp_path}/odr/gpt-5.jsonl",
        f"dataset.queries: {tmp_path}/odr2/gpt-5.jsonl does not exist: there is no odr2 in {tmp_path}; did you mean odr?\n"
        f"  allowed: odr\n  type: dataset.queries={tmp_path}/odr/gpt-5.jsonl",
    ]


def test_a_path_that_is_nowhere_lists_few_names_and_none_that_look_otherwise(tmp_path: Path):
    for name in [f"folder{number}" for number in range(30)]:
        (tmp_path / name).mkdir()
    problems = Problems()
    assert not check_exists(tmp_path / "nope", "dataset.reports", problems)
    assert not check_exists(tmp_path / "folder99", "dataset.queries", problems)
    nowhere, near = problems.all()
    assert nowhere.allowed == []
    assert 1 <= len(near.allowed) <= 5 and all(name.startswith("folder") for name in near.allowed)


def test_a_value_with_special_characters_is_quoted_for_shell_and_hydra():
    assert assignment("dataset.reports", "a/b.jsonl") == "dataset.reports=a/b.jsonl"
    assert assignment("dataset.reports", "my reports/b") == "'dataset.reports=\"my reports/b\"'"


def test_the_same_trouble_in_many_lines_is_said_once_and_the_rest_of_a_file_is_counted():
    problems = Problems()
    for line in range(1, 4):
        problems.add("a", line, "has no id")
    problems.add("b", 1, "is odd")
    problems.add("b", 2, "is odd")
    for line in range(SHOWN_PER_FILE + 5):
        problems.add("c", line, f"problem {line}")
    with pytest.raises(DatasetError) as caught:
        problems.check()
    said = [str(problem) for problem in caught.value.problems]
    assert said[:2] == ["a:1: has no id (and 2 more lines)", "b:1: is odd (and 1 more line)"]
    assert said[-1] == "c: has 5 more problems of this kind"
    assert len(said) == 2 + SHOWN_PER_FILE + 1
