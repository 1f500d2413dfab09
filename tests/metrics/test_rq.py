"""Reasoning Quality: the arithmetic is code, words that cannot be verified do not count, both dialects give the same rows."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dreambench.config.locations import bundled
from dreambench.datasets import Dataset
from dreambench.errors import ConfigError, ProviderError
from dreambench.evaluators.agent import AgentLimits
from dreambench.evaluators.agent_trajectory import Trajectories
from dreambench.judges.judge import Judge
from dreambench.judges.rubric import Rubric, RubricShelf
from dreambench.metrics.metric import Subject
from dreambench.metrics.rq import ReasoningQuality
from dreambench.protocols.model import Protocol
from dreambench.records import Judgment, Report, Status, Task
from dreambench.tools.toolset import NoTools
from tests.support import measuring
from tests.support.agents import asks, corpus, is_turn, model, step, turn
from tests.support.gateway import TestGateway
from tests.support.openai_stub import OpenAIStub, saying
from tests.support.protocol import OneProtocol, protocol
from tests.support.scripted_judge import ScriptedJudge

SHELF = RubricShelf([bundled("rubrics")])
REPORT = "Bridge 3 bears 900 tons. Therefore it never fails. Wood is weak. Steel is cheap. Nobody paints it."
QUOTES = ["Bridge 3 bears 900 tons", "it never fails", "Wood is weak", "Steel is cheap"]
EVIDENCE = {"url": "https://pages.example/3", "evidence": "It bears 300 tons"}
EXAMPLE = [
    ["refuted_step", "unsupported_inference"],
    [],
    ["unsupported_inference", "ignored_counter_evidence", "minor_gap"],
    ["minor_gap"],
    ["refuted_step", "missing_step", "refuted_step", "unsupported_inference"],
]
"""The worked example's deductions: -3 -2, none, -2 -2 -1, -1, -3 -3 -3 -2."""


@pytest.fixture
def stub() -> Iterator[OpenAIStub]:
    with OpenAIStub() as server:
        yield server


def deductions(*kinds: str, **changed: str) -> dict[str, Any]:
    return {
        "chain": "The report argues from weight.",
        "deductions": [
            {"reason": "r", "kind": kind, "quote": QUOTES[number], **EVIDENCE, **changed} for number, kind in enumerate(kinds)
        ],
    }


def script(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
    """Opens page 3, then deducts what the example says for the question's number."""
    if rubric.kind.name == "agent_step":
        return step("finish") if context.steps else step("page_visit", url="https://pages.example/3")
    return deductions(*EXAMPLE[int(context.item.split()[3]) - 1])


def rq(tools: NoTools, given: Protocol | None, **keys: Any) -> ReasoningQuality:
    keys = {"trajectories": Trajectories(), **keys}
    return ReasoningQuality(name="rq", shelf=SHELF, tools=tools, protocols=OneProtocol(given), **keys)


def questions(rows: list[Judgment]) -> list[Judgment]:
    return [row for row in rows if row.family == "question"]


def test_the_worked_example(gateway: TestGateway, tmp_path: Path) -> None:
    metric = rq(corpus(tmp_path, gateway), protocol(8, 5))
    rows = measuring.judgments(metric, REPORT, ScriptedJudge(name="j", gateway=gateway, script=script))
    assert [row.label for row in questions(rows)] == ["5", "10", "5", "9", "0"]
    assert measuring.values(metric, rows) == {"mean": pytest.approx(0.58)}
    found = [row for row in rows if row.family == "deduction"]
    assert [row.label for row in found] == [kind for kinds in EXAMPLE for kind in kinds]
    assert [REPORT[row.report_start : row.report_end] for row in found[:2]] == QUOTES[:2]
    assert found[0].evidence[0].url == EVIDENCE["url"] and found[0].evidence[0].quote == EVIDENCE["evidence"]
    assert "-3 refuted_step, -2 unsupported_inference" in questions(rows)[0].rationale


def test_points_are_configured(gateway: TestGateway, tmp_path: Path) -> None:
    metric = rq(corpus(tmp_path, gateway), protocol(8, 5), points={"minor_gap": 10})
    rows = measuring.judgments(metric, REPORT, ScriptedJudge(name="j", gateway=gateway, script=script))
    assert [row.label for row in questions(rows)] == ["5", "10", "0", "0", "0"]
    with pytest.raises(ConfigError) as raised:
        rq(corpus(tmp_path, gateway), protocol(8, 5), points={"minor_gp": 1, "minor_gap": -1})
    assert "metric.rq.points.minor_gp: is no kind of deduction" in str(raised.value)
    assert "metric.rq.points.minor_gap: -1 is below 0" in str(raised.value)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"quote": "It sank in 1990"}, "quote_not_found"),
        ({"evidence": "It bears 900 tons of gold"}, "evidence_not_found"),
        ({"url": "https://nowhere.example"}, "evidence_not_found"),
        ({"evidence": "", "url": ""}, "evidence_missing"),
    ],
)
@pytest.mark.parametrize("mode", ["native", "json"])
def test_words_that_cannot_be_verified_go_back_once_and_are_then_dropped(
    mode: str, changed: dict[str, str], why: str, stub: OpenAIStub, gateway: TestGateway, tmp_path: Path
) -> None:
    stub.script(*turn(mode, ("page_visit", {"url": "https://pages.example/3"})), *turn(mode), when=is_turn)
    stub.always(saying(deductions("refuted_step", **changed)), when=asks("deductions"))
    metric = rq(corpus(tmp_path, gateway), protocol(8, 1))
    rows = measured(metric, model(stub, gateway, tool_mode=mode))
    assert [(row.family, row.label, row.value, row.status, row.reason_code) for row in rows] == [
        ("question", "10", 1.0, Status.SCORED, ""),
        ("deduction", "refuted_step", None, Status.UNANSWERED, why),
    ]
    assert "1 dropped, their words could not be verified" in rows[0].rationale
    assert measuring.values(metric, rows)["mean"] == 1.0
    *_, first, second = stub.bodies
    assert second["messages"][: len(first["messages"])] == first["messages"]
    assert "- deductions: Value error, deduction 1: " in second["messages"][-1]["content"]


