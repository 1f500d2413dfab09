"""One judge that asks in batches: its clock, its account, agents' turns, and an answer in words."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dreambench.engine.clock import Clock
from dreambench.errors import AwaitedError
from dreambench.judges.llm import LLMJudge
from dreambench.judges.llm.batch import BatchSettings
from tests.support.agents import done
from tests.support.batch_stub import BatchStub
from tests.support.gateway import TestGateway, make_gateway
from tests.support.openai_stub import saying
from tests.support.questions import rubric

HOURS = BatchSettings(quiet=3600.0, poll=7200.0)
SEARCH: dict[str, Any] = {"type": "function", "function": {"name": "web_search", "parameters": {"type": "object"}}}


class Leaping(Clock):
    """Every pause is over at once, and remembered."""

    def __init__(self) -> None:
        self.pauses: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        await asyncio.sleep(0.01)


@pytest.fixture
def stub() -> Iterator[BatchStub]:
    with BatchStub() as running:
        yield running


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[TestGateway]:
    made = make_gateway(tmp_path)
    made._clock = Leaping()
    yield made
    made.store.close()


def judge_of(gateway: TestGateway, stub: BatchStub, **keys: Any) -> LLMJudge:
    given = {"model": "openai/test-model", "api_base": stub.url, "delivery": "batch", "batch": HOURS, **keys}
    return LLMJudge(name="it", gateway=gateway, **given)


def test_hours_pass_on_the_engines_clock(gateway: TestGateway, stub: BatchStub) -> None:
    async def run() -> None:
        judge = judge_of(gateway, stub)
        stub.held = True
        asking = asyncio.create_task(judge.ask(rubric(), report="A report."))
        while not (isinstance(gateway.clock, Leaping) and gateway.clock.pauses.count(7200.0) >= 3):
            await asyncio.sleep(0.01)
        stub.held = False
        await asking
        await judge.close()

    asyncio.run(run())
    assert isinstance(gateway.clock, Leaping)
    assert set(gateway.clock.pauses) == {3600.0, 7200.0}
    (record,) = gateway.records
    assert record.account == f"openai@{stub.url} in batches" and record.outcome == "ok"


def test_turns_of_agents_go_at_once(gateway: TestGateway, stub: BatchStub) -> None:
    stub.script(done("nothing to look up"))

    async def run() -> str:
        judge = judge_of(gateway, stub)
        turn = await judge.converse([{"role": "user", "content": "look"}], [SEARCH], repeat=0, role="judging")
        await judge.close()
        return turn.text

    assert asyncio.run(run()) == "nothing to look up"
    assert len(stub.asked_now) == 1 and stub.created == []


@pytest.mark.parametrize("mode", ["tools", "json_schema", "json"])
def test_an_unreadable_answer_is_sent_back_in_the_next_batch(gateway: TestGateway, stub: BatchStub, mode: str) -> None:
    stub.script(saying("no answer"))

    async def run() -> None:
        judge = judge_of(gateway, stub, mode=mode, temperature=0.0, max_tokens=77, seed=5, params={"top_k": 3})
        await judge.ask(rubric(), report="A report.", repeat=2)
        await judge.close()

    asyncio.run(run())
    assert len(stub.created) == 2
    first, second = (line["body"] for line in stub.batched)
    assert second["messages"][: len(first["messages"])] == first["messages"] != second["messages"]
    assert (first["temperature"], first["max_tokens"], first["seed"], first["top_k"]) == (0.0, 77, 7, 3)


def test_one_who_leaves_is_told_so_and_asks_nothing_more(gateway: TestGateway, stub: BatchStub) -> None:
    async def run() -> None:
        judge = judge_of(gateway, stub)
        stub.held = True
        asking = asyncio.create_task(judge.ask(rubric(), report="A report."))
        while not stub.looks("/batches/"):
            await asyncio.sleep(0.01)
        gateway.awaited.leave()
        with pytest.raises(AwaitedError, match="not there yet"):
            await asking
        with pytest.raises(AwaitedError, match="being left"):
            await judge.ask(rubric(), report="Another report.")
        await judge.close()

    asyncio.run(run())
    assert len(stub.created) == 1 and gateway.records == []
    (line,) = gateway.awaited.standing()
    assert "answers awaited: 1, from batch batch_0 of openai@" in line
