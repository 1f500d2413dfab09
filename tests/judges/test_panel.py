"""Panels over judges whose answers the tests choose."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Mapping
from enum import Enum
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from dreambench.engine.budget import BudgetReached
from dreambench.errors import AnswerError, ConfigError, Problem, ProviderError
from dreambench.judges.judge import Judge
from dreambench.judges.kinds import Answer, Context, Kind
from dreambench.judges.panel import PanelAnswer, PanelJudge
from dreambench.judges.rubric import Rubric
from tests.support.gateway import TestGateway
from tests.support.questions import BATCH, GRADE, ReportContext, rubric


class Fixed(Judge):
    """Always says the same, or raises it."""

    def __init__(self, name: str, gateway: TestGateway, says: Answer | Exception, *, cannot: str | None = None) -> None:
        super().__init__(name=name, gateway=gateway)
        self.says = says
        self.cannot = cannot
        self.closed = False
        self.asked: list[tuple[int, str]] = []

    def identity(self) -> Mapping[str, Any]:
        return {"judge": "fixed", "name": self.name}

    def refusal(self, rubric: Rubric) -> str | None:
        return self.cannot

    def needs(self) -> list[Problem]:
        return [Problem(f"judge.{self.name}", "no key")]

    async def answer(self, rubric: Rubric, context: Context, *, repeat: int, role: str) -> Answer:
        self.asked.append((repeat, role))
        if isinstance(self.says, Exception):
            raise self.says
        return self.says

    async def close(self) -> None:
        self.closed = True


def grade(score: int, label: str = "good", reason: str = "so") -> Answer:
    return GRADE.answer.model_validate({"score": score, "label": label, "reason": reason})


def panel(gateway: TestGateway, *says: Answer | Exception, reduce: Any = "mean") -> PanelJudge:
    members = [Fixed(name, gateway, one) for name, one in zip("abcde", says, strict=False)]
    return PanelJudge(name="panel", gateway=gateway, members=members, reduce=reduce)


def asked(judge: PanelJudge, kind: Kind = GRADE) -> Any:
    return asyncio.run(judge.ask(rubric(kind), repeat=2, report="x y"))


@pytest.mark.parametrize(("reduce", "score"), [("mean", pytest.approx(16 / 3)), ("median", 4.0), ("majority", 2)])
def test_numbers_are_reduced_as_the_key_says(reduce: str, score: float, gateway: TestGateway) -> None:
    says = [grade(2), grade(10), grade(4)] if reduce != "majority" else [grade(10), grade(2), grade(2)]
    assert asked(panel(gateway, *says, reduce=reduce)).score == score


def test_the_median_of_an_even_panel_lies_between() -> None:
    from dreambench.judges.panel import _reduce

    assert _reduce(int, [1, 2, 5, 9], "median") == 3.5


@pytest.mark.parametrize(
    ("labels", "winner"),
    [(["bad", "good", "good"], "good"), (["bad", "good"], "bad"), (["good", "bad", "bad", "good"], "good")],
)
def test_labels_are_voted_on_and_ties_go_to_the_first_supporter(labels: list[str], winner: str, gateway: TestGateway) -> None:
    assert asked(panel(gateway, *(grade(5, label) for label in labels), reduce="median")).label == winner


def test_words_come_from_the_member_nearest_to_the_panel_and_every_vote_is_kept(gateway: TestGateway) -> None:
    answer = asked(panel(gateway, grade(0, "bad", "awful"), grade(7, "good", "fine"), grade(9, "good", "superb")))
    assert isinstance(answer, PanelAnswer)
    assert isinstance(answer, GRADE.answer)
    assert (answer.score, answer.label) == (pytest.approx(16 / 3), "good")  # type: ignore[attr-defined]
    assert answer.reason.endswith(". fine")  # type: ignore[attr-defined]
    assert '"a": {"score": 0, "label": "bad"}' in answer.reason  # type: ignore[attr-defined]
    assert {name: vote.score for name, vote in answer.votes.items()} == {"a": 0, "b": 7, "c": 9}  # type: ignore[attr-defined]
    with warnings.catch_warnings(action="error"):
        assert set(answer.model_dump()) == {"score", "label", "reason"}


def test_answers_made_for_a_question_are_reduced_field_by_field(gateway: TestGateway) -> None:
    model = BATCH.answer_model({}, ReportContext(report="x y"))
    votes = [model.model_validate({"item_0": a, "item_1": b}) for a, b in [(True, False), (True, True), (False, False)]]
    assert asked(panel(gateway, *votes), BATCH).model_dump() == {"item_0": True, "item_1": False}


class Part(BaseModel):
    value: float
    why: str


class Tone(Enum):
    CALM = "calm"
    LOUD = "loud"


class DeepAnswer(Answer):
    parts: dict[str, Part]
    tone: Tone
    grade: Literal[0, 1] | None
    words: list[str]


DEEP = Kind("deep", "a nested answer", ReportContext, DeepAnswer)


def deep(value: float, tone: str, grade: int | None, word: str) -> DeepAnswer:
    parts = {"p": {"value": value, "why": word}}
    return DeepAnswer.model_validate({"parts": parts, "tone": tone, "grade": grade, "words": [word]})


def test_nested_answers_optional_values_and_literal_numbers_are_reduced(gateway: TestGateway) -> None:
    says = [deep(1, "calm", None, "one"), deep(2, "loud", 1, "two"), deep(6, "calm", 1, "six")]
    answer = asked(panel(gateway, *says), DEEP)
    assert answer.parts["p"].value == 3
    assert answer.parts["p"].why == "two"
    assert (answer.tone, answer.grade) == (Tone.CALM, 1)
    assert answer.words == ["two"]
    mostly_none = [deep(1, "calm", None, "x"), deep(1, "calm", None, "y"), deep(1, "calm", 1, "z")]
    assert asked(panel(gateway, *mostly_none), DEEP).grade is None


class ListAnswer(Answer):
    claims: list[str]


def test_what_cannot_be_voted_on_is_put_to_the_first_member(gateway: TestGateway) -> None:
    question = Kind("claims", "claims", ReportContext, ListAnswer)
    judge = panel(gateway, ListAnswer(claims=["mine"]), ListAnswer(claims=["yours"]))
    assert judge.refusal(rubric(question)) is None
    assert asked(judge, question).claims == ["mine"]
    assert judge.members[1].asked == []  # type: ignore[attr-defined]


def test_what_a_member_refuses_the_panel_refuses(gateway: TestGateway) -> None:
    members = [Fixed("a", gateway, grade(1)), Fixed("b", gateway, grade(1), cannot="too hard")]
    judge = PanelJudge(name="panel", gateway=gateway, members=members)
    assert judge.refusal(rubric()) == "its member b cannot: too hard"


@pytest.mark.parametrize(
    ("errors", "raised"),
    [
        ([AnswerError("x", code="refusal")], AnswerError),
        ([AnswerError("x", code="refusal"), ProviderError("x", code="auth", fatal=True)], ProviderError),
        ([ProviderError("x", code="auth", fatal=True), BudgetReached("x")], BudgetReached),
    ],
)
def test_a_member_without_an_answer_leaves_the_panel_without_one(
    errors: list[Exception], raised: type[Exception], gateway: TestGateway
) -> None:
    judge = panel(gateway, grade(1), *errors)
    with pytest.raises(raised):
        asked(judge)
    assert all(member.asked == [(2, "judging")] for member in judge.members)  # type: ignore[attr-defined]


def test_costs_add_up_and_one_unknown_makes_the_sum_unknown(gateway: TestGateway) -> None:
    assert asked(panel(gateway, grade(1).with_cost(0.1), grade(2).with_cost(0.2))).cost == pytest.approx(0.3)
    assert asked(panel(gateway, grade(1).with_cost(0.1), grade(2))).cost is None


def test_a_panel_is_its_members(gateway: TestGateway) -> None:
    judge = panel(gateway, grade(1), grade(2))
    assert [problem.where for problem in judge.needs()] == ["judge.a", "judge.b", "judge.panel.members"]
    assert judge.identity() != panel(gateway, grade(1), grade(2), reduce="median").identity()
    asyncio.run(judge.close())
    assert all(member.closed for member in judge.members)  # type: ignore[attr-defined]


def test_one_member_or_the_same_twice_is_no_panel(gateway: TestGateway) -> None:
    with pytest.raises(ConfigError, match="at least two"):
        panel(gateway, grade(1))
    twins = [Fixed("a", gateway, grade(1)), Fixed("a", gateway, grade(2))]
    with pytest.raises(ConfigError, match="count twice"):
        PanelJudge(name="panel", gateway=gateway, members=twins)
