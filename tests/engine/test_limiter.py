"""Adaptive width: grows on success, one cut per burst of refusals, rests as long as the provider asks."""

from __future__ import annotations

import asyncio
import time

import pytest

from dreambench.engine.clock import Clock
from dreambench.engine.limiter import LONGEST_PAUSE, Limiter, Limiters, Widths
from dreambench.errors import ProviderError


class StillClock(Clock):
    """A clock that moves when told to."""

    def __init__(self) -> None:
        self.time = 100.0

    def monotonic(self) -> float:
        return self.time


def limited(wait: float | None = None) -> ProviderError:
    return ProviderError("slow down", code="rate_limited", retry_after=wait)


def test_the_width_doubles_in_a_round_until_the_first_refusal_then_grows_by_one_a_round() -> None:
    clock = StillClock()
    limiter = Limiter(Widths(4, 100), clock)
    for _ in range(4):
        limiter.succeeded()
    assert limiter.width == 8
    limiter.failed(limited(2))
    assert limiter.width == 4
    for _ in range(3):
        limiter.succeeded()
    assert limiter.width == 4
    limiter.succeeded()
    assert limiter.width == 5


def test_the_width_never_leaves_its_bounds() -> None:
    clock = StillClock()
    limiter = Limiter(Widths(50, 3), clock)
    assert limiter.width == 3
    limiter.succeeded()
    assert limiter.width == 3
    for _ in range(5):
        limiter.failed(limited(1))
        clock.time += 2
    assert limiter.width == 1


def test_a_burst_of_refusals_is_one_cut() -> None:
    clock = StillClock()
    limiter = Limiter(Widths(64, 64), clock)
    for _ in range(64):
        limiter.failed(limited(3))
    assert limiter.width == 32
    clock.time += 4
    limiter.failed(limited(3))
    assert limiter.width == 16


@pytest.mark.parametrize("code", ["server_error", "overloaded", "timeout", "bad_request"])
def test_other_trouble_cuts_nothing(code: str) -> None:
    limiter = Limiter(Widths(8, 8), StillClock())
    limiter.failed(ProviderError("x", code=code))
    assert limiter.width == 8


def test_nobody_is_served_before_the_time_the_provider_asked_for() -> None:
    async def go() -> float:
        limiter = Limiter(Widths(2, 2), Clock())
        limiter.failed(limited(0.15))
        began = time.monotonic()
        async with limiter.slot(0):
            return time.monotonic() - began

    assert 0.15 <= asyncio.run(go()) < 1


def test_a_wish_for_hours_is_cut() -> None:
    clock = StillClock()
    limiter = Limiter(Widths(2, 2), clock)
    limiter.failed(limited(9e9))
    clock.time += LONGEST_PAUSE + 1

    async def go() -> None:
        async with asyncio.timeout(1), limiter.slot(0):
            pass

    asyncio.run(go())


def test_cancelled_waiters_give_their_place_up_and_no_slot_is_lost() -> None:
    async def go() -> tuple[int, int, int]:
        limiter = Limiter(Widths(1, 1), Clock())
        release = asyncio.Event()

        async def hold() -> None:
            async with limiter.slot(0):
                await release.wait()

        tasks = [asyncio.create_task(hold()) for _ in range(6)]
        await asyncio.sleep(0)
        before = limiter.waiting
        for task in tasks[2:5]:
            task.cancel()
        await asyncio.sleep(0)
        after = limiter.waiting
        tasks[0].cancel()  # its slot goes to the next, which is cancelled in the same turn: the slot must move on
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.sleep(0)
        release.set()
        async with asyncio.timeout(1):
            await tasks[5]
        return before, after, limiter.in_flight

    assert asyncio.run(go()) == (5, 2, 0)


def test_accounts_do_not_share_slots() -> None:
    async def go() -> tuple[int, int]:
        limiters = Limiters(Widths(1, 1), Clock(), own={"big": Widths(5, 5)})
        async with limiters.of("a").slot(0), limiters.of("b").slot(0):
            return limiters.in_flight, limiters.width + limiters.of("big").width

    assert asyncio.run(go()) == (2, 7)
