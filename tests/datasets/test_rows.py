from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row, identifier


def row(**values: object) -> Row:
    return Row(Path("a.jsonl"), 7, values)


def said(problems: Problems) -> list[str]:
    return [str(problem) for problem in problems.all()]


@given(st.integers(-(10**15), 10**15))
def test_a_number_and_its_text_are_the_same_id(number: int):
    forms = [number, float(number), str(number), f" {number}\n"]
    problems = Problems()
    assert {row(id=form).identifier("id", problems) for form in forms} == {str(number)}
    assert {identifier(form) for form in forms} == {str(number)}
    assert said(problems) == []


def test_ids_that_only_look_alike_stay_apart():
    problems = Problems()
    assert [row(id=form).identifier("id", problems) for form in ("007", 7, 7.5)] == ["007", "7", "7.5"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("  ", "a.jsonl:7: field 'id' is blank, an id is needed"),
        (None, "a.jsonl:7: field 'id' is null, text is needed"),
        (True, "a.jsonl:7: field 'id' is true or false, text is needed"),
        ([1], "a.jsonl:7: field 'id' is a list, text is needed"),
    ],
)
def test_what_is_no_id_is_said(value: object, message: str):
    problems = Problems()
    assert row(id=value).identifier("id", problems) is None
    assert said(problems) == [message]


def test_a_missing_field_names_the_nearest_and_all_present_ones():
    problems = Problems()
    assert row(id=1, artcle="x", prompt="y").text("article", problems, "dataset.fields.report") is None
    assert said(problems) == [
        "a.jsonl:7: has no field 'article'; did you mean 'artcle'?\n"
        "  allowed: artcle, id, prompt\n  type: dataset.fields.report=artcle"
    ]


def test_dots_look_into_objects_unless_a_field_has_them_in_its_name():
    assert row(output={"text": "a"}).text("output.text", Problems()) == "a"
    assert row(**{"output.text": "b", "output": {"text": "a"}}).text("output.text", Problems()) == "b"
    assert not row(output="flat").present("output.text")


def test_dates_are_iso_dates_and_anything_else_is_said():
    problems = Problems()
    assert row(as_of="2025-06-30").day("as_of", problems) == date(2025, 6, 30)
    assert row(as_of="2025-06-30T12:00:00Z").day("as_of", problems) == date(2025, 6, 30)
    assert row().day("as_of", problems) is row(as_of=None).day("as_of", problems) is None
    assert row(as_of="June 2025").day("as_of", problems) is None
    assert said(problems) == [
        "a.jsonl:7: field 'as_of' is 'June 2025', a date is needed\n  allowed: a date as YYYY-MM-DD, such as 2025-06-30"
    ]
