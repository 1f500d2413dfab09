"""The LLM judge through the real client stack (instructor, litellm, HTTP) against a scripted server on loopback."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dreambench.engine.retry import RetryPolicy
from dreambench.engine.store import CacheMode
from dreambench.errors import AnswerError, CacheMissError, ProviderError
from dreambench.judges.llm import LLMJudge, Price
from dreambench.judges.panel import PanelJudge
from tests.support import openai_stub as acts
from tests.support.gateway import TestGateway, make_gateway
from tests.support.openai_stub import Act, OpenAIStub
from tests.support.questions import BATCH, GradeAnswer, rubric

MODES = ["tools", "json_schema", "json"]
KEY = "sk-planted-key-0123456789"
GOOD = {"score": 7, "label": "good", "reason": "It is clear."}
TOKENS = {
    "prompt_tokens": 1000,
    "completion_tokens": 200,
    "prompt_tokens_details": {"cached_tokens": 600},
    "completion_tokens_details": {"reasoning_tokens": 150},
}


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIStub]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with OpenAIStub() as running:
        yield running


def ask(gateway: TestGateway, stub: OpenAIStub, *, report: str = "A report.", times: int = 1, **keys: Any) -> Any:
    """One answer (or `times` of them, for repeats 0, 1, ...) from a new judge; its connections are closed again."""

    async def run() -> list[Any]:
        judge = LLMJudge(name="it", gateway=gateway, **{"model": "openai/test-model", "api_base": stub.url, **keys})
        try:
            return [await judge.ask(rubric(), repeat=repeat, report=report) for repeat in range(times)]
        finally:
            await judge.close()

    answers = asyncio.run(run())
    return answers[0] if times == 1 else answers


def stored(folder: Path) -> str:
    """Everything that was written below `folder`, as one text."""
    return "".join(path.read_bytes().decode("latin-1") for path in folder.rglob("*") if path.is_file())


def entries(folder: Path) -> int:
    database = folder / "cache" / "cache.db"
    if not database.exists():
        return 0
    with sqlite3.connect(database) as connection:
        count: int = connection.execute("select count(*) from Cache").fetchone()[0]
    return count


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


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("act", "code"), [(acts.REFUSAL, "refusal"), (acts.TRUNCATED, "length"), (acts.FILTERED, "refusal")])
def test_refusals_and_truncations_are_errors_paid_once_and_never_stored(
    mode: str, act: Act, code: str, stub: OpenAIStub, gateway: TestGateway, tmp_path: Path
) -> None:
    stub.script(act)
    with pytest.raises(AnswerError) as caught:
        ask(gateway, stub, mode=mode, price=Price(input=1, output=1))
    assert caught.value.code == code
    assert len(stub.requests) == 1
    (record,) = gateway.records
    assert record.outcome == code
    assert record.cost is not None
    assert record.cost > 0
    assert entries(tmp_path) == 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "act",
    [
        acts.failing(429, headers={"Retry-After": "0"}),
        acts.failing(500),
        acts.failing(502),
        acts.failing(503),
        acts.failing(529, "Overloaded"),
        acts.failing(408),
        acts.DROPPED,
        Act(raw=b"<html>gateway</html>"),
        Act(raw=b"{}"),
        Act(raw=b'{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[]}'),
    ],
    ids=["429", "500", "502", "503", "529", "408", "dropped", "html", "no keys", "no choices"],
)
def test_passing_trouble_is_tried_again_by_our_loop_only(
    mode: str, act: Act, stub: OpenAIStub, gateway: TestGateway, tmp_path: Path
) -> None:
    stub.script(act, acts.saying(GOOD))
    assert ask(gateway, stub, mode=mode).model_dump() == GOOD
    assert len(stub.requests) == 2
    (record,) = gateway.records
    assert (record.attempts, record.outcome) == (2, "ok")


@pytest.mark.parametrize(
    ("act", "code"),
    [
        (acts.failing(429), "rate_limited"),
        (acts.failing(500), "server_error"),
        (acts.failing(503), "overloaded"),
        (acts.failing(529), "overloaded"),
        (acts.DROPPED, "connection"),
        (acts.slow(5), "timeout"),
    ],
)
def test_trouble_that_stays_is_named_and_counted(act: Act, code: str, stub: OpenAIStub, tmp_path: Path) -> None:
    stub.always(act)
    gateway = make_gateway(tmp_path, retry=RetryPolicy(attempts=2, base=0.01))
    with pytest.raises(ProviderError) as caught:
        ask(gateway, stub, timeout=0.3)
    assert (caught.value.code, caught.value.permanent) == (code, False)
    assert len(stub.requests) == 2
    (record,) = gateway.records
    assert (record.outcome, record.attempts) == (code, 2)
    assert record.cost == (None if code == "timeout" else 0.0)  # who timed out may have charged
    assert entries(tmp_path) == 0


@pytest.mark.parametrize(
    ("act", "code", "fatal"),
    [
        (acts.failing(400), "bad_request", False),
        (acts.failing(413), "bad_request", False),
        (acts.failing(422), "bad_request", False),
        (acts.failing(400, "maximum context length is 8192 tokens", code="context_length_exceeded"), "context_length", False),
        (acts.failing(401), "auth", True),
        (acts.failing(403), "auth", True),
        (acts.failing(404, "The model does not exist"), "not_found", True),
        (acts.failing(402, "Insufficient Balance"), "quota", True),
        (acts.failing(429, "You exceeded your current quota", code="insufficient_quota"), "quota", True),
    ],
)
def test_permanent_trouble_is_asked_once(act: Act, code: str, fatal: bool, stub: OpenAIStub, gateway: TestGateway) -> None:
    stub.always(act)
    with pytest.raises(ProviderError) as caught:
        ask(gateway, stub)
    assert (caught.value.code, caught.value.permanent, caught.value.fatal) == (code, True, fatal)
    assert "openai/test-model" in str(caught.value)
    assert ("OPENAI_API_KEY" in str(caught.value)) == (code == "auth")
    assert "litellm" not in str(caught.value)
    assert len(stub.requests) == 1


def test_a_prompt_that_the_providers_filter_stops_is_a_refusal(stub: OpenAIStub, gateway: TestGateway) -> None:
    stub.always(acts.failing(400, "triggering Azure OpenAI's content management policy", code="content_filter"))
    with pytest.raises(AnswerError) as caught:
        ask(gateway, stub)
    assert caught.value.code == "refusal"
    assert len(stub.requests) == 1


def test_retry_after_is_waited_for(stub: OpenAIStub, gateway: TestGateway) -> None:
    stub.script(acts.failing(429, headers={"Retry-After": "0.7"}), acts.saying(GOOD))
    ask(gateway, stub)
    first, second = stub.requests
    assert 0.7 <= second.at - first.at < 3


def test_a_parameter_that_a_provider_does_not_take_is_named_before_anything_is_sent(
    stub: OpenAIStub, gateway: TestGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with pytest.raises(ProviderError) as caught:
        ask(gateway, stub, model="anthropic/claude-sonnet-4-5", api_base=stub.url.removesuffix("/v1"), seed=3)
    assert "does not take seed" in str(caught.value)
    assert "type: judge.it.seed=null" in str(caught.value)
    assert caught.value.fatal
    assert "drop_params" not in str(caught.value)
    with pytest.raises(ProviderError, match="does not take temperature"):
        ask(gateway, stub, model="openai/gpt-5", temperature=0.0)
    assert stub.requests == []


def test_another_providers_protocol_works_and_its_trouble_is_understood(
    stub: OpenAIStub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    keys = {"model": "anthropic/claude-sonnet-4-5", "api_base": stub.url.removesuffix("/v1"), "max_tokens": 500}
    gateway = make_gateway(tmp_path)
    stub.script(acts.failing(529, "Overloaded"), acts.DROPPED, acts.saying(GOOD))
    assert ask(gateway, stub, **keys).model_dump() == GOOD
    assert len(stub.requests) == 3
    assert stub.bodies[-1]["max_tokens"] == 500
    (record,) = gateway.records
    assert (record.attempts, record.cached_tokens, record.answered_model) == (3, 40, "claude-sonnet-4-5")
    assert record.cost == pytest.approx((120 * 3 + 40 * 0.3 + 20 * 15) / 1e6)


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


def test_a_cancelled_question_stops_at_once_and_is_in_the_ledger(stub: OpenAIStub, gateway: TestGateway) -> None:
    stub.always(acts.slow(30))

    async def run() -> float:
        judge = LLMJudge(name="it", gateway=gateway, model="openai/m", api_base=stub.url)
        task = asyncio.create_task(judge.ask(rubric(), report="r"))
        while not stub.requests:
            await asyncio.sleep(0.01)
        began = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await judge.close()
        return time.monotonic() - began

    assert asyncio.run(run()) < 2
    (record,) = gateway.records
    assert (record.outcome, record.attempts, record.cost) == ("cancelled", 1, None)
    assert len(stub.requests) == 1


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


@pytest.mark.parametrize(
    "act", [acts.failing(401, f"Incorrect key: {KEY}"), acts.failing(500, KEY), acts.saying(f'{{"score": "{KEY}"}}')]
)
def test_a_key_is_nowhere_in_what_is_written_or_said(act: Act, stub: OpenAIStub, tmp_path: Path) -> None:
    stub.always(act, when=lambda body: "A report." in str(body))
    gateway = make_gateway(tmp_path)
    with pytest.raises((ProviderError, AnswerError)) as caught:
        ask(gateway, stub)
    error: BaseException | None = caught.value
    while error is not None:
        assert KEY not in f"{error} {error!r} {vars(error)} {getattr(error, '__notes__', '')}"
        error = error.__cause__ or error.__context__
    stub.script(acts.saying({**GOOD, "reason": f"echo {KEY}"}))
    ask(gateway, stub, report="another")
    judge = LLMJudge(name="it", gateway=gateway, model="openai/m", api_base=stub.url)
    assert KEY not in json.dumps(judge.identity())
    assert KEY not in stored(tmp_path)
    assert KEY not in repr(gateway.records)


def test_many_questions_at_once_reuse_connections_and_close_them(stub: OpenAIStub, tmp_path: Path) -> None:
    from dreambench.engine.limiter import Widths

    gateway = make_gateway(tmp_path, widths=Widths(start=256, most=256))
    stub.always(acts.slow(0.3))

    async def run() -> list[Any]:
        judge = LLMJudge(name="it", gateway=gateway, model="openai/m", api_base=stub.url)
        try:
            return await asyncio.gather(*(judge.ask(rubric(), report=f"Report {number}.") for number in range(300)))
        finally:
            await judge.close()

    assert len(asyncio.run(run())) == 300
    assert len(stub.requests) == 300
    assert stub.most > 100


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
