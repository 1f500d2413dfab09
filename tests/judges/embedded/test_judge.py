"""The embedded judge through the real gateway: answers, cache, refusals, identity."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from dreambench.config.locations import bundled
from dreambench.config.nodes import build
from dreambench.errors import UnsupportedQuestionError
from dreambench.judges.embedded import EmbeddedJudge
from dreambench.judges.rubric import Rubric, RubricShelf
from tests.support.gateway import TestGateway, make_gateway
from tests.support.questions import rubric as foreign_rubric

SHELF = RubricShelf([bundled("rubrics")])
REPORT = "# Tides\n\nTides are caused by the moon. They rise twice a day, because the earth turns.\n"
ABOUT = {"question": "What causes tides?", "as_of": None, "report": REPORT}


def own_rubric(folder: Path, front: str) -> Rubric:
    body = "{% block system %}s{% endblock %}{% block user %}u{% endblock %}"
    (folder / "own.default.j2").write_text(f"---\n{front}\n---\n{body}")
    return RubricShelf([folder]).load("own.default")


def ask(gateway: TestGateway, rubric: Rubric, **context: Any) -> Any:
    return asyncio.run(EmbeddedJudge(name="embedded", gateway=gateway).ask(rubric, **context))


def test_answers_for_nothing_and_the_same_again_from_the_cache(tmp_path: Path) -> None:
    answers = []
    for _ in range(2):
        gateway = make_gateway(tmp_path)
        answers.append(ask(gateway, SHELF.load("wq/main_idea_clarity.default"), **ABOUT))
    (record,) = gateway.records
    assert record.source == "cache"
    assert (record.provider, record.cost) == ("embedded", 0.0)
    assert record.requested_model.startswith("embedded-")
    assert answers[0] == answers[1]
    assert answers[0].cost == 0.0


def test_another_wording_or_scale_is_another_call(gateway: TestGateway, tmp_path: Path) -> None:
    ask(gateway, SHELF.load("wq/main_idea_clarity.default"), **ABOUT)
    ask(gateway, SHELF.load("wq/main_idea_clarity.terse"), **ABOUT)
    answer = ask(gateway, own_rubric(tmp_path, "kind: score\naspect: main_idea_clarity\nscale: [1, 5]"), **ABOUT)
    assert 1 <= answer.score <= 5
    assert [record.source for record in gateway.records] == ["provider"] * 3
    assert len({record.key for record in gateway.records}) == 3


@pytest.mark.parametrize(
    ("front", "why"),
    [
        ("kind: score", "no aspect"),
        ("kind: score\naspect: main_idea_clarty", "did you mean main_idea_clarity"),
        ("kind: score\naspect: main_idea_clarity\nscale: [9, 1]", "ascending"),
    ],
)
def test_refuses_what_it_has_no_rules_for(gateway: TestGateway, tmp_path: Path, front: str, why: str) -> None:
    rubric = own_rubric(tmp_path, front)
    assert why in str(EmbeddedJudge(name="embedded", gateway=gateway).refusal(rubric))
    with pytest.raises(UnsupportedQuestionError, match=why):
        ask(gateway, rubric, **ABOUT)
    assert gateway.records == []


def test_refuses_an_unknown_kind(gateway: TestGateway) -> None:
    assert "kind grade" in str(EmbeddedJudge(name="embedded", gateway=gateway).refusal(foreign_rubric()))


NO_RULES = {"rewrite", "race_criteria", "race_lists", "race_scores", "race_weights"}
NO_RULES |= {"rubric_items", "verifiers", "graded_criteria"}
"""What takes a language model: writing, comparing, grading; of rubric items, rubrics that cover presentation."""


def test_refuses_no_bundled_rubric_that_it_has_rules_for() -> None:
    judge = EmbeddedJudge(name="embedded", gateway=None)  # type: ignore[arg-type]
    rubrics = [SHELF.load(name) for name in SHELF.names()]
    refused = {rubric.id: rubric.kind.name for rubric in rubrics if judge.refusal(rubric)}
    assert refused.pop("item_quality/soundness.default") == "classify_items", "whether a plan is sound no rule can tell"
    assert set(refused.values()) == NO_RULES
    assert not [name for name, kind in refused.items() if kind not in NO_RULES]


def test_identity_names_the_code_and_the_node_builds(gateway: TestGateway) -> None:
    judge = build("judge.embedded", {"_target_": "dreambench.judges.embedded.EmbeddedJudge"}, name="embedded", gateway=gateway)
    assert json.dumps(judge.identity()) == json.dumps({"judge": "embedded", "version": judge.version})
    assert len(judge.version) == 12
    assert "not a language model" in judge.note
