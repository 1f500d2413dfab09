"""The gateway with its real parts: bought once, stored first, waited for in order, counted whatever happens."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dreambench.engine.budget import BudgetReached, Limits
from dreambench.engine.call import Call, Reply, Usage
from dreambench.engine.limiter import Widths
from dreambench.engine.retry import RetryPolicy
from dreambench.engine.scope import CellScope, enter_cell
from dreambench.engine.store import CacheMode, StoreError
from dreambench.errors import AnswerError, CacheMissError, ProviderError
from tests.support.gateway import TestGateway, make_gateway

PRICED = Reply('{"a":1}', model="m-1", usage=Usage(prompt=10, completion=5), cost=0.25)


def call(text: str = "q", **changes: Any) -> Call:
    return Call(**{"provider": "p", "account": "p@x", "model": "m", "body": {"q": text}, **changes})


class Sender:
    """Counts what is sent; plays errors first, then answers after `delay`."""

    def __init__(self, *errors: Exception, reply: Reply = PRICED, delay: float = 0.0) -> None:
        self.errors = list(errors)
        self.reply = reply
        self.delay = delay
        self.sent = 0
        self.open = 0
        self.most = 0

    async def __call__(self) -> Reply:
        self.sent += 1
        self.open += 1
        self.most = max(self.most, self.open)
        try:
            await asyncio.sleep(self.delay)
            if self.errors:
                raise self.errors.pop(0)
            return self.reply
        finally:
            self.open -= 1


def run(gateway: TestGateway, work: Callable[[], Any]) -> Any:
    async def go() -> Any:
        try:
            return await work()
        finally:
            gateway.store.close()

    return asyncio.run(go())


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not true():
            await asyncio.sleep(0.001)


def outcomes(gateway: TestGateway) -> list[tuple[str, str, int]]:
    return [(record.source, record.outcome, record.attempts) for record in gateway.records]


def test_equal_calls_in_flight_are_sent_once_and_the_money_is_counted_once(gateway: TestGateway) -> None:
    send = Sender(delay=0.02)
    replies = run(gateway, lambda: asyncio.gather(*(gateway.call(call(), send) for _ in range(20))))
    assert send.sent == 1
    assert replies == [PRICED] * 20
    assert sorted(record.source for record in gateway.records) == ["flight"] * 19 + ["provider"]
    assert sum(record.cost or 0 for record in gateway.records if record.source == "provider") == 0.25


def test_a_stored_reply_comes_back_as_it_was_in_another_process(tmp_path: Path) -> None:
    odd = Reply("\ud83d half a pair, 中文, \x00", model="m", fingerprint="f", usage=Usage(1, 2, 3, 4), cost=None)
    run(first := make_gateway(tmp_path), lambda: first.call(call(), Sender(reply=odd)))
    never = Sender()
    again = make_gateway(tmp_path)
    assert run(again, lambda: again.call(call(), never)) == odd
    assert never.sent == 0
    assert outcomes(again) == [("cache", "ok", 0)]


def test_followers_take_over_when_who_asked_first_is_cancelled(gateway: TestGateway) -> None:
    send = Sender(delay=0.3)

    async def work() -> tuple[Reply, Reply]:
        leader = asyncio.create_task(gateway.call(call(), send))
        await until(lambda: send.open == 1)
        followers = [asyncio.create_task(gateway.call(call(), send)) for _ in range(2)]
        await asyncio.sleep(0.01)
        leader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leader
        first, second = await asyncio.gather(*followers)
        return first, second

    assert run(gateway, work) == (PRICED, PRICED)
    assert send.sent == 2
    assert outcomes(gateway) == [("provider", "cancelled", 1), ("provider", "ok", 1), ("flight", "ok", 0)]
    assert gateway.records[0].cost is None


def test_a_cancelled_follower_leaves_the_call_alone(gateway: TestGateway) -> None:
    send = Sender(delay=0.3)

    async def work() -> Reply:
        leader = asyncio.create_task(gateway.call(call(), send))
        await until(lambda: send.open == 1)
        follower = asyncio.create_task(gateway.call(call(), send))
        await asyncio.sleep(0.01)
        follower.cancel()
        with pytest.raises(asyncio.CancelledError):
            await follower
        return await leader

    assert run(gateway, work) == PRICED
    assert send.sent == 1


def test_a_call_cancelled_while_its_answer_is_stored_has_bought_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gateway, send = make_gateway(tmp_path), Sender()
    put = gateway.store.put
    writing: list[asyncio.Future[None]] = []

    async def slow_put(*args: Any) -> None:
        writing.append(asyncio.ensure_future(put(*args)))
        await asyncio.sleep(30)

    async def work() -> None:
        monkeypatch.setattr(gateway.store, "put", slow_put)
        task = asyncio.create_task(gateway.call(call(), send))
        await until(lambda: bool(writing))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await writing[0]

    run(gateway, work)
    assert outcomes(gateway) == [("provider", "ok", 1)]
    again = make_gateway(tmp_path)
    assert run(again, lambda: again.call(call(), send)) == PRICED
    assert send.sent == 1


def test_all_who_share_a_failing_call_see_the_error_and_it_is_noted_once(gateway: TestGateway) -> None:
    send = Sender(ProviderError("no", code="bad_request", permanent=True), delay=0.01)

    async def work() -> list[Any]:
        return await asyncio.gather(*(gateway.call(call(), send) for _ in range(3)), return_exceptions=True)

    errors = run(gateway, work)
    assert [error.code for error in errors] == ["bad_request"] * 3
    assert outcomes(gateway) == [("provider", "bad_request", 1)]


def test_trouble_is_tried_again_until_the_policy_gives_up(tmp_path: Path) -> None:
    gateway = make_gateway(tmp_path, retry=RetryPolicy(attempts=3, base=0.001))
    good = Sender(*(ProviderError("x", code="server_error") for _ in range(2)))
    bad = Sender(*(ProviderError("x", code="connection") for _ in range(9)))

    async def work() -> None:
        await gateway.call(call("good"), good)
        with pytest.raises(ProviderError) as caught:
            await gateway.call(call("bad"), bad)
        assert caught.value.__notes__ == ["after 3 attempts"]

    run(gateway, work)
    assert (good.sent, bad.sent) == (3, 3)
    assert outcomes(gateway) == [("provider", "ok", 3), ("provider", "connection", 3)]


@pytest.mark.parametrize("finish", ["length", "refusal"])
def test_unusable_answers_are_paid_noted_and_never_stored(finish: str, gateway: TestGateway) -> None:
    send = Sender(reply=Reply("", finish=finish, cost=0.1))

    async def work() -> None:
        for _ in range(2):
            with pytest.raises(AnswerError) as caught:
                await gateway.call(call(), send)
            assert caught.value.code == finish

    run(gateway, work)
    assert send.sent == 2
    assert [(record.outcome, record.cost) for record in gateway.records] == [(finish, 0.1)] * 2


def test_a_bug_in_a_sender_frees_its_slot_and_reaches_the_caller(tmp_path: Path) -> None:
    gateway = make_gateway(tmp_path, widths=Widths(1, 1))

    async def work() -> Reply:
        with pytest.raises(ZeroDivisionError):
            await gateway.call(call("broken"), Sender(ZeroDivisionError()))
        return await asyncio.wait_for(gateway.call(call("next"), Sender()), 1)

    assert run(gateway, work) == PRICED


def test_calls_of_older_cells_go_first_and_the_width_is_kept(tmp_path: Path) -> None:
    gateway = make_gateway(tmp_path, widths=Widths(2, 2))
    served: list[int] = []
    gauge = Sender(delay=0.005)

    async def one(order: int) -> None:
        enter_cell(CellScope(str(order), order))

        async def send() -> Reply:
            served.append(order)
            return await gauge()

        await gateway.call(call(f"q{order}"), send)

    async def work() -> None:
        await asyncio.gather(*(asyncio.create_task(one(order)) for order in (0, 1, 9, 3, 7, 5)))

    run(gateway, work)
    assert served[2:] == [3, 5, 7, 9]
    assert gauge.most == 2
    assert {record.cell for record in gateway.records} == {"0", "1", "3", "5", "7", "9"}


def test_a_budget_of_calls_is_kept_exactly_with_many_in_flight(tmp_path: Path) -> None:
    gateway = make_gateway(tmp_path, limits=Limits(calls=5), widths=Widths(64, 64))
    send = Sender(delay=0.01)

    async def work() -> list[Any]:
        return await asyncio.gather(*(gateway.call(call(f"q{n}"), send) for n in range(40)), return_exceptions=True)

    results = run(gateway, work)
    assert send.sent == 5
    assert sum(isinstance(result, BudgetReached) for result in results) == 35
    assert len(gateway.records) == 5


def test_a_budget_of_money_counts_what_is_in_flight(tmp_path: Path) -> None:
    gateway = make_gateway(tmp_path, limits=Limits(money=2.0), widths=Widths(4, 4))
    send = Sender(delay=0.001)

    async def work() -> list[Any]:
        return await asyncio.gather(*(gateway.call(call(f"q{n}"), send) for n in range(40)), return_exceptions=True)

    run(gateway, work)
    assert send.sent == 8
    assert sum(record.cost or 0 for record in gateway.records) == 2.0


def test_stored_answers_cost_no_budget_and_unmetered_calls_leave_it_alone(tmp_path: Path) -> None:
    gateway = make_gateway(tmp_path, limits=Limits(calls=2))

    async def work() -> None:
        await gateway.call(call("a"), Sender())
        for number in range(5):
            await gateway.call(call("a"), Sender())
            await gateway.call(call(f"own {number}", metered=False), Sender())
        await gateway.call(call("b"), Sender())
        with pytest.raises(BudgetReached, match=r"engine\.budget\.calls=2"):
            await gateway.call(call("c"), Sender())

    run(gateway, work)


def test_replay_reads_and_never_asks_writes_or_forgets(tmp_path: Path) -> None:
    run(first := make_gateway(tmp_path), lambda: first.call(call("known"), Sender()))
    gateway, send = make_gateway(tmp_path, mode=CacheMode.REPLAY), Sender()

    async def work() -> None:
        assert await gateway.call(call("known"), send) == PRICED
        await gateway.forget([call("known")])
        assert await gateway.call(call("known"), send) == PRICED
        with pytest.raises(CacheMissError, match="cache"):
            await gateway.call(call("unknown"), send)

    run(gateway, work)
    assert send.sent == 0
    assert outcomes(gateway)[-1] == ("cache", "CacheMissError", 0)


def test_a_replay_of_nothing_makes_no_cache(tmp_path: Path) -> None:
    gateway = make_gateway(tmp_path, mode=CacheMode.REPLAY)

    async def work() -> None:
        with pytest.raises(CacheMissError):
            await gateway.call(call(), Sender())

    run(gateway, work)
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("mode", [CacheMode.REFRESH, CacheMode.OFF])
def test_refresh_and_off_ask_again_but_never_twice_in_one_run(mode: CacheMode, tmp_path: Path) -> None:
    run(first := make_gateway(tmp_path), lambda: first.call(call(), Sender(reply=Reply("old"))))
    send = Sender(reply=Reply("new"))
    for _ in range(2):
        run(again := make_gateway(tmp_path, mode=mode), lambda again=again: again.call(call(), send))
    assert send.sent == 1
    last = make_gateway(tmp_path)
    shared = run(last, lambda: last.call(call(), Sender()))
    assert shared.answer == ("new" if mode is CacheMode.REFRESH else "old")


def test_a_full_disk_does_not_lose_the_answer_in_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gateway, send = make_gateway(tmp_path), Sender()
    write = gateway.store._cache

    def full(folder: Path) -> Any:
        cache = write(folder)
        monkeypatch.setattr(cache, "set", lambda *args, **keys: (_ for _ in ()).throw(sqlite3.OperationalError("disk full")))
        return cache

    async def work() -> list[Reply]:
        monkeypatch.setattr(gateway.store, "_cache", full)
        replies = [await gateway.call(call(), send) for _ in range(2)]
        monkeypatch.undo()
        return replies

    assert run(gateway, work) == [PRICED, PRICED]
    assert send.sent == 1
    assert "disk full" in gateway.trouble
    again = make_gateway(tmp_path)
    assert run(again, lambda: again.call(call(), send)) == PRICED
    assert send.sent == 1


def test_a_cache_that_cannot_be_read_stops_before_anything_is_bought_again(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "cache.db").write_bytes(b"this is no database, and long enough to be refused" * 50)
    gateway, send = make_gateway(tmp_path), Sender()

    async def work() -> None:
        with pytest.raises(StoreError) as caught:
            await gateway.call(call(), send)
        assert caught.value.problems[0].where == "paths.cache"

    run(gateway, work)
    assert send.sent == 0


def test_forgotten_answers_are_asked_for_again(gateway: TestGateway) -> None:
    send = Sender()

    async def work() -> None:
        await gateway.call(call(), send)
        await gateway.forget([call()])
        await gateway.call(call(), send)

    run(gateway, work)
    assert send.sent == 2


def test_what_cannot_change_an_answer_is_not_in_the_key() -> None:
    base = call()
    assert base.key == call(role="extraction", account="other").key
    others = [call("r"), call(model="n"), call(provider="r"), call(repeat=1)]
    assert len({base.key, *(other.key for other in others)}) == 5


def test_a_gateway_serves_one_event_loop_after_the_other(gateway: TestGateway) -> None:
    """As for whoever calls `asyncio.run` twice: what calls of the first loop waited for is no business of the second."""
    sender = Sender()

    async def many(first: int) -> list[Reply]:
        return await asyncio.gather(*(gateway.call(call(f"q{first + number}"), sender) for number in range(5)))

    for first in (0, 5):
        assert len(asyncio.run(many(first))) == 5
    assert sender.sent == 10