@pytest.mark.parametrize("mode", ["native", "json"])
def test_every_question_is_asked_with_its_plan_and_what_was_found(
    mode: str, stub: OpenAIStub, gateway: TestGateway, tmp_path: Path
) -> None:
    look, end = turn(mode, ("page_visit", {"url": "https://pages.example/3"}))[0], turn(mode)[0]
    stub.always(end, when=lambda body: is_turn(body) and "It bears 300 tons" in str(body["messages"]))
    stub.always(look, when=is_turn)
    for number, kinds in enumerate(EXAMPLE, 1):
        stub.always(
            saying(deductions(*kinds)),
            when=lambda body, number=number: (
                asks("deductions")(body) and f"Why is span {number} steel?" in str(body["messages"])
            ),
        )
    kept = Trajectories()
    kept.open(tmp_path / "run")
    metric = rq(corpus(tmp_path, gateway), protocol(8, 5), trajectories=kept)
    rows = measured(metric, model(stub, gateway, tool_mode=mode))
    assert measuring.values(metric, rows) == {"mean": pytest.approx(0.58)}
    assert len(stub.requests) == 15, "per question a look-up, an end and a verdict"
    for number in range(1, 6):
        mine = [body for body in stub.bodies if f"Why is span {number} steel?" in str(body["messages"])]
        assert len(mine) == 3
        assert all(f"The load of span {number}." in body["messages"][1]["content"] for body in mine)
        assert all(REPORT in body["messages"][1]["content"] for body in mine)
    for row in questions(rows):
        (reference,) = row.evidence
        record = json.loads((tmp_path / "run" / reference.url).read_text(encoding="utf-8"))
        assert record["job"]["item"] in row.rationale and record["dialect"] == mode and record["calls"] == 1


def measured(metric: ReasoningQuality, judge: Judge) -> list[Judgment]:
    async def run() -> list[Judgment]:
        try:
            subject = Subject(measuring.TASK, Report("t", "a", REPORT))
            return await metric.measure(subject, judge, 0)
        finally:
            await judge.close()

    return asyncio.run(run())


@pytest.mark.parametrize(("given", "why"), [(None, "no_protocol"), (protocol(8, 0), "no_rq_items")])
def test_without_questions_a_report_has_no_score(
    gateway: TestGateway, tmp_path: Path, given: Protocol | None, why: str
) -> None:
    metric = rq(corpus(tmp_path, gateway), given)
    (row,) = measuring.judgments(metric, REPORT, ScriptedJudge(name="j", gateway=gateway, script=script))
    assert (row.status, row.reason_code, row.value) == (Status.NOT_APPLICABLE, why, None)
    assert measuring.values(metric, [row])["mean"] is None


def test_without_tools_that_search_it_refuses() -> None:
    with pytest.raises(ConfigError, match="tools=none cannot"):
        rq(NoTools(), protocol(8, 1))


def test_tasks_without_a_date_are_refused(gateway: TestGateway, tmp_path: Path) -> None:
    metric = rq(corpus(tmp_path, gateway), protocol(8, 1))
    assert metric.prepare(Dataset([measuring.TASK])) == []
    (problem,) = metric.prepare(Dataset([measuring.TASK, Task("x", "q", "d"), Task("y", "q", "d")]))
    assert problem.what == "searches, and task x and 1 more has no date to search up to"


def test_trouble_is_no_grade(gateway: TestGateway, tmp_path: Path) -> None:
    def down(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
        if "span 2" in str(context):
            raise ProviderError("down", code="server_error", permanent=True)
        return script(rubric, context, repeat)

    metric = rq(corpus(tmp_path, gateway), protocol(8, 5))
    rows = questions(measuring.judgments(metric, REPORT, ScriptedJudge(name="j", gateway=gateway, script=down)))
    assert [row.status for row in rows] == [Status.SCORED, Status.JUDGE_ERROR, *[Status.SCORED] * 3]
    assert measuring.values(metric, rows)["mean"] == pytest.approx((5 + 5 + 9 + 0) / 40)


def test_trouble_with_a_page_is_a_tool_error(gateway: TestGateway, tmp_path: Path) -> None:
    tools = corpus(tmp_path, gateway)

    async def unreachable(name: str, arguments: Any, as_of: Any = None) -> Any:
        raise ProviderError("slow", code="timeout")

    tools.call = unreachable  # type: ignore[method-assign]
    metric = rq(tools, protocol(8, 1))
    (row,) = measuring.judgments(metric, REPORT, ScriptedJudge(name="j", gateway=gateway, script=script))
    assert (row.status, row.reason_code, row.value) == (Status.TOOL_ERROR, "timeout", None)


def test_a_budget_that_ended_the_work_is_marked(gateway: TestGateway, tmp_path: Path) -> None:
    metric = rq(corpus(tmp_path, gateway), protocol(8, 1), limits=AgentLimits(steps=1))
    rows = measuring.judgments(metric, REPORT, ScriptedJudge(name="j", gateway=gateway, script=script))
    assert (questions(rows)[0].reason_code, questions(rows)[0].label) == ("budget_steps", "5")
