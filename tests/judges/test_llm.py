"""The LLM judge through the real client stack (instructor, litellm, HTTP) against a scripted server on loopback."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from dreambench.engine.limiter import Widths
from dreambench.engine.store import CacheMode
from dreambench.errors import AnswerError, CacheMissError
from dreambench.judges.llm import LLMJudge, Price
from dreambench.judges.llm.client import load
from dreambench.judges.panel import PanelJudge
from tests.support import openai_stub as acts
from tests.support.asking import GOOD, KEY, MODES, TOKENS, ask, entries
from tests.support.gateway import TestGateway, make_gateway
from tests.support.openai_stub import Act, OpenAIStub
from tests.support.questions import BATCH, GradeAnswer, rubric


@pytest.mark.parametrize("mode", MODES)
def test_asks_in_the_mode_that_is_set_and_reads_the_typed_answer(
    mode: str, stub: OpenAIStub, gateway: TestGateway, tmp_path: Path
) -> None:
    stub.script(Act(text=json.dumps(GOOD), usage=TOKENS))
    answer = ask(gateway, stub, mode=mode, temperature=0.0, seed=5, params={"top_p": 0.5, "extra_thing": 1})

    assert isinstance(answer, GradeAnswer)
    assert answer.model_dump() == GOOD
    (body,) = stub.bodies
    assert body["model"] == "test-model"
    assert (body["temperature"], body["seed"], body["top_p"], body["extra_thing"]) == (0.0, 5, 0.5, 1)
    assert body["messages"][0]["role"] == "system"
    assert "You judge reports." in body["messages"][0]["content"]
    assert "A report." in body["messages"][-1]["content"]
    assert stub.requests[0].headers["authorization"] == f"Bearer {KEY}"
    schema = GradeAnswer.model_json_schema()
    if mode == "tools":
        function = body["tools"][0]["function"]
        assert function["parameters"]["properties"] == schema["properties"]
        assert body["tool_choice"]["function"]["name"] == function["name"]
        assert "response_format" not in body
    elif mode == "json_schema":
        assert body["response_format"]["json_schema"]["schema"] == schema
        assert "tools" not in body
    else:
        assert body["response_format"] == {"type": "json_object"}
        assert '"maximum": 10' in body["messages"][0]["content"]
    assert entries(tmp_path) == 1


@pytest.mark.parametrize("mode", MODES)
def test_an_unscripted_answer_is_valid_and_the_same_for_the_same_question(mode: str, stub: OpenAIStub, tmp_path: Path) -> None:
    first = ask(make_gateway(tmp_path / "a"), stub, mode=mode)
    again = ask(make_gateway(tmp_path / "b"), stub, mode=mode)
    other = ask(make_gateway(tmp_path / "c"), stub, mode=mode, report="Quite another report.")
    assert first == again
    assert first != other


def test_the_ledger_keeps_tokens_cost_and_who_answered(stub: OpenAIStub, gateway: TestGateway) -> None:
    stub.script(Act(text=json.dumps(GOOD), usage=TOKENS, model="other-model-2025-01-01"))
    answer = ask(gateway, stub, price=Price(input=2.0, output=10.0, cached=0.5))

    (record,) = gateway.records
    assert record.cost == pytest.approx((400 * 2 + 600 * 0.5 + 200 * 10) / 1e6)
    assert answer.cost == record.cost
    assert (record.prompt_tokens, record.completion_tokens) == (1000, 200)
    assert (record.cached_tokens, record.reasoning_tokens) == (600, 150)
    assert (record.requested_model, record.answered_model) == ("openai/test-model", "other-model-2025-01-01")
    assert (record.fingerprint, record.outcome, record.source) == ("fp_stub", "ok", "provider")
    assert record.account == f"openai@{stub.url}"


def test_a_price_that_nobody_knows_is_unknown_and_one_that_litellm_knows_is_used(
    stub: OpenAIStub, gateway: TestGateway
) -> None:
    stub.always(Act(text=json.dumps(GOOD), usage=TOKENS))
    assert ask(gateway, stub).cost is None
    stub_price = ask(gateway, stub, model="openai/gpt-5.1").cost
    assert stub_price == pytest.approx((400 * 1.25 + 600 * 0.125 + 200 * 10) / 1e6)
    assert [record.cost for record in gateway.records] == [None, stub_price]


def test_litellm_prices_nothing_that_has_a_price_of_ours(
    stub: OpenAIStub, gateway: TestGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    litellm = load().litellm
    asked: list[str] = []

    def no_price(**given: Any) -> float:
        asked.append(given["model"])
        return 0.25

    monkeypatch.setattr(litellm, "response_cost_calculator", no_price)
    stub.always(Act(text=json.dumps(GOOD), usage=TOKENS))
    assert ask(gateway, stub, model="openai/ours", price=Price(input=2.0, output=10.0)).cost == pytest.approx(0.004)
    assert asked == []
    assert ask(gateway, stub, model="openai/theirs").cost == 0.25
    assert set(asked) == {"openai/theirs"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        (acts.MALFORMED, "JSON"),
        (acts.without("label"), "label: Field required"),
        (acts.saying({**GOOD, "score": 11}), "score: Input should be less than or equal to 10"),
        (acts.saying({**GOOD, "reason": "LOUD"}), "do not shout"),
        (acts.EMPTY, "JSON"),
    ],
)
def test_an_unreadable_answer_is_sent_back_once_with_what_is_wrong(
    mode: str, broken: Act, complaint: str, stub: OpenAIStub, tmp_path: Path
) -> None:
    stub.script(broken, acts.saying(GOOD))
    price = Price(input=1.0, output=1.0)
    gateway = make_gateway(tmp_path)
    answer = ask(gateway, stub, mode=mode, price=price)

    assert answer.model_dump() == GOOD
    first, second = stub.bodies
    assert [message["role"] for message in second["messages"][-2:]] == ["assistant", "user"]
    assert complaint in second["messages"][-1]["content"]
    assert second["messages"][: len(first["messages"])] == first["messages"]
    assert entries(tmp_path) == 2
    costs = [record.cost for record in gateway.records]
    assert answer.cost == pytest.approx(sum(cost for cost in costs if cost is not None))
    assert len(costs) == 2

    replayed = make_gateway(tmp_path, mode=CacheMode.REPLAY)
    assert ask(replayed, stub, mode=mode, price=price) == answer
    assert [record.source for record in replayed.records] == ["cache", "cache"]
    assert len(stub.requests) == 2


def test_an_answer_that_stays_unreadable_is_an_error_and_is_asked_afresh_later(stub: OpenAIStub, tmp_path: Path) -> None:
    stub.script(acts.MALFORMED, acts.without("score"))
    with pytest.raises(AnswerError) as caught:
        ask(make_gateway(tmp_path), stub)
    assert caught.value.code == "unreadable"
    assert "score: Field required" in str(caught.value)
    assert len(stub.requests) == 2
    assert entries(tmp_path) == 0

    stub.script(acts.saying(GOOD))
    assert ask(make_gateway(tmp_path), stub).score == 7


@pytest.mark.parametrize("reasks", [0, 3])
def test_how_often_an_answer_is_sent_back_is_a_key(reasks: int, stub: OpenAIStub, gateway: TestGateway) -> None:
    stub.always(acts.MALFORMED)
    with pytest.raises(AnswerError):
        ask(gateway, stub, reasks=reasks)
    assert len(stub.requests) == reasks + 1


@pytest.mark.parametrize("wrapped", ["```json\n{}\n```", "Here it is:\n```\n{}\n```\nDone.", "I say {} and that is all."])
def test_json_with_words_around_it_is_read(wrapped: str, stub: OpenAIStub, gateway: TestGateway) -> None:
    stub.script(acts.saying(wrapped.replace("{}", json.dumps(GOOD))))
    assert ask(gateway, stub, mode="json").model_dump() == GOOD
    assert len(stub.requests) == 1


def test_a_model_that_answers_in_words_when_given_a_tool_is_read(stub: OpenAIStub, gateway: TestGateway) -> None:
    message = {"role": "assistant", "content": json.dumps(GOOD)}
    raw = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "message": message}]}
    stub.script(Act(raw=json.dumps(raw).encode()))
    assert ask(gateway, stub).model_dump() == GOOD


def test_the_same_question_is_bought_once_and_a_repeat_is_another_question(stub: OpenAIStub, tmp_path: Path) -> None:
    first = ask(make_gateway(tmp_path), stub, times=3, seed=10)
    assert [body["seed"] for body in stub.bodies] == [10, 11, 12]
    gateway = make_gateway(tmp_path)
    assert ask(gateway, stub, times=3, seed=10) == first
    assert [record.source for record in gateway.records] == ["cache"] * 3
    assert len(stub.requests) == 3


def test_a_replay_without_an_answer_is_an_error_and_asks_nobody(stub: OpenAIStub, tmp_path: Path) -> None:
    with pytest.raises(CacheMissError):
        ask(make_gateway(tmp_path, mode=CacheMode.REPLAY), stub)
    assert stub.requests == []


def test_an_answer_model_made_for_the_question_is_asked_for(stub: OpenAIStub, gateway: TestGateway) -> None:
    async def run() -> Any:
        judge = LLMJudge(name="it", gateway=gateway, model="openai/m", api_base=stub.url)
        try:
            return await judge.ask(rubric(BATCH), report="one two three")
        finally:
            await judge.close()

    assert sorted(asyncio.run(run()).model_dump()) == ["item_0", "item_1", "item_2"]


def test_one_judges_end_leaves_anothers_connections_open(stub: OpenAIStub, gateway: TestGateway) -> None:
    async def run() -> list[int]:
        judges = [LLMJudge(name=name, gateway=gateway, model=f"openai/{name}", api_base=stub.url) for name in "ab"]
        scores = [(await judge.ask(rubric(), report="r")).score for judge in judges]
        await judges[0].close()
        scores.append((await judges[1].ask(rubric(), report="s")).score)
        await judges[1].close()
        scores.append((await judges[0].ask(rubric(), report="t")).score)  # a closed judge opens again
        await judges[0].close()
        return scores

    assert len(asyncio.run(run())) == 4
    assert all(record.attempts == 1 for record in gateway.records)


def test_templates_in_a_report_stay_text(stub: OpenAIStub, gateway: TestGateway) -> None:
    report = "See {{ 7 * 7 }} and {% raw %} and https://example.org/a.png\n    kept   spaces"
    ask(gateway, stub, report=report)
    assert report in stub.bodies[0]["messages"][1]["content"]


def test_many_questions_at_once_reuse_connections_and_close_them(stub: OpenAIStub, tmp_path: Path) -> None:
    gateway = make_gateway(tmp_path, widths=Widths(start=256, most=256))
    stub.always(acts.together(256))

    async def run() -> list[Any]:
        judge = LLMJudge(name="it", gateway=gateway, model="openai/m", api_base=stub.url)
        try:
            return await asyncio.gather(*(judge.ask(rubric(), report=f"Report {number}.") for number in range(300)))
        finally:
            await judge.close()

    assert len(asyncio.run(run())) == 300
    assert len(stub.requests) == 300
    assert stub.most == 256


def test_a_panel_of_models_is_bought_once_and_replayed(stub: OpenAIStub, tmp_path: Path) -> None:
    def run(mode: CacheMode) -> Any:
        gateway = make_gateway(tmp_path, mode=mode)
        members = [LLMJudge(name=name, gateway=gateway, model=f"openai/{name}", api_base=stub.url) for name in "abc"]
        judge = PanelJudge(name="panel", gateway=gateway, members=members, reduce="median")

        async def go() -> Any:
            try:
                return await judge.ask(rubric(), report="A report.")
            finally:
                await judge.close()

        return asyncio.run(go())

    bought = run(CacheMode.READWRITE)
    assert len(stub.requests) == 3
    votes = sorted(vote.score for vote in bought.votes.values())
    assert bought.score == votes[1]
    stub.stop()
    replayed = run(CacheMode.REPLAY)
    assert (replayed.model_dump(), replayed.votes) == (bought.model_dump(), bought.votes)
