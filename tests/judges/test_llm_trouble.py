"""What goes wrong between an LLM judge and its provider, through the real client stack."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest

from dreambench.engine.retry import RetryPolicy
from dreambench.errors import AnswerError, ProviderError
from dreambench.judges.llm import LLMJudge, Price
from tests.support import openai_stub as acts
from tests.support.asking import GOOD, KEY, MODES, ask, entries, stored
from tests.support.gateway import TestGateway, make_gateway
from tests.support.openai_stub import Act, OpenAIStub
from tests.support.questions import rubric


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
