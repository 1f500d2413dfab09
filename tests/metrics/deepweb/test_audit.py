"""The five conditions of admission, each met and missed; addresses through the guard, offline from a corpus."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from dreambench.commands.check_benchmark import check_benchmark
from dreambench.errors import ConfigError, InputError, ProviderError
from dreambench.metrics.deepweb.audit import Condition, audit
from dreambench.metrics.deepweb.model import AnswerType, Dimension, MatrixTask, ReferenceCell, Rule, Source
from dreambench.tools.page import Page
from dreambench.tools.results import Reason, Visit
from tests.metrics.deepweb.release import write_hub

PAGE = "https://reports.example/a"


def cell(dimension: str, **keys: object) -> ReferenceCell:
    given = {"type": "precise", "answer": "28.5 EUR", "sources": (Source(url=PAGE, tier="T1"),), "rule": Rule(text="±3%")}
    return ReferenceCell.model_validate({"dimension": dimension, "entity": "A Co", **given, **keys})


DERIVED = {"derivation": "119.7 million EUR / 4.2 million = 28.5 EUR"}
CELLS = {
    "Q1": cell("Q1"),
    **{f"Q{n}": cell(f"Q{n}", **DERIVED) for n in range(2, 6)},
    "Q6": cell("Q6", type="not_available", answer="", sources=()),
    "Q7": cell("Q7", type="range", answer="4 % to 8 %"),
    "Q8": cell("Q8", answer="61 %", derivation="4.2 million / 6.9 million"),
}


def task(question: str = "How does A Co fare?", drop: str = "", **changed: ReferenceCell) -> MatrixTask:
    cells = {**CELLS, **changed}
    dimensions = tuple(Dimension(id=f"Q{number}") for number in range(1, 9))
    kept = tuple(one for name, one in cells.items() if name != drop)
    return MatrixTask(id="t", question=question, entities=("A Co",), dimensions=dimensions, cells=kept)


def visiting(code: str) -> object:
    async def visit(url: str) -> Visit:
        if code == "timeout":
            raise ProviderError("no answer in time", code="timeout")
        return Visit(url, Page(url, "T", "text") if code == "ok" else None, code)

    return visit


def faults(found: MatrixTask, code: str = "ok") -> dict[str, tuple[str, ...]]:
    checked = asyncio.run(audit(found, visiting(code)))  # type: ignore[arg-type]
    return {check.condition.value: check.faults for check in checked.checks if check.passed is not True}


def test_a_sound_task_is_admitted() -> None:
    found = asyncio.run(audit(task(), visiting("ok")))  # type: ignore[arg-type]
    assert found.admitted is True
    counts = {check.condition: check.checked for check in found.checks}
    assert counts == {
        Condition.REACHABLE: 1, Condition.COMPLETE: 8, Condition.NUMERIC: 5, Condition.SPLIT: 8, Condition.NO_LEAK: 8,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("code", "admitted"),
    [("ok", True), ("paywall", True), ("robots", True), ("dead", False), ("private_address", False), ("timeout", None)],
)
def test_dead_addresses_fail_and_our_own_trouble_leaves_it_open(code: str, admitted: bool | None) -> None:
    assert asyncio.run(audit(task(), visiting(code))).admitted is admitted  # type: ignore[arg-type]


def test_unopened_addresses_are_open() -> None:
    assert asyncio.run(audit(task())).admitted is None
    assert {reason.value for reason in Reason} >= {"paywall", "robots", "dead", "private_address"}


@pytest.mark.parametrize(
    ("changed", "condition", "fault"),
    [
        (task(drop="Q3"), "completeness", "Q3 x A Co has no reference"),
        (task(Q1=cell("Q1", sources=(), answer="")), "completeness", "Q1 x A Co lacks a value and a source"),
        (task(Q1=cell("Q1", rule=Rule())), "completeness", "Q1 x A Co lacks a scoring rule"),
        (task(Q2=cell("Q2", answer="31.5 EUR", **DERIVED)), "numeric_consistency", "gives 28.5, the reference says 31.5 EUR"),
        (task(Q8=cell("Q8", answer="71 %", derivation="4.2 million / 6.9 million")), "numeric_consistency", "gives 0.608696"),
        (task(Q7=cell("Q7", type="range", answer="4 %")), "numeric_consistency", "a range with one end"),
        (task(Q6=cell("Q6")), "capability_split", "Q6 is of calibration, and every cell has one precise"),
        (task(Q3=cell("Q3")), "capability_split", "Q3 is of derivation, and no cell shows one"),
        (task(question=f"How does A Co fare? See {PAGE}"), "no_prompt_leak", "the question has its source"),
        (task(question="Does A Co earn 28.5 euros?"), "no_prompt_leak", "the question has its value 28.5 EUR"),
    ],
)  # fmt: skip
def test_each_condition_is_missed_alone(changed: MatrixTask, condition: str, fault: str) -> None:
    found = faults(changed)
    assert list(found) == [condition]
    assert any(fault in one for one in found[condition])


def test_the_split_is_counted() -> None:
    short = task().model_copy(update={"dimensions": task().dimensions[:6], "cells": task().cells[:6]})
    assert faults(short) == {"capability_split": ("0 dimensions of reasoning, the split asks for 2",)}


def test_a_rubrics_sentence_in_the_question_is_a_leak() -> None:
    said = "Answers that use company revenue instead of segment revenue score half marks only."
    leaking = task(question=f"How does A Co fare? {said}").model_copy(update={"rubric_md": said})
    assert "a sentence of the rubric" in faults(leaking)["no_prompt_leak"][0]


def test_a_derivation_in_words_is_left_open() -> None:
    checks = asyncio.run(audit(task(Q2=cell("Q2", derivation="as the report says")), visiting("ok"))).checks  # type: ignore[arg-type]
    (numeric,) = (check for check in checks if check.condition is Condition.NUMERIC)
    assert (numeric.passed, numeric.checked, len(numeric.undecided)) == (None, 4, 1)
    assert replace(numeric, undecided=()).passed is True


def test_the_verb_checks_a_release_against_a_corpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hub = write_hub(tmp_path / "hub")
    pages = tmp_path / "pages.jsonl"
    pages.write_text(
        json.dumps({"url": "https://reports.example/01", "title": "R", "published": "2020-01-01", "text": "4.2 million"})
    )
    given = ["dataset=deepweb", f"dataset.path={hub}", "dataset.ids=2_ferries", f"paths.cache={tmp_path / 'cache'}"]
    assert check_benchmark(["--pages", *given, "tools=corpus", f"tools.path={pages}"]) == 100
    out = capsys.readouterr().out
    assert "2_ferries: NOT admitted" in out
    assert "- https://stats.example/nord: not_in_corpus" in out and "https://reports.example/01" not in out
    assert "numeric_consistency: passed (1 checked)" in out
    assert "no_prompt_leak: passed" in out
    assert out.endswith("1 task: 0 admitted, 1 not, 0 open\n")
    assert check_benchmark([*given, "--json"]) == 100
    (found,) = json.loads(capsys.readouterr().out)
    passed = {check["condition"]: check["passed"] for check in found["checks"]}
    assert (found["admitted"], passed["url_reachability"], passed["no_prompt_leak"]) == (False, None, True)
    with pytest.raises(InputError, match="opens no pages"):
        check_benchmark(["--pages", *given, "tools=none"])
    with pytest.raises(ConfigError, match="did you mean --pages"):
        check_benchmark(["--page", *given])
    with pytest.raises(InputError, match="has no matrix tasks"):
        check_benchmark([f"paths.cache={tmp_path / 'cache'}"])


def test_types_are_those_of_the_reference() -> None:
    assert {one.type for one in task().cells} == set(AnswerType)
