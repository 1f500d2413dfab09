"""Key-Information Coverage: the worked example both ways, what is missing is asked again, no protocol is no zero."""

from __future__ import annotations

from typing import Any

import pytest

from dreambench.config.locations import bundled
from dreambench.errors import ProviderError
from dreambench.judges.rubric import Rubric, RubricShelf
from dreambench.metrics.kic import KeyInformationCoverage
from dreambench.protocols.model import Protocol
from dreambench.records import Evidence, Status
from tests.support import measuring
from tests.support.gateway import TestGateway
from tests.support.protocol import OneProtocol, fact, protocol
from tests.support.scripted_judge import ScriptedJudge

SHELF = RubricShelf([bundled("rubrics")])
REPORT = "Many bridges were opened. " + " ".join(f"Bridge {n} was opened." for n in range(1, 12))


def kic(given: Protocol | None, **keys: Any) -> KeyInformationCoverage:
    return KeyInformationCoverage(name="kic", shelf=SHELF, protocols=OneProtocol(given), **keys)


def stated(question: str) -> dict[str, str]:
    """Yes for the bridges 1 to 11, which the report names."""
    number = int(question.split("bridge ")[1].split()[0])
    yes = number < 12
    return {"reason": "r", "quote": f"Bridge {number} was opened" if yes else "", "answer": "yes" if yes else "no"}


def script(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
    if rubric.kind.name == "yes_no":
        return stated(context.item)
    return {name: stated(question) for name, question in context.items.items()}


def judge(gateway: TestGateway, answers: Any = script) -> ScriptedJudge:
    return ScriptedJudge(name="j", gateway=gateway, script=answers)


@pytest.mark.parametrize("batched", [True, False])
def test_the_worked_example_both_ways(gateway: TestGateway, batched: bool) -> None:
    metric = kic(protocol(15), batched=batched)
    rows = measuring.judgments(metric, REPORT, judge(gateway))
    assert measuring.values(metric, rows)["mean"] == pytest.approx(0.7333, abs=5e-5)
    assert len(gateway.records) == (1 if batched else 15)
    assert [row.label for row in rows] == ["yes"] * 11 + ["no"] * 4
    assert REPORT[rows[2].report_start : rows[2].report_end] == "Bridge 3 was opened"
    assert rows[2].evidence == (Evidence("https://pages.example/3", "", "2020-01-01", "Bridge 3 was opened in 2019."),)
    assert rows[14].report_start is None and rows[14].value == 0.0
    assert sum(row.cost or 0 for row in rows) == pytest.approx(0.01 if batched else 0.15)


def test_the_two_ways_are_told_apart() -> None:
    one, other = kic(protocol(8)), kic(protocol(8), batched=False)
    assert (one.rubric_variant, other.rubric_variant) == ("default", "default+one_by_one")
    assert one.identity() != other.identity()


@pytest.mark.parametrize("batched", [True, False])
def test_a_question_holds_the_report_and_the_facts_but_no_tools(batched: bool) -> None:
    (rubric,) = kic(protocol(8), batched=batched).rubrics()
    more = {"items": {"k1": "Is it 1?", "k2": "Is it 2?"}} if batched else {"item": "Is it 1?"}
    system, user = rubric.render(rubric.kind.context(question="Q?", as_of="2025-01-01", report="The text.", **more))
    assert "as of 2025-01-01" in system["content"]
    assert user["content"].index("The text.") < user["content"].index("Is it 1?")
    assert ("k2: Is it 2?" in user["content"]) is batched


def test_only_what_is_missing_is_asked_again(gateway: TestGateway) -> None:
    asked: list[list[str]] = []

    def forgetful(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
        asked.append(list(context.items))
        answers = script(rubric, context, repeat)
        return {name: answers[name] for name in list(answers)[: 5 if len(asked) == 1 else 2]}

    metric = kic(protocol(8))
    rows = measuring.judgments(metric, REPORT, judge(gateway, forgetful))
    assert asked == [[f"k{n}" for n in range(1, 9)], ["k6", "k7", "k8"]]
    assert [row.status for row in rows] == [Status.SCORED] * 7 + [Status.JUDGE_ERROR]
    assert rows[7].reason_code == "missing_answer"
    assert measuring.values(metric, rows)["mean"] == 1.0


def test_repeats_are_asked_apart(gateway: TestGateway) -> None:
    metric = kic(protocol(8), repeats=2)
    for repeat in range(metric.repeats):
        measuring.judgments(metric, REPORT, judge(gateway), repeat)
    assert [record.source for record in gateway.records] == ["provider", "provider"]


@pytest.mark.parametrize(
    ("given", "why"), [(None, "no_protocol"), (protocol(0), "no_kic_items"), (protocol(7), "protocol_invalid")]
)
def test_without_a_valid_protocol_a_report_has_no_score(gateway: TestGateway, given: Protocol | None, why: str) -> None:
    metric = kic(given)
    (row,) = measuring.judgments(metric, REPORT, judge(gateway))
    assert (row.status, row.reason_code, row.value) == (Status.NOT_APPLICABLE, why, None)
    assert row.rationale == (f"fewer than 8 facts were found: {len(given.kic)}" if given else "")
    assert set(measuring.values(metric, [row]).values()) == {None}
    assert gateway.records == []


def test_a_quote_that_is_not_there_is_marked(gateway: TestGateway) -> None:
    def inventive(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
        return {name: {"reason": "r", "quote": "Nobody wrote this", "answer": "yes"} for name in context.items}

    rows = measuring.judgments(kic(protocol(8)), REPORT, judge(gateway, inventive))
    assert {(row.reason_code, row.value, row.report_start) for row in rows} == {("quote_not_found", 1.0, None)}


def test_trouble_is_no_zero(gateway: TestGateway) -> None:
    def down(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
        raise ProviderError("down", code="server_error", permanent=True)

    for batched in (True, False):
        metric = kic(protocol(8), batched=batched)
        rows = measuring.judgments(metric, REPORT, judge(gateway, down))
        assert {(row.status, row.reason_code) for row in rows} == {(Status.JUDGE_ERROR, "server_error")}
        assert measuring.values(metric, rows)["mean"] is None


def test_facts_that_change_with_time_stand_apart(gateway: TestGateway) -> None:
    facts = [fact(n, time_sensitive=n > 8) for n in range(5, 15)]
    metric = kic(protocol(kic=facts))
    found = measuring.values(metric, measuring.judgments(metric, REPORT, judge(gateway)))
    assert found == {"mean": pytest.approx(0.7), "time_sensitive": pytest.approx(0.5), "lasting": 1.0}
