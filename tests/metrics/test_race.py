"""RACE as a metric: what is asked, in which order, what is recomputed from the item table, and saved results in a run."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dreambench.config.locations import bundled
from dreambench.datasets.dataset import Dataset
from dreambench.documents import parse_document
from dreambench.errors import AnswerError, ConfigError, DatasetError
from dreambench.judges.embedded import EmbeddedJudge
from dreambench.judges.llm import LLMJudge
from dreambench.judges.rubric import Rubric, RubricShelf
from dreambench.metrics.metric import MissingPolicy, Subject
from dreambench.metrics.race.article import without_citations
from dreambench.metrics.race.criteria import read_criteria
from dreambench.metrics.race.formula import DIMENSIONS, shares, strict_points
from dreambench.metrics.race.metric import Race
from dreambench.records import Judgment, Report, Status, Task
from tests.apps.command import ROOT, dreambench
from tests.support import measuring
from tests.support.gateway import TestGateway
from tests.support.openai_stub import OpenAIStub, saying
from tests.support.scripted_judge import ScriptedJudge

SHELF = RubricShelf([bundled("rubrics")])
RAW = ROOT / "tests" / "data" / "drb_slice" / "race_claude-3-7-sonnet_raw_results.jsonl"
PUBLISHED = {
    "comprehensiveness": 0.4110,
    "insight": 0.4051,
    "instruction_following": 0.4621,
    "readability": 0.4172,
    "overall": 0.4218,
}
TARGET_TEXT, REFERENCE_TEXT = "Bridges grew longer.", "Steel made bridges longer and cheaper."
CRITERIA = {
    "id": "t",
    "prompt": measuring.TASK.query,
    "dimension_weight": {"comprehensiveness": 0.3, "insight": 0.3, "instruction_following": 0.2, "readability": 0.2},
    "criterions": {
        d: [
            {"criterion": f"{d}: main point", "explanation": f"Why {d}.", "weight": 0.7},
            {"criterion": f"{d}: detail", "explanation": "", "weight": 0.3},
        ]
        for d in DIMENSIONS
    },
}


def written(path: Path, *records: Any) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    return {
        "criteria": written(tmp_path / "criteria.jsonl", CRITERIA),
        "reference": written(tmp_path / "reference.jsonl", {"id": "t", "prompt": "p", "article": REFERENCE_TEXT}),
    }


def race(**keys: Any) -> Race:
    return Race(name="race", shelf=SHELF, **keys)


def score(context: Any, text: str, criterion_id: str) -> float:
    """The target gets 4 and, in criterion c3, 9; the reference gets 6."""
    return 6.0 if text == REFERENCE_TEXT else 9.0 if criterion_id == "c3" else 4.0


def scripted(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
    assert rubric.kind.name == "race_scores"
    return {
        one.id: {
            "reason": f"about {one.criterion}",
            "first": score(context, context.first, one.id),
            "second": score(context, context.second, one.id),
        }
        for one in context.criteria
    }


def judged(metric: Race, gateway: TestGateway, script: Any = scripted) -> list[Judgment]:
    return measuring.judgments(metric, TARGET_TEXT, ScriptedJudge(name="j", gateway=gateway, script=script))


def test_scores_can_be_recomputed_from_the_item_table_alone(files: dict[str, str], gateway: TestGateway) -> None:
    metric = race(**files)
    rows = judged(metric, gateway)
    assert len(rows) == 2 * 8
    criteria = read_criteria(files["criteria"], "criteria").by_id["t"]
    expected = shares(strict_points(criteria, {name: (9.0 if name == "c3" else 4.0, 6.0, "") for name in criteria.by_id()}))
    assert measuring.values(metric, rows) == pytest.approx({"overall": expected.overall, **expected.dimensions})
    table = measuring.item_table(metric, rows)
    sums = {
        label: table.filter(pl.col("label") == label).select((pl.col("value") * pl.col("weight")).sum()).item()
        for label in ("target", "reference")
    }
    assert sums["target"] / sum(sums.values()) == pytest.approx(expected.overall)
    assert {row.status for row in rows} == {Status.SCORED}
    assert rows[0].rationale == "comprehensiveness: main point: about comprehensiveness: main point"
    assert len({row.item for row in rows}) == 16
    assert [record.role for record in gateway.records] == ["judging"], "one call for both reports and all criteria"


def test_both_orders_are_asked_and_averaged(files: dict[str, str], gateway: TestGateway) -> None:
    def first_is_favoured(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
        return {one.id: {"reason": "r", "first": 8.0, "second": 2.0} for one in context.criteria}

    found = {}
    for order in ("target_first", "reference_first", "both"):
        metric = race(**files, order=order)
        found[order] = measuring.values(metric, judged(metric, gateway, first_is_favoured))
    assert found["target_first"]["overall"] == pytest.approx(0.8)
    assert found["reference_first"]["overall"] == pytest.approx(0.2)
    assert found["both"] == pytest.approx(dict.fromkeys(("overall", *DIMENSIONS), 0.5))
    assert [record.source for record in gateway.records] == ["provider", "provider", "cache", "cache"]


def test_nodes_that_ask_differently_have_different_labels(files: dict[str, str]) -> None:
    labels = [race(**files, order=o, mode=m).rubric_variant for o in ("target_first", "both") for m in ("strict", "compatible")]
    assert labels == ["default", "default,compatible", "default,both", "default,both,compatible"]
    assert len({json.dumps(race(**files, order=o).identity()) for o in ("target_first", "both")}) == 2


def test_a_judge_that_gives_no_usable_answer_is_an_error_and_no_score(files: dict[str, str], gateway: TestGateway) -> None:
    def unreadable(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
        raise AnswerError("c3 is missing", code="unreadable")

    metric = race(**files, order="both")
    (row,) = judged(metric, gateway, unreadable)
    assert (row.status, row.reason_code) == (Status.JUDGE_ERROR, "unreadable")
    assert set(measuring.values(metric, [row]).values()) == {None}
    counting = race(**files, missing_policy=MissingPolicy.ZERO)
    assert measuring.values(counting, [row])["overall"] == 0.0


def compatible(answer: dict[str, Any], files: dict[str, str], gateway: TestGateway) -> tuple[dict[str, Any], list[Judgment]]:
    metric = race(**files, mode="compatible")
    rows = judged(metric, gateway, lambda rubric, context, repeat: answer)
    return measuring.values(metric, rows), rows


def free_lists() -> dict[str, Any]:
    return {
        d: [{"criterion": c["criterion"], "analysis": "a", "article_1_score": 4, "article_2_score": 6} for c in found]
        for d, found in CRITERIA["criterions"].items()  # type: ignore[attr-defined]
    }


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda found: found[1].pop("article_2_score"), 0.4878),
        (lambda found: found[0].pop("article_2_score"), 0.4577),
        (lambda found: found[0].update(article_1_score=100), 0.8011),
        (lambda found: found[0].update(article_1_score="8/10"), 0.4000),
        (lambda found: found.pop(), 0.4000),
        (lambda found: found.clear(), 0.4000),
        (lambda found: found[0].update(criterion="Nobody asked for this", article_1_score=10), 0.4607),
    ],
)
def test_odd_answers_survive_the_item_table(change: Any, expected: float, files: dict[str, str], gateway: TestGateway) -> None:
    answer = free_lists()
    change(answer["insight"])
    found, rows = compatible(answer, files, gateway)
    assert found["overall"] == pytest.approx(expected, abs=5e-5)
    assert any(row.reason_code for row in rows), "what was odd is said"


def test_a_dimension_without_entries_is_zero_as_in_the_original(files: dict[str, str], gateway: TestGateway) -> None:
    found, rows = compatible({**free_lists(), "insight": []}, files, gateway)
    assert found["insight"] == 0.0
    assert found["overall"] == pytest.approx(0.4)
    assert sum(row.status is Status.UNANSWERED for row in rows) == 4


def test_a_model_is_asked_again_once_for_what_is_missing_or_out_of_range(files: dict[str, str], gateway: TestGateway) -> None:
    good = {f"c{n}": {"reason": "r", "first": 4, "second": 6} for n in range(1, 9)}
    missing = {name: given for name, given in good.items() if name != "c3"}
    high = {**good, "c5": {"reason": "r", "first": 100, "second": 6}}
    with OpenAIStub() as stub:
        stub.script(saying(missing), saying(good), saying(high), saying(high))
        metric = race(**files)

        async def run() -> tuple[list[Judgment], list[Judgment]]:
            judge = LLMJudge(name="it", gateway=gateway, model="openai/m", api_base=stub.url)
            subject = Subject(measuring.TASK, Report("t", "a", TARGET_TEXT))
            try:
                return await metric.measure(subject, judge, 0), await metric.measure(subject, judge, 1)
            finally:
                await judge.close()

        repaired, spoilt = asyncio.run(run())
        bodies = stub.bodies
    assert measuring.values(metric, repaired)["overall"] == pytest.approx(0.4)
    assert [row.status for row in spoilt] == [Status.JUDGE_ERROR]
    assert len(bodies) == 4
    system, user = (message["content"] for message in bodies[0]["messages"])
    assert "do not follow" in system and "2025-01-01" in system
    assert user.index(TARGET_TEXT) < user.index(REFERENCE_TEXT) < user.index("c1 [comprehensiveness]")
    assert all(f"{d}: main point: Why {d}." in user for d in DIMENSIONS)
    schema = bodies[0]["tools"][0]["function"]["parameters"]
    assert set(schema["required"]) >= set(good)
    again = bodies[1]["messages"][-1]["content"]
    assert "c3" in again
    assert "c5.first" in bodies[3]["messages"][-1]["content"]


def test_criteria_are_written_once_per_task_and_judge(files: dict[str, str], gateway: TestGateway) -> None:
    def script(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
        if rubric.kind.name == "race_weights":
            return {"reason": "r", "comprehensiveness": 0.2 + 0.1 * repeat, "insight": 0.4, "instruction_following": 0.2}
        return scripted(rubric, context, repeat)

    def whole(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
        if rubric.kind.name == "race_criteria":
            named = [("first", 0.5), ("second", 0.25), ("third", 0.25)]
            return {"criteria": [{"criterion": f"{context.dimension} {n}", "explanation": "e", "weight": w} for n, w in named]}
        answer = script(rubric, context, repeat)
        return {**answer, "readability": 0.2 - 0.1 * repeat} if rubric.kind.name == "race_weights" else answer

    metric = race(reference=files["reference"], weight_samples=3)
    judge = ScriptedJudge(name="j", gateway=gateway, script=whole)
    rows = measuring.judgments(metric, TARGET_TEXT, judge)
    other = measuring.judgments(metric, f"{TARGET_TEXT} Much longer.", judge)
    assert len(rows) == len(other) == 2 * 12
    bought = [record for record in gateway.records if record.source == "provider"]
    assert [record.role for record in bought].count("criteria") == 3 + 4
    assert [record.role for record in bought].count("judging") == 2
    weights = {row.family: 0.0 for row in rows}
    for row in rows:
        weights[row.family] += row.weight / 2
    assert weights == pytest.approx(
        {"comprehensiveness": 0.3, "insight": 0.4, "instruction_following": 0.2, "readability": 0.1}
    )


def dataset(*agents: str) -> Dataset:
    return Dataset([measuring.TASK], [Report("t", agent, f"By {agent}.") for agent in agents])


def test_another_agent_of_the_run_can_be_the_reference(files: dict[str, str], gateway: TestGateway) -> None:
    metric = race(criteria=files["criteria"], reference_agent="human")
    assert metric.prepare(dataset("a", "human")) == []
    seen = []

    def script(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
        seen.append((context.first, context.second))
        return scripted(rubric, context, repeat)

    judged(metric, gateway, script)
    assert seen == [(TARGET_TEXT, "By human.")]
    own = Subject(measuring.TASK, Report("t", "human", "By human."))
    judge = ScriptedJudge(name="j", gateway=gateway, script=script)
    (row,) = asyncio.run(metric.measure(own, judge, 0))
    assert (row.status, row.reason_code) == (Status.NOT_APPLICABLE, "is_the_reference")


def test_what_is_missing_is_said_before_anything_is_spent(files: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no reference report"):
        race(criteria=files["criteria"])
    with pytest.raises(ConfigError, match="named twice"):
        race(**files, reference_agent="human")
    (problem,) = race(criteria=files["criteria"], reference_agent="humann").prepare(dataset("a", "human"))
    assert problem.type == "metric.race.reference_agent=human"
    elsewhere = Dataset([Task("other", "Another question?", "d")], [Report("other", "a", "x")])
    assert [problem.where for problem in race(**files).prepare(elsewhere)] == ["metric.race.reference", "metric.race.criteria"]
    bad = {**CRITERIA, "dimension_weight": {**CRITERIA["dimension_weight"], "insight": 0.9}}  # type: ignore[dict-item]
    with pytest.raises(DatasetError, match=r"criteria.jsonl:1.*sum to 1.6"):
        race(reference=files["reference"], criteria=written(tmp_path / "criteria.jsonl", bad))
    saved = race(saved=str(RAW))
    assert [problem.what for problem in saved.prepare(dataset("a", "b"))] == [
        "holds the scores of one agent, the data set has several"
    ]


def test_the_embedded_judge_refuses(files: dict[str, str], gateway: TestGateway) -> None:
    judge = EmbeddedJudge(name="embedded", gateway=gateway)
    assert all("no rules for questions of kind" in (judge.refusal(rubric) or "") for rubric in race(**files).rubrics())


def test_reports_are_shown_without_citations() -> None:
    text = (
        "# Bridges\n\nSteel is strong [1][2]. It is [well known](https://a.example/b_(c)) today.\n\n"
        "## References\n\n[1] https://a.example/x\n[2] https://b.example/y\n"
    )
    assert without_citations(parse_document(text)) == "# Bridges\n\nSteel is strong. It is well known today."


def test_a_task_that_is_not_in_the_saved_results_is_a_missing_run() -> None:
    metric = race(saved=str(RAW))
    (row,) = measuring.judgments(metric, TARGET_TEXT)
    assert row.status is Status.MISSING_RUN
    assert set(measuring.values(metric, [row]).values()) == {None}


def test_saved_results_that_say_two_things_about_a_task_are_refused(tmp_path: Path) -> None:
    first, *_ = RAW.read_text(encoding="utf-8").splitlines()
    record = json.loads(first)
    assert race(saved=written(tmp_path / "same.jsonl", record, record)).evaluator == "code"
    with pytest.raises(DatasetError, match=r"other.jsonl:2: says other things"):
        race(saved=written(tmp_path / "other.jsonl", record, {**record, "insight": 0.1}))
    with pytest.raises(DatasetError, match="a score from 0 to 1 is needed"):
        race(saved=written(tmp_path / "odd.jsonl", {**record, "insight": None}))


def means(outputs: Path, agent: str = "claude-3-7-sonnet") -> dict[str, float]:
    (run,) = (path for path in outputs.iterdir() if path.is_dir())
    scores = pl.read_parquet(run / "scores.parquet").filter(pl.col("metric") == "race", pl.col("aggregation") == "macro")
    scores = scores.filter(pl.col("agent") == agent)
    return dict(scores.select("variant", "value").iter_rows())


def test_a_run_over_saved_results_gives_the_published_means(tmp_path: Path) -> None:
    records = [json.loads(line) for line in RAW.read_text(encoding="utf-8").splitlines()]
    reports = [{"id": r["id"], "prompt": f"Question {r['id']}?", "article": f"Report {r['id']}."} for r in records]
    written(tmp_path / "claude-3-7-sonnet.jsonl", *reports)
    ran = dreambench(
        "dataset=drb",
        "dataset.reports=claude-3-7-sonnet.jsonl",
        "metric=race",
        f"metric.race.saved={RAW}",
        cwd=tmp_path,
    )
    assert ran.code == 0, ran.err
    assert {name: round(value, 4) for name, value in means(tmp_path / "outputs").items()} == PUBLISHED


def test_a_run_over_the_real_reports_takes_their_saved_scores(tmp_path: Path, real_data: Path) -> None:
    drb = real_data / "drb"
    ran = dreambench(
        "dataset=drb",
        f"dataset.reports={drb / 'claude-3-7-sonnet.jsonl'}",
        f"dataset.queries={drb / 'query.jsonl'}",
        "metric=race",
        f"metric.race.saved={drb / 'race_claude-3-7-sonnet_raw_results.jsonl'}",
        cwd=tmp_path,
    )
    assert ran.code == 0, ran.err
    ids = {json.loads(line)["id"] for line in (drb / "claude-3-7-sonnet.jsonl").open(encoding="utf-8")}
    saved = [json.loads(line) for line in (drb / "race_claude-3-7-sonnet_raw_results.jsonl").open(encoding="utf-8")]
    mine = [record["overall_score"] for record in saved if record["id"] in ids]
    assert means(tmp_path / "outputs")["overall"] == pytest.approx(sum(mine) / len(mine))


def test_a_run_with_a_model_scores_the_slice(tmp_path: Path) -> None:
    slice_ = ROOT / "tests" / "data" / "drb_slice"
    with OpenAIStub() as stub:
        ran = dreambench(
            "dataset=drb",
            f"dataset.reports=[{slice_ / 'gpt-5.jsonl'},{slice_ / 'gpt-4.1.jsonl'}]",
            f"dataset.queries={slice_ / 'query.jsonl'}",
            "judge=litellm",
            "judge.litellm.model=openai/anything",
            f"judge.litellm.api_base={stub.url}",
            "metric=race",
            "metric.race.reference_agent=gpt-5",
            "metric.race.order=both",
            cwd=tmp_path,
        )
        assert ran.code == 0, ran.err
        prompts = [body["messages"][1]["content"] for body in stub.bodies]
    assert len(prompts) == 3 * (3 + 4 + 2), "per task: weights thrice, criteria of four dimensions, both orders"
    assert sum("Compare the two reports" in prompt for prompt in prompts) == 6
    found = means(tmp_path / "outputs", "gpt-4.1")
    assert all(0 < found[name] < 1 for name in PUBLISHED)
