"""The workflow evaluator: fixed stages, each item on a chain of its own.

A metric writes its stages one after the other in an ordinary coroutine (extract -> queries -> search -> read -> judge) and
starts one such chain per item with `together`. An item goes on to its next stage as soon as its own stage is done: no stage
waits for the slowest item of the stage before, within a report or between reports. A chain holds no limiter slot; only the
leaf calls that it makes through the gateway do, and those of the oldest cell go first.

Our own trouble in one stage ends that item's chain and nothing else (`need`, `StageFailed`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from typing import Generic, TypeVar

from dreambench.errors import DreambenchError
from dreambench.judges.judge import Judge
from dreambench.metrics.asking import Failed

T = TypeVar("T")
Item = TypeVar("Item")
K = TypeVar("K", bound=Hashable)


class StageFailed(DreambenchError):
    """One item cannot go on; `failed` goes into its row, and the item is owed."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed.message)
        self.failed = failed


def need(result: T | Failed) -> T:
    """What a stage gave. Raises StageFailed where it failed, which ends the item's chain."""
    if isinstance(result, Failed):
        raise StageFailed(result)
    return result


async def together(work: Iterable[Awaitable[T]]) -> list[T]:
    """The results of all, in order, all under way at once.

    An error is raised when the others have ended too: no call outlives its cell, and what was bought on the way is stored.
    """
    results = await asyncio.gather(*work, return_exceptions=True)
    done: list[T] = []
    for result in results:
        if isinstance(result, BaseException):
            raise result
        done.append(result)
    return done


async def lead_first(judge: Judge, one: Callable[[Item], Awaitable[T]], items: Sequence[Item]) -> list[T]:
    """`one` of every item, in order, all under way at once but the first: it goes ahead, so that what their prompts share is in
    the provider's cache. Where answers come in batches, hours later, none goes ahead."""
    ahead = 0 if judge.batched else 1
    first = [await one(item) for item in items[:ahead]]
    return [*first, *await together(one(item) for item in items[ahead:])]


class Once(Generic[K, T]):
    """Work that several chains of one cell share: whoever asks first starts it, the others wait for the same result."""

    def __init__(self, make: Callable[[K], Awaitable[T]]) -> None:
        self._make = make
        self._tasks: dict[K, asyncio.Future[T]] = {}

    async def __call__(self, key: K) -> T:
        if key not in self._tasks:
            self._tasks[key] = asyncio.ensure_future(self._make(key))
        return await self._tasks[key]


def total_cost(costs: Iterable[float | None]) -> float | None:
    """The sum in US dollars; None when one of them is unknown."""
    known = list(costs)
    return None if any(cost is None for cost in known) else sum(cost for cost in known if cost is not None)
