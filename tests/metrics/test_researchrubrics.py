"""ResearchRubrics: signed weights, ternary and binary, saved lines, failed calls, every call's content."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from dreambench.config.locations import bundled
from dreambench.datasets.dataset import Dataset
from dreambench.errors import ConfigError, DatasetError, ProviderError
from dreambench.judges.embedded import EmbeddedJudge
from dreambench.judges.llm import LLMJudge
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.metric import Subject
from dreambench.metrics.researchrubrics.metric import ResearchRubrics
from dreambench.records import Report, Status, Task
from tests.apps.command import ROOT
from tests.support import measuring
from tests.support.gateway import TestGateway
from tests.support.openai_stub import OpenAIStub, saying
from tests.support.scripted_judge import ScriptedJudge

SHELF = RubricShelf([bundled("rubrics")])
DATA = ROOT / "tests" / "data" / "researchrubrics"
TASKS, RESULTS = str(DATA / "tasks.jsonl"), str(DATA / "results.jsonl")
REPORT = "The Akashi bridge was opened in 1998. One kind of cable was used. Nothing fell."
ANSWERS = {"opened": "satisfied", "cable": "partly", "collapsed": "satisfied"}


def metric(**keys: Any) -> ResearchRubrics:
    return ResearchRubrics(name="rr", shelf=SHELF, **{"rubrics": TASKS, **keys})


def answers(gateway: TestGateway, said: dict[str, str] = ANSWERS) -> ScriptedJudge:
    def script(rubric: Any, context: Any, repeat: int) -> dict[str, Any]:
        def one(text: str) -> dict[str, str]:
            return {"reason": "r", "quote": "", "answer": next(value for word, value in said.items() if word in text)}

        return {name: one(text) for name, text in context.items.items()}

    return ScriptedJudge(name="j", gateway=gateway, script=script)


def test_signed_weights_over_the_positive_ones(gateway: TestGateway) -> None:
    made = metric()
    rows = measuring.judgments(made, REPORT, answers(gateway))
    assert [(row.family, row.label, row.value, row.weight) for row in rows] == [
        ("Explicit Criteria", "satisfied", 1.0, 5.0),
        ("Synthesis of Information", "partly", 0.5, 3.0),
        ("Explicit Criteria", "satisfied", 1.0, -4.0),
    ]
    assert len(gateway.records) == 3, "one call a criterion, as the benchmark asks"
    values = measuring.values(made, rows)
    assert values["compliance"] == pytest.approx((5 + 1.5 - 4) / 8)
    assert values["Explicit Criteria"] == pytest.approx((5 - 4) / 5)
    assert values["penalties"] == pytest.approx(4 / 8)


def test_a_report_can_fall_below_zero_and_a_batch_asks_once(gateway: TestGateway) -> None:
    made = metric(batch=None)
    said = {"opened": "not_satisfied", "cable": "not_satisfied", "collapsed": "satisfied"}
    rows = measuring.judgments(made, REPORT, answers(gateway, said))
    assert measuring.values(made, rows)["compliance"] == pytest.approx(-0.5)
    assert len(gateway.records) == 1


def test_binary_has_no_middle_and_values_can_be_remapped(gateway: TestGateway) -> None:
    assert metric(scale="binary").rubric_variant == "default,binary"
    with pytest.raises(ConfigError, match="partly: is no label"):
        metric(scale="binary", values={"partly": 0.5})
    made = metric(values={"partly": 0.0})
    assert measuring.values(made, measuring.judgments(made, REPORT, answers(gateway)))["compliance"] == pytest.approx(1 / 8)


def test_a_failed_call_is_an_error_and_no_score(gateway: TestGateway) -> None:
    def script(rubric: Any, context: Any, repeat: int) -> dict[str, Any]:
        if any("cable" in text for text in context.items.values()):
            raise ProviderError("down", code="server_error")
        return {name: {"reason": "r", "quote": "", "answer": "satisfied"} for name in context.items}

    judge = ScriptedJudge(name="j", gateway=gateway, script=script)
    rows = measuring.judgments(metric(), REPORT, judge)
    assert [row.status for row in rows] == [Status.SCORED, Status.JUDGE_ERROR, Status.SCORED]
    assert measuring.values(metric(), rows)["compliance"] is None
    assert measuring.values(metric(missing_policy="zero"), rows)["compliance"] == pytest.approx((5 - 4) / 8)


def subject(task_id: str) -> Subject:
    return Subject(Task(task_id, "q", "d"), Report(task_id, "a", REPORT))


def test_saved_lines_are_taken_as_they_are() -> None:
    made = metric(rubrics=None, saved=RESULTS)
    assert not made.asks
    rows = asyncio.run(made.measure(subject("t"), None, 0))
    assert measuring.values(made, rows)["compliance"] == pytest.approx(6.5 / 8)
    failed = asyncio.run(made.measure(subject("u"), None, 0))
    assert [(row.status, row.reason_code) for row in failed] == [(Status.SCORED, ""), (Status.JUDGE_ERROR, "call_failed")]
    assert measuring.values(made, failed)["compliance"] is None
    original = metric(rubrics=None, saved=RESULTS, missing_policy="zero")
    assert measuring.values(original, failed)["compliance"] == pytest.approx(0.5), "the original's number"
    (missing,) = asyncio.run(made.measure(subject("v"), None, 0))
    assert missing.status is Status.MISSING_RUN


def test_wrong_files_are_refused_with_their_lines(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="neither criteria"):
        metric(rubrics=None)
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"sample_id": "t", "rubrics": [{"criterion": "x"}]}\n')
    with pytest.raises(DatasetError, match=r"bad.jsonl:1: rubrics\[0\] needs a text"):
        metric(rubrics=str(bad))
    bad.write_text('{"sample_id": "t", "rubric_title": "x", "verdict": "Maybe", "score": 1, "weight": 1}\n')
    with pytest.raises(DatasetError, match="field 'verdict' is 'Maybe'"):
        metric(rubrics=None, saved=str(bad))
    strange = Dataset(tasks=[Task("z", "q", "d")], reports=[Report("z", "a", "x")])
    assert "has no criteria for any task" in metric().prepare(strange)[0].what


def test_every_call_holds_report_and_criterion(gateway: TestGateway) -> None:
    def answer(word: str) -> dict[str, Any]:
        return {"i1": {"reason": "r", "quote": "opened in 1998" if word == "satisfied" else "", "answer": word}}

    with OpenAIStub() as stub:
        for word, label in ANSWERS.items():
            stub.always(
                saying(answer(label)),
                when=lambda body, word=word: f" {word}" in body["messages"][1]["content"].split("Criteria that")[1],
            )
        judge = LLMJudge(name="j", gateway=gateway, model="openai/m", api_base=stub.url)

        async def run() -> Any:
            try:
                return await metric().measure(measuring.subject(REPORT), judge, 0)
            finally:
                await judge.close()

        rows = asyncio.run(run())
        bodies = stub.bodies
    assert [row.label for row in rows] == ["satisfied", "partly", "satisfied"]
    assert len(bodies) == 3
    asked = []
    for body in bodies:
        system, user = (message["content"] for message in body["messages"])
        assert "data" in system and "as of 2025-01-01" in system
        assert REPORT in user and measuring.TASK.query in user
        assert "describe a fault" in user and "not_satisfied" in user
        asked += [
            name for name in ("opened in 1998", "kinds of cable", "bridge collapsed") if name in user.split("Criteria that")[1]
        ]
        schema = body["tools"][0]["function"]["parameters"]
        assert schema["required"] == ["i1"]
    assert sorted(asked) == ["bridge collapsed", "kinds of cable", "opened in 1998"]
    assert REPORT[rows[0].report_start : rows[0].report_end] == "opened in 1998"


def test_the_embedded_judge_answers_by_relation(gateway: TestGateway) -> None:
    judge = EmbeddedJudge(name="embedded", gateway=gateway)
    assert all(judge.refusal(rubric) is None for scale in ("ternary", "binary") for rubric in metric(scale=scale).rubrics())
    rows = measuring.judgments(metric(), REPORT, judge)
    assert rows[0].label == "satisfied" and REPORT[rows[0].report_start : rows[0].report_end].startswith("The Akashi")
    assert rows[2].value == 0.0, "nothing in the report says so"
