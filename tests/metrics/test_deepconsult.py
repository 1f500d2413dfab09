"""DeepConsult: signed gaps, votes, ties, both orders, saved results, every call's content."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dreambench.config.locations import bundled
from dreambench.datasets.dataset import Dataset
from dreambench.errors import DatasetError, ProviderError
from dreambench.judges.embedded import EmbeddedJudge
from dreambench.judges.llm import LLMJudge
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.aggregation import dataset_scores, report_values
from dreambench.metrics.deepconsult.metric import DeepConsult, without_links
from dreambench.metrics.deepconsult.votes import DIMENSIONS, overall_net_win_rate
from dreambench.metrics.metric import Subject
from dreambench.records import Judgment, Report, Status, Task
from tests.apps.command import ROOT
from tests.support import measuring
from tests.support.gateway import TestGateway
from tests.support.openai_stub import OpenAIStub, saying
from tests.support.scripted_judge import ScriptedJudge

SHELF = RubricShelf([bundled("rubrics")])
RESULTS = str(ROOT / "tests" / "data" / "deepconsult" / "deep_research_results_example.jsonl")
OLD, NEW = "Old bridges were of stone [1](https://a.example/x_(y)).", "New bridges are of steel [2]."
TASK = Task("1", "How did bridges change?", "deepconsult")
DATASET = Dataset(tasks=[TASK], reports=[Report("1", "baseline", OLD), Report("1", "ari", NEW)])


def metric(dataset: Dataset = DATASET, **keys: Any) -> DeepConsult:
    made = DeepConsult(name="dc", shelf=SHELF, **keys)
    assert made.prepare(dataset) == []
    return made


def subject(text: str = NEW, agent: str = "ari", task: Task = TASK) -> Subject:
    return Subject(task, Report(task.id, agent, text))


def rows_of(made: DeepConsult, judge: Any = None, about: Subject | None = None) -> list[Judgment]:
    return asyncio.run(made.measure(about or subject(), judge, 0))


def table(made: DeepConsult, rows: list[Judgment]) -> pl.DataFrame:
    return measuring.item_table(made, rows)


def preferring(gateway: TestGateway, words: str, gap: int) -> ScriptedJudge:
    """Prefers the report that holds `words`, wherever it is shown."""

    def script(rubric: Any, context: Any, repeat: int) -> dict[str, Any]:
        side = "first" if words in context.first else "second"
        return {criterion.id: {"reason": "r", "preferred": side, "gap": gap} for criterion in context.criteria}

    return ScriptedJudge(name="j", gateway=gateway, script=script)


def test_both_orders_and_three_trials_give_a_score_and_votes(gateway: TestGateway) -> None:
    made = metric()
    rows = rows_of(made, preferring(gateway, "steel", 3))
    assert len(gateway.records) == 6
    assert len(rows) == 6 * 4
    values = measuring.values(made, rows)
    assert values["score"] == pytest.approx((3 + 5) / 10)
    assert (values["win"], values["tie"], values["lose"], values["net_win_rate_pooled"]) == (1, 0, 0, 1)


def test_a_judge_that_prefers_a_place_gives_ties(gateway: TestGateway) -> None:
    def script(rubric: Any, context: Any, repeat: int) -> dict[str, Any]:
        return {criterion.id: {"reason": "r", "preferred": "first", "gap": 4} for criterion in context.criteria}

    made = metric()
    values = measuring.values(made, rows_of(made, ScriptedJudge(name="j", gateway=gateway, script=script)))
    assert (values["score"], values["tie"], values["net_win_rate_pooled"]) == (0.5, 1, None)


def test_a_preference_without_a_gap_still_votes(gateway: TestGateway) -> None:
    made = metric(trials=1)
    values = measuring.values(made, rows_of(made, preferring(gateway, "steel", 0)))
    assert (values["score"], values["win"]) == (0.5, 1)


def test_saved_votes_give_the_original_numbers() -> None:
    """Of the example: gaps 3 2 3 2 1 0 -> 5 + 11/6 - 0/6; 1 1 2 1 2 1 against; zeros with three votes each; 0 0 0 0 0 -1."""
    made = metric(saved=RESULTS)
    rows = rows_of(made)
    values = measuring.values(made, rows)
    assert values["instruction_following_score"] == pytest.approx((5 + 11 / 6) / 10)
    assert values["comprehensiveness_score"] == pytest.approx((5 - 8 / 6) / 10)
    assert values["completeness_score"] == 0.5
    assert values["writing_quality_score"] == pytest.approx((5 - 1 / 6) / 10)
    assert values["score"] == pytest.approx(0.5 + (11 - 8 + 0 - 1) / 6 / 4 / 10)
    assert [values[f"{dimension}_win"] for dimension in DIMENSIONS] == [1, 0, 0, 1]
    assert [values["win"], values["tie"], values["lose"]] == [0.5, 0.25, 0.25]
    scores = dataset_scores(report_values(table(made, rows), [made]), seed=0)
    pooled = dict(scores.filter(pl.col("aggregation") == "micro").select("variant", "value").iter_rows())
    rates = {dimension: pooled[f"{dimension}_net_win_rate"] for dimension in DIMENSIONS}
    assert list(rates.values()) == [1, 0, None, 1]
    assert overall_net_win_rate(rates) == 0.5
    assert overall_net_win_rate({}) is None


def test_a_failed_question_is_an_error_and_a_missing_one_a_missing_run() -> None:
    made = metric(saved=RESULTS)
    failed = rows_of(made, about=subject(task=Task("2", "Why did it fail?", "d")))
    assert {row.status for row in failed} == {Status.JUDGE_ERROR}
    assert measuring.values(made, failed)["score"] is None
    (missing,) = rows_of(made, about=subject(task=Task("3", "Never asked?", "d")))
    assert missing.status is Status.MISSING_RUN


def test_a_failed_call_leaves_no_score(gateway: TestGateway) -> None:
    def script(rubric: Any, context: Any, repeat: int) -> dict[str, Any]:
        if repeat == 1 and "steel" in context.first:
            raise ProviderError("down", code="server_error")
        return {criterion.id: {"reason": "r", "preferred": "first", "gap": 1} for criterion in context.criteria}

    made = metric()
    rows = rows_of(made, ScriptedJudge(name="j", gateway=gateway, script=script))
    assert [row.status for row in rows].count(Status.JUDGE_ERROR) == 4
    assert len({row.item for row in rows}) == 24
    assert measuring.values(made, rows)["score"] is None


def test_the_baseline_is_not_compared_with_itself_and_must_be_there(gateway: TestGateway) -> None:
    (row,) = rows_of(metric(), preferring(gateway, "steel", 1), subject(OLD, "baseline"))
    assert (row.status, row.reason_code) == (Status.NOT_APPLICABLE, "is_the_baseline")
    (problem,) = DeepConsult(name="dc", shelf=SHELF, baseline="baselin").prepare(DATASET)
    assert problem.type == "metric.dc.baseline=baseline"
    three = Dataset(tasks=[TASK], reports=[*DATASET.reports, Report("1", "other", "x")])
    assert "others" in DeepConsult(name="dc", shelf=SHELF, saved=RESULTS).prepare(three)[0].what


def test_wrong_results_are_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"question": "q", "success": true, "score_result": {}}\n')
    with pytest.raises(DatasetError, match="instruction_following has no raw_preferences"):
        DeepConsult(name="dc", shelf=SHELF, saved=str(bad))


def test_links_go_and_numeric_markers_stay() -> None:
    assert without_links(OLD) == "Old bridges were of stone ."
    assert without_links(NEW) == NEW
    assert without_links("![a](b) [c] (d) [e](") == " [c] (d) [e]("


def test_the_embedded_judge_is_refused(gateway: TestGateway) -> None:
    (rubric,) = metric().rubrics()
    assert "no rules for questions of kind pair_preferences" in str(EmbeddedJudge(name="e", gateway=gateway).refusal(rubric))


def test_every_call_holds_both_reports_in_its_order(gateway: TestGateway) -> None:
    preference = {"reason": "r", "preferred": "second", "gap": 2}
    with OpenAIStub() as stub:
        stub.always(saying(dict.fromkeys(DIMENSIONS, preference)))
        judge = LLMJudge(name="j", gateway=gateway, model="openai/m", api_base=stub.url)

        async def run() -> list[Judgment]:
            try:
                return await metric(trials=1).measure(subject(), judge, 0)
            finally:
                await judge.close()

        rows = asyncio.run(run())
        bodies = stub.bodies
    assert len(bodies) == 2
    orders = set()
    for body in bodies:
        system, user = (message["content"] for message in body["messages"])
        assert "do not follow" in system
        assert TASK.query in user and "https://a.example" not in user, "links are taken out"
        orders.add(user.index("steel [2]") < user.index("stone"))
        assert all(f"{dimension} [{dimension}]" in user for dimension in DIMENSIONS)
        assert body["tools"][0]["function"]["parameters"]["required"] == sorted(DIMENSIONS)
    assert orders == {True, False}
    assert [row.label for row in rows] == ["candidate"] * 4 + ["baseline"] * 4
    assert rows[0].value == pytest.approx(0.7) and rows[4].value == pytest.approx(0.3)
