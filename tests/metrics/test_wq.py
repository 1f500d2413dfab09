"""Writing Quality: the worked example of its definition, missing answers, and what is asked of the judge."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
import yaml

from dreambench.config.locations import bundled
from dreambench.config.nodes import build
from dreambench.errors import AnswerError, ConfigError, RubricError
from dreambench.judges.kinds import Context
from dreambench.judges.rubric import Rubric, RubricShelf
from dreambench.metrics.metric import Metric
from dreambench.records import Status, item_id
from tests.support import measuring
from tests.support.gateway import TestGateway
from tests.support.scripted_judge import ScriptedJudge

SHELF = RubricShelf([bundled("rubrics")])
NODE = yaml.safe_load((bundled("conf") / "metric" / "wq.yaml").read_text(encoding="utf-8"))
EXAMPLE = {
    "main_idea_clarity": 80,
    "detail_relevance": 70,
    "information_density": 60,
    "conceptual_synthesis": 50,
    "heading_structure": 90,
    "bullet_grouping_logic": 50,
    "structural_coherence": 70,
    "rhythm_and_variety": 60,
    "transition_smoothness": 80,
    "readability_and_flow": 70,
}


def wq(**keys: Any) -> Metric:
    metric: Metric = build("metric.wq", {**NODE, **keys}, name="wq", shelf=SHELF)
    return metric


def scored(rubric: Rubric, context: Context, repeat: int) -> dict[str, Any]:
    return {"reason": f"because of {rubric.name}", "score": EXAMPLE[rubric.name]}


def test_the_worked_example(gateway: TestGateway) -> None:
    metric = wq()
    rows = measuring.judgments(metric, "# T\n\nA report.\n", ScriptedJudge(name="j", gateway=gateway, script=scored))
    found = measuring.values(metric, rows)
    assert found["ideas_and_content"] == pytest.approx(0.65)
    assert found["organization"] == pytest.approx(0.68)
    assert found["sentence_fluency"] == pytest.approx(0.70)
    assert found["mean"] == pytest.approx(0.6767, abs=5e-5)
    assert sum(row.weight for row in rows) == pytest.approx(1)
    assert {row.cost for row in rows} == {0.01}
    assert all(row.rationale.startswith("because of") for row in rows)


def test_without_a_query_what_is_asked_about_it_is_not_applicable_and_never_a_score(gateway: TestGateway) -> None:
    metric, judge = wq(), ScriptedJudge(name="j", gateway=gateway, script=scored)
    task = replace(measuring.TASK, query=" ")
    subject = replace(measuring.subject("# T\n\nA report.\n"), task=task)
    rows = asyncio.run(metric.measure(subject, judge, 0))
    left_out = {row.item: row for row in rows if row.status is Status.NOT_APPLICABLE}
    assert {(row.value, row.reason_code) for row in left_out.values()} == {(None, "no_query")}
    assert set(left_out) == {item_id("t", name) for name in ("main_idea_clarity", "detail_relevance")}
    assert sum(row.weight for row in rows) == pytest.approx(1)
    found = measuring.values(metric, rows)
    rest = (EXAMPLE["information_density"] + EXAMPLE["conceptual_synthesis"]) / 200
    assert found["ideas_and_content"] == pytest.approx(rest)
    assert found["mean"] == pytest.approx((rest + 0.68 + 0.70) / 3)


def refusing_one(rubric: Rubric, context: Context, repeat: int) -> dict[str, Any]:
    if rubric.name == "rhythm_and_variety":
        raise AnswerError("no", code="refusal")
    return scored(rubric, context, repeat)


def test_a_refused_question_leaves_the_report_without_a_score(gateway: TestGateway) -> None:
    metric = wq()
    rows = measuring.judgments(metric, "A report.", ScriptedJudge(name="j", gateway=gateway, script=refusing_one))
    (refused,) = [row for row in rows if row.status is Status.JUDGE_ERROR]
    assert (refused.value, refused.reason_code, refused.label) == (None, "refusal", "rhythm_and_variety")
    found = measuring.values(metric, rows)
    assert found["mean"] is None
    assert found["sentence_fluency"] is None
    assert found["organization"] == pytest.approx(0.68)


def test_zero_policy_counts_the_refused_question_as_zero(gateway: TestGateway) -> None:
    metric = wq(missing_policy="zero")
    rows = measuring.judgments(metric, "A report.", ScriptedJudge(name="j", gateway=gateway, script=refusing_one))
    assert measuring.values(metric, rows)["sentence_fluency"] == pytest.approx(0.70 - 0.3 * 0.60)


def test_every_sub_dimension_is_asked_once_with_query_date_and_report(gateway: TestGateway) -> None:
    seen: dict[str, dict[str, Any]] = {}

    def script(rubric: Rubric, context: Context, repeat: int) -> dict[str, Any]:
        seen[rubric.name] = context.model_dump()
        return scored(rubric, context, repeat)

    measuring.judgments(wq(), "A report.", ScriptedJudge(name="j", gateway=gateway, script=script))
    assert set(seen) == set(EXAMPLE)
    assert {tuple(sorted(context.items())) for context in seen.values()} == {
        (("as_of", "2025-01-01"), ("question", measuring.TASK.query), ("report", "A report."))
    }


def test_weights_of_a_family_must_sum_to_one() -> None:
    with pytest.raises(ConfigError, match=r"metric\.wq\.families\.a: weights sum to 0\.5"):
        wq(families={"a": {"main_idea_clarity": 0.5}})


def test_an_unknown_variant_names_those_there_are() -> None:
    with pytest.raises(RubricError, match=r"did you mean wq/main_idea_clarity\.terse"):
        wq(rubric="ters")
