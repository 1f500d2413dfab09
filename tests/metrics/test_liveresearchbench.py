"""LiveResearchBench: checklists, ladders recomputed, depth in both orders, saved gradings, every call's content."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from dreambench.config.locations import bundled
from dreambench.datasets.dataset import Dataset
from dreambench.errors import ConfigError, DatasetError, ProviderError
from dreambench.judges.embedded import EmbeddedJudge
from dreambench.judges.llm import LLMJudge
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.liveresearchbench.metric import LiveResearchBench
from dreambench.metrics.liveresearchbench.table import PARTS, ladder, outcome
from dreambench.metrics.metric import Subject
from dreambench.records import Judgment, Report, Status
from tests.apps.command import ROOT
from tests.support import measuring
from tests.support.gateway import TestGateway
from tests.support.openai_stub import OpenAIStub, saying
from tests.support.scripted_judge import ScriptedJudge

SHELF = RubricShelf([bundled("rubrics")])
DATA = ROOT / "tests" / "data" / "liveresearchbench"
LISTS, GRADED = str(DATA / "questions.jsonl"), str(DATA / "incremental")
REPORT = (
    "The Akashi bridge was opened in 1998. It was opened in 2001. It has 3 cables [1].\n\n## Sources\n\n[1] https://a.example/x"
)
OTHER = "Bridges are old."
DATASET = Dataset(
    tasks=[measuring.TASK], reports=[Report("t", "a", REPORT), Report("t", "odr", OTHER), Report("t", "b", REPORT)]
)
DEPTH = ("granularity", "insight", "critique", "evidence", "density")


def metric(**keys: Any) -> LiveResearchBench:
    made = LiveResearchBench(name="lrb", shelf=SHELF, **{"checklists": LISTS, "reference_agent": "odr", **keys})
    assert made.prepare(DATASET) == []
    return made


def script(rubric: Any, context: Any, repeat: int) -> dict[str, Any]:
    """Passes all but the last item; finds two faults and says 100; gives the Akashi report 4 and the other 3, place 1 more."""
    match rubric.kind.name:
        case "checklist":
            last = list(context.items)[-1]
            return {name: {"reason": "r", "quote": "", "answer": "no" if name == last else "yes"} for name in context.items}
        case "issues":
            faults = [{"issue": "two dates", "quote": "opened in 2001"}, {"issue": "again", "quote": ""}]
            return {"issues": faults, "total": 3, "reason": "r", "score": 100}
    first, second = (4, 3) if "Akashi" in context.first else (3, 4)
    return {criterion.id: {"reason": "r", "first": first, "second": second} for criterion in context.criteria}


def test_the_published_ladder_and_the_tie_rule() -> None:
    expected = {0: 100, 1: 90, 2: 90, 3: 80, 4: 80, 5: 70, 6: 70, 7: 60, 8: 60, 9: 50, 10: 50, 11: 40, 12: 40, 13: 30, 14: 30}
    expected |= {15: 20, 17: 20, 18: 10, 40: 10}
    assert {faults: ladder(faults) for faults in expected} == expected
    assert [outcome(10, 9), outcome(10, 8.9), outcome(8, 10), outcome(5, 5)] == ["tie", "win", "lose", "tie"]


def test_all_parts_of_a_report(gateway: TestGateway) -> None:
    made = metric()
    rows = measuring.judgments(made, REPORT, ScriptedJudge(name="j", gateway=gateway, script=script))
    values = measuring.values(made, rows)
    assert values["presentation"] == pytest.approx(0.9)
    assert values["coverage"] == pytest.approx(2 / 3)
    assert (values["consistency"], values["consistency_counted"], values["consistency_stated"]) == (0.9, 0.8, 1.0)
    assert values["citation_association_differs"] == 1.0, "the judge's own score is not its ladder's"
    assert (values["depth"], values["depth_tie"]) == (1.0, 0.0)
    fault = next(row for row in rows if row.family == "consistency_fault")
    assert REPORT[fault.report_start : fault.report_end] == "opened in 2001"
    assert len(gateway.records) == 6


def test_a_judge_that_prefers_a_place_gets_half_and_small_differences_tie(gateway: TestGateway) -> None:
    def placed(rubric: Any, context: Any, repeat: int) -> dict[str, Any]:
        return {criterion.id: {"reason": "r", "first": 5, "second": 4} for criterion in context.criteria}

    def close(rubric: Any, context: Any, repeat: int) -> dict[str, Any]:
        return {criterion.id: {"reason": "r", "first": 4.2, "second": 4} for criterion in context.criteria}

    made = metric(parts=["depth"])
    for answers, value, ties in ((placed, 0.5, 0.0), (close, None, 1.0)):
        rows = measuring.judgments(made, REPORT, ScriptedJudge(name=answers.__name__, gateway=gateway, script=answers))
        assert (measuring.values(made, rows)["depth"], measuring.values(made, rows)["depth_tie"]) == (value, ties)


def measured(made: LiveResearchBench, agent: str) -> list[Judgment]:
    return asyncio.run(made.measure(Subject(measuring.TASK, Report("t", agent, REPORT)), None, 0))


def test_the_reference_is_not_compared_with_itself(gateway: TestGateway) -> None:
    judge = ScriptedJudge(name="j", gateway=gateway, script=script)
    subject = Subject(measuring.TASK, Report("t", "odr", OTHER))
    (row,) = asyncio.run(metric(parts=["depth"]).measure(subject, judge, 0))
    assert (row.status, row.reason_code, row.family) == (Status.NOT_APPLICABLE, "is_the_reference", "depth")


def test_saved_gradings_are_found_by_query_and_model() -> None:
    made = metric(saved=GRADED, checklists=None, reference_agent=None, parts=["coverage", "consistency", "depth"])
    one, other = (measuring.values(made, measured(made, agent)) for agent in ("a", "b"))
    assert (one["coverage"], other["coverage"]) == (0.5, 0.0), "the second model keeps its own grades"
    assert (one["consistency"], one["consistency_stated"], one["consistency_differs"]) == (0.8, 0.9, 1.0)
    assert (one["depth"], one["depth_tie"], other["depth"]) == (1.0, 0.5, 0.5)
    nobody = measured(made, "c")
    assert {row.status for row in nobody} == {Status.MISSING_RUN}


def test_items_that_the_judge_forgot_are_unanswered_or_failed_as_in_the_original() -> None:
    for policy, value in (("exclude", None), ("zero", 1 / 3)):
        made = metric(saved=GRADED, reference_agent=None, parts=["coverage"], missing_policy=policy)
        assert measuring.values(made, measured(made, "a"))["coverage"] == (value and pytest.approx(value))


def test_what_cannot_be_is_said_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"required for the part coverage[\s\S]*required for the part depth"):
        LiveResearchBench(name="lrb", shelf=SHELF)
    wrong = LiveResearchBench(name="lrb", shelf=SHELF, parts=["depth"], reference_agent="od")
    assert wrong.prepare(DATASET)[0].type == "metric.lrb.reference_agent=odr"
    bad = tmp_path / "depth_results.jsonl"
    bad.write_text('{"query_id": "t", "model_name": "a", "depth_grading_results": {"winner_comparison_1": "me"}}\n')
    with pytest.raises(DatasetError, match="the winners are"):
        LiveResearchBench(name="lrb", shelf=SHELF, saved=str(bad))


def test_a_failed_comparison_leaves_no_depth(gateway: TestGateway) -> None:
    def failing(rubric: Any, context: Any, repeat: int) -> dict[str, Any]:
        if "Akashi" in context.second:
            raise ProviderError("down", code="server_error")
        return script(rubric, context, repeat)

    made = metric(parts=["depth"])
    rows = measuring.judgments(made, REPORT, ScriptedJudge(name="j", gateway=gateway, script=failing))
    assert [row.status for row in rows] == [Status.SCORED, Status.JUDGE_ERROR]
    assert measuring.values(made, rows)["depth"] is None


def test_the_embedded_judge_covers_and_counts_uncited_claims_alone(gateway: TestGateway) -> None:
    embedded = EmbeddedJudge(name="e", gateway=gateway)
    refused = {rubric.name for rubric in metric().rubrics() if embedded.refusal(rubric)}
    assert refused == {"presentation", "consistency", "depth"}
    made = metric(parts=["coverage", "citation_association"])
    rows = measuring.judgments(made, REPORT, embedded)
    assert [row.rationale for row in rows if row.label == "listed"] == ["1 faults"], "the cited sentence is none"
    assert measuring.values(made, rows)["citation_association_differs"] == 0.0


def test_every_call_holds_what_it_asks_about(gateway: TestGateway) -> None:
    with OpenAIStub() as stub:
        no_quote = {"reason": "r", "quote": "", "answer": "yes"}
        for words, answer in (
            ("Questions on how", {f"i{number}": no_quote for number in range(1, 11)}),
            ("has to cover", {f"i{number}": no_quote for number in range(1, 4)}),
            ("by this table", {"issues": [], "total": 0, "reason": "r", "score": 100}),
            ("How deep", {name: {"reason": "r", "first": 5, "second": 1} for name in DEPTH}),
        ):
            stub.always(saying(answer), when=lambda body, words=words: words in body["messages"][1]["content"])
        judge = LLMJudge(name="j", gateway=gateway, model="openai/m", api_base=stub.url)

        async def run() -> list[Judgment]:
            try:
                return await metric().measure(measuring.subject(REPORT), judge, 0)
            finally:
                await judge.close()

        rows = asyncio.run(run())
        users = [body["messages"][1]["content"] for body in stub.bodies]
        pair = next(body for body in stub.bodies if "How deep" in body["messages"][1]["content"])
    assert {row.family for row in rows} == set(PARTS)
    assert len(users) == 6 and all(measuring.TASK.query in user and "opened in 2001" in user for user in users)
    (covering,) = [user for user in users if "has to cover" in user]
    assert "up to 2025?" in covering, "the placeholder is filled from the task's date"
    assert sum("up to 17: 20" in user and "more: 10" in user for user in users) == 2
    deep = [user for user in users if "How deep" in user]
    assert {user.index("Akashi") < user.index("Bridges are old") for user in deep} == {True, False}
    score = pair["tools"][0]["function"]["parameters"]
    assert '"maximum": 5' in json.dumps(score)
    assert sorted(row.label for row in rows if row.family == "depth") == ["lose", "win"]
