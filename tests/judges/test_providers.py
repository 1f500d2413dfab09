"""Every provider's own protocol, driven through instructor and litellm against a server on loopback that speaks it.

What is asked: where the schema, the tools and the key are. What comes back: the typed answer, who answered, tokens, money, and
what each kind of trouble means. No provider is reached: the shapes are those of the public API references.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from dreambench.config.locations import bundled
from dreambench.config.nodes import build
from dreambench.engine.clock import Clock
from dreambench.engine.retry import RetryPolicy
from dreambench.errors import AnswerError, ProviderError
from dreambench.judges.llm import LLMJudge, Price
from dreambench.judges.llm.judge import Mode
from tests.support.asking import GOOD, KEY, entries
from tests.support.gateway import TestGateway, make_gateway
from tests.support.providers import anthropic, bedrock, gemini, openai_chat, openai_responses
from tests.support.providers.shape import CACHED, COMPLETION, PROMPT, Shape
from tests.support.providers.wire import Wire
from tests.support.questions import GradeAnswer, rubric

SHAPES = [openai_chat.SHAPE, openai_responses.SHAPE, anthropic.SHAPE, gemini.SHAPE, bedrock.SHAPE]
MODES: list[Mode] = ["tools", "json_schema", "json"]
NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
SEARCH = {
    "type": "function",
    "function": {
        "name": "web_search",
        "description": "Searches.",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    },
}

every_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)


class FixedClock(Clock):
    """Stands still for dates."""

    def now(self) -> datetime:
        return NOW


@pytest.fixture
def wire() -> Iterator[Wire]:
    with Wire() as running:
        yield running


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for shape in SHAPES:
        monkeypatch.setenv(shape.key_env, KEY)
    monkeypatch.setenv("AWS_REGION_NAME", "us-east-1")


def make(shape: Shape, wire: Wire, gateway: TestGateway, **more: Any) -> LLMJudge:
    given = {"model": shape.model, "api_base": shape.base(wire.url), **(shape.keys or {}), **more}
    judge = LLMJudge(name="it", gateway=gateway, **given)
    judge._client.clock = FixedClock()
    return judge


def ask(shape: Shape, wire: Wire, gateway: TestGateway, **more: Any) -> Any:
    async def run() -> Any:
        judge = make(shape, wire, gateway, **more)
        try:
            return await judge.ask(rubric(), report="A report.")
        finally:
            await judge.close()

    return asyncio.run(run())


def cases(of: str) -> list[Any]:
    return [pytest.param(shape, name, id=f"{shape}-{name}") for shape in SHAPES for name in getattr(shape, of)]


@every_shape
@pytest.mark.parametrize("mode", MODES)
def test_a_typed_answer_is_asked_for_and_read(
    shape: Shape, mode: Mode, wire: Wire, gateway: TestGateway, tmp_path: Path
) -> None:
    wire.script(shape.call("GradeAnswer", GOOD) if mode == "tools" else shape.words(json.dumps(GOOD)))
    answer = ask(shape, wire, gateway, mode=mode)
    assert answer.model_dump() == GOOD
    (seen,) = wire.seen
    assert seen.target == shape.path
    assert shape.key(seen, KEY)
    assert "You judge reports." in shape.system(seen.body)
    assert "A report." in json.dumps(seen.body)
    wanted = GradeAnswer.model_json_schema()["properties"]
    if mode == "tools":
        ((name, schema),) = shape.tools(seen.body)
        assert shape.forced(seen.body) == name == "GradeAnswer"
        assert set(schema["properties"]) == set(wanted)
    elif mode == "json_schema":
        assert set(shape.schema(seen.body)["properties"]) == set(wanted)
    else:
        assert '"maximum": 10' in shape.system(seen.body)
    assert entries(tmp_path) == 1


def test_a_model_that_always_reasons_is_asked_by_schema_and_without_sampling(wire: Wire, gateway: TestGateway) -> None:
    text = (bundled("conf") / "judge" / "claude_sonnet_5_5.yaml").read_text(encoding="utf-8")
    option = {**yaml.safe_load(text), "api_base": wire.url}
    wire.script(anthropic.SHAPE.words(json.dumps(GOOD)))

    async def run() -> Any:
        judge = build("judge.it", option, name="it", gateway=gateway)
        try:
            return await judge.ask(rubric(), report="A report.")
        finally:
            await judge.close()

    assert asyncio.run(run()).model_dump() == GOOD
    (seen,) = wire.seen
    assert seen.body["model"] == "claude-sonnet-5-5"
    assert set(anthropic.SHAPE.schema(seen.body)["properties"]) == set(GradeAnswer.model_json_schema()["properties"])
    assert not {"tools", "tool_choice", "temperature", "top_p"} & set(seen.body)


@every_shape
@pytest.mark.parametrize("priced", [False, True])
def test_the_ledger_has_the_providers_counts_and_the_right_price(
    shape: Shape, priced: bool, wire: Wire, gateway: TestGateway
) -> None:
    wire.script(shape.call("GradeAnswer", GOOD))
    own = Price(input=10.0, output=100.0, cached=1.0, cache_write=20.0) if priced else None
    answer = ask(shape, wire, gateway, price=own)
    (record,) = gateway.records
    assert (record.prompt_tokens, record.completion_tokens, record.cached_tokens) == (PROMPT, COMPLETION, CACHED)
    assert (record.cache_write_tokens, record.reasoning_tokens) == (shape.written, shape.reasoning)
    plain = PROMPT - CACHED - shape.written
    wanted = (plain * 10 + CACHED * 1 + shape.written * 20 + COMPLETION * 100) / 1e6 if priced else shape.cost
    assert record.cost == answer.cost == pytest.approx(wanted)
    assert (record.requested_model, record.answered_model) == (shape.model, shape.answered)
    assert (record.outcome, record.attempts, record.source) == ("ok", 1, "provider")


@every_shape
def test_a_native_tool_call_and_its_result_are_carried(shape: Shape, wire: Wire, gateway: TestGateway) -> None:
    from dreambench.judges.llm.turns import Answered, turn_messages

    wire.script(shape.call("web_search", {"query": "copper"}), shape.words("Enough."))
    opening = [{"role": "system", "content": "You judge reports."}, {"role": "user", "content": "Look it up."}]

    async def run() -> list[Any]:
        judge = make(shape, wire, gateway)
        try:
            first = await judge.converse(opening, [SEARCH], repeat=0, role="judging")
            told = turn_messages(first.text, [Answered(1, first.calls[0], "8 per cent")])
            return [first, await judge.converse([*opening, *told], [SEARCH], repeat=0, role="judging")]
        finally:
            await judge.close()

    first, second = asyncio.run(run())
    assert [(one.name, json.loads(one.arguments)) for one in first.calls] == [("web_search", {"query": "copper"})]
    assert (second.text, second.calls) == ("Enough.", ())
    for seen in wire.seen:
        ((name, schema),) = shape.tools(seen.body)
        assert name == "web_search"
        assert list(schema["properties"]) == ["query"]
    assert "8 per cent" in shape.result(wire.seen[1].body)


@pytest.mark.parametrize(("shape", "name"), cases("refusals"))
def test_a_refusal_is_paid_once_never_stored_and_never_an_answer(
    shape: Shape, name: str, wire: Wire, gateway: TestGateway, tmp_path: Path
) -> None:
    wire.script(shape.refusals[name])
    with pytest.raises(AnswerError) as caught:
        ask(shape, wire, gateway)
    assert caught.value.code == "refusal"
    (record,) = gateway.records
    assert (record.outcome, record.attempts, record.prompt_tokens) == ("refusal", 1, PROMPT)
    assert record.cost is not None and record.cost > 0
    assert len(wire.seen) == 1
    assert entries(tmp_path) == 0


@every_shape
@pytest.mark.parametrize("mode", MODES)
def test_a_truncated_answer_is_paid_once_never_stored_and_never_an_answer(
    shape: Shape, mode: Mode, wire: Wire, gateway: TestGateway, tmp_path: Path
) -> None:
    wire.script(shape.cut)
    with pytest.raises(AnswerError) as caught:
        ask(shape, wire, gateway, mode=mode)
    assert caught.value.code == "length"
    (record,) = gateway.records
    assert (record.outcome, record.attempts, record.completion_tokens) == ("length", 1, COMPLETION)
    assert record.cost == pytest.approx(shape.cost)
    assert entries(tmp_path) == 0


@pytest.mark.parametrize(("shape", "name"), cases("limited"))
def test_a_rate_limit_says_how_long_to_wait_in_the_providers_own_way(
    shape: Shape, name: str, wire: Wire, tmp_path: Path
) -> None:
    answer, wait = shape.limited[name]
    wire.script(answer)
    with pytest.raises(ProviderError) as caught:
        ask(shape, wire, make_gateway(tmp_path, retry=RetryPolicy(attempts=1)))
    assert (caught.value.code, caught.value.permanent) == ("rate_limited", False)
    assert caught.value.retry_after == pytest.approx(wait, abs=0.01)


@pytest.mark.parametrize(("shape", "name"), cases("failures"))
def test_trouble_has_the_class_that_decides_whether_it_is_tried_again(
    shape: Shape, name: str, wire: Wire, gateway: TestGateway, tmp_path: Path
) -> None:
    answer, code, permanent, fatal = shape.failures[name]
    wire.script(answer)
    with pytest.raises(ProviderError) as caught:
        ask(shape, wire, gateway)
    error = caught.value
    assert (error.code, error.permanent, error.fatal) == (code, permanent, fatal)
    assert KEY not in str(error)
    assert (shape.key_env in str(error)) == (code == "auth" and shape is not bedrock.SHAPE)  # whose credentials have many homes
    (record,) = gateway.records
    assert record.outcome == code
    assert record.attempts == len(wire.seen) == (1 if permanent else 3)
    assert record.cost == (None if code == "timeout" else 0.0)
    assert entries(tmp_path) == 0


@every_shape
def test_passing_trouble_is_tried_again_and_counted(shape: Shape, wire: Wire, gateway: TestGateway) -> None:
    wire.script(shape.failures["server"][0], shape.failures["busy"][0], shape.call("GradeAnswer", GOOD))
    assert ask(shape, wire, gateway).model_dump() == GOOD
    (record,) = gateway.records
    assert (record.attempts, record.outcome, len(wire.seen)) == (3, "ok", 3)
    assert record.cost == pytest.approx(shape.cost)
