"""Requests and tokens per minute: even, never more than the limit and a second's share, on a clock that tests hold."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from dreambench.engine.call import Call, Reply, Usage
from dreambench.engine.clock import Clock
from dreambench.engine.limiter import Limiter, Widths
from dreambench.engine.rate import Pace, PerMinute, estimated_tokens
from tests.support.asking import ask
from tests.support.gateway import make_gateway
from tests.support.openai_stub import OpenAIStub


class StillClock(Clock):
    """A clock that moves when told to."""

    def __init__(self) -> None:
        self.time = 100.0

    def monotonic(self) -> float:
        return self.time


def begun_in(limits: PerMinute, seconds: int, tokens: int = 0, used: int = 0) -> list[float]:
    """When calls begin that are always ready, each thought to need `tokens` and found to use `used`."""
    clock, begun = StillClock(), []
    pace = Pace(limits, clock.time)
    end = clock.time + seconds
    while clock.time < end:
        if (wait := pace.wait(clock.time)) > 0:
            clock.time += wait + 1e-6
            continue
        pace.begin(tokens)
        pace.settle(used - tokens)
        begun.append(clock.time)
    return begun


@pytest.mark.parametrize("limit", [6, 60, 600])
def test_no_minute_sees_more_requests_than_allowed_and_none_are_left_unused(limit: int) -> None:
    begun = begun_in(PerMinute(requests=limit), 180)
    most = max(sum(start <= other < start + 60 for other in begun) for start in begun)
    assert limit * 0.98 <= most <= limit + max(1, limit / 60)
    assert len(begun) == pytest.approx(3 * limit, rel=0.05, abs=1.5)


@pytest.mark.parametrize(("thought", "used"), [(100, 100), (50, 100), (300, 100), (0, 900)])
def test_tokens_are_counted_as_they_were_used(thought: int, used: int) -> None:
    begun = begun_in(PerMinute(tokens=6000), 180, thought, used)
    assert len(begun) * used == pytest.approx(3 * 6000, rel=0.1)


def test_a_call_larger_than_a_minute_passes_and_is_paid_off() -> None:
    pace = Pace(PerMinute(tokens=600), 0.0)
    assert pace.wait(0.0) == 0
    pace.begin(6000)
    assert pace.wait(0.0) == pytest.approx((6000 - 10) / 10)
    assert pace.wait(600.0) == 0


def test_the_lower_figure_counts_where_two_judges_share_an_account() -> None:
    assert PerMinute(requests=5).stricter(PerMinute(requests=7, tokens=9)) == PerMinute(requests=5, tokens=9)


def test_a_limiter_waits_for_its_minute_and_serves_the_oldest_cell_first() -> None:
    clock = StillClock()

    async def run() -> list[int]:
        limiter, served = Limiter(Widths(8, 99), clock, PerMinute(requests=60)), list[int]()

        async def one(order: int) -> None:
            async with limiter.slot(order):
                served.append(order)

        tasks = [asyncio.create_task(one(order)) for order in (3, 2, 1)]
        await asyncio.sleep(0)
        assert served == [3] and limiter.waiting == 2
        for seconds in (0.5, 0.6, 1.0):
            clock.time += seconds
            limiter.succeeded()
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)
        return served

    assert asyncio.run(run()) == [3, 1, 2]


def test_tokens_of_a_call_are_guessed_from_its_messages() -> None:
    assert estimated_tokens(Call("p", "a", "m", {"messages": [{"content": "x" * 40}, {"content": None}]})) == 10
    assert estimated_tokens(Call("p", "a", "m", {"q": 1})) == 0


def test_stored_answers_wait_for_nothing(tmp_path: Path) -> None:
    gateway = make_gateway(tmp_path)
    gateway.limit("a", per_minute=PerMinute(requests=1, tokens=1))
    call = Call("p", "a", "m", {"q": 1})

    async def send() -> Reply:
        return Reply("x", usage=Usage(prompt=1000))

    async def run() -> None:
        for _ in range(50):
            await gateway.call(call, send)

    asyncio.run(asyncio.wait_for(run(), 30))
    assert [record.source for record in gateway.records] == ["provider"] + ["cache"] * 49
    gateway.store.close()


def test_a_judges_requests_reach_the_server_no_faster_than_allowed(tmp_path: Path) -> None:
    with OpenAIStub() as stub:
        gateway = make_gateway(tmp_path)
        ask(gateway, stub, times=4, seed=1, per_minute=PerMinute(requests=60))
        gateway.store.close()
    times = [seen.at for seen in stub.requests]
    assert len(times) == 4 and times[-1] - times[1] >= 1.8, "one a second; the first may be late, while litellm is loaded"
