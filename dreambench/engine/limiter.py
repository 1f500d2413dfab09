"""How many calls of one account may be in flight: grows until the provider says stop, then gently.

Only leaf calls hold slots, never a cell that waits for its own calls, so the engine cannot lock itself up. Waiting calls
of the oldest cell go first.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from dreambench.engine.clock import Clock
from dreambench.engine.rate import Pace, PerMinute
from dreambench.errors import ProviderError

LONGEST_PAUSE = 600.0
"""Seconds that an account rests at most; a provider that wants more is asked again, so that the run can end."""


@dataclass(frozen=True, slots=True)
class Widths:
    """Concurrency of one account: starts at `start`, never exceeds `most`."""

    start: int = 8
    most: int = 64


class Limiter:
    """A priority semaphore whose width adapts: +1 per success until the first refusal, then +1 per full width of them."""

    def __init__(self, widths: Widths, clock: Clock, per_minute: PerMinute | None = None) -> None:
        self._pace = Pace(per_minute, clock.monotonic()) if per_minute else None
        self.width = min(widths.start, widths.most)
        self.in_flight = 0
        self._most = widths.most
        self._clock = clock
        self._waiting: list[tuple[int, int, asyncio.Future[None], int]] = []
        self._gone = 0
        self._ticket = itertools.count()
        self._probing = True
        self._credit = 0
        self._closed_until = 0.0
        self._reopen: asyncio.TimerHandle | None = None

    @property
    def waiting(self) -> int:
        """Ready calls without a slot."""
        return len(self._waiting) - self._gone

    @asynccontextmanager
    async def slot(self, order: int, tokens: int = 0) -> AsyncIterator[None]:
        """Holds one slot; lower `order` is served first, equal ones in the order they came. `tokens` is what the call is
        thought to need of what the account has per minute."""
        await self._acquire(order, tokens)
        try:
            yield
        finally:
            self.in_flight -= 1
            self._serve()

    def settle(self, tokens: int) -> None:
        """Tells how many tokens more a call used than it was thought to need."""
        if self._pace is not None:
            self._pace.settle(tokens)

    def succeeded(self) -> None:
        """Grows the width after a call that the provider took."""
        self._credit += 1
        if self.width < self._most and (self._probing or self._credit >= self.width):
            self.width += 1
            self._credit = 0
            self._serve()

    def failed(self, error: ProviderError) -> None:
        """Cuts the width and cools down after a rate limit; pauses, without a cut, while a server is in trouble.

        Calls sent together are refused together: one cut answers all refusals that arrive during its pause.
        """
        if error.code == "rate_limited":
            self._probing = False
            self._credit = 0
            if self._clock.monotonic() >= self._closed_until:
                self.width = max(1, self.width // 2)
            self._cool_down(error.retry_after or 1.0)
        elif error.code in ("server_error", "overloaded"):
            self._cool_down(error.retry_after or 0.5)

    async def _acquire(self, order: int, tokens: int) -> None:
        if not self._waiting and self._open():
            self._begin(tokens)
            return
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (order, next(self._ticket), future, tokens))
        self._serve()
        try:
            await future
        except asyncio.CancelledError:
            if future.cancelled():
                self._gone += 1  # it stays in the queue until its turn
            else:
                self.in_flight -= 1
                self._serve()
            raise

    def _open(self) -> bool:
        return self.in_flight < self.width and self._rest() <= 0

    def _rest(self) -> float:
        """Seconds until the account may be asked again."""
        now = self._clock.monotonic()
        return max(self._closed_until - now, self._pace.wait(now) if self._pace else 0.0)

    def _begin(self, tokens: int) -> None:
        self.in_flight += 1
        if self._pace is not None:
            self._pace.begin(tokens)

    def _serve(self) -> None:
        while self._waiting and self._open():
            _, _, future, tokens = heapq.heappop(self._waiting)
            if future.done():
                self._gone -= 1
                continue
            self._begin(tokens)
            future.set_result(None)
        if self._waiting and self._reopen is None and (wait := self._rest()) > 0:
            self._reopen = asyncio.get_running_loop().call_later(wait, self._open_again)

    def _open_again(self) -> None:
        self._reopen = None
        self._serve()

    def _cool_down(self, seconds: float) -> None:
        self._closed_until = max(self._closed_until, self._clock.monotonic() + min(seconds, LONGEST_PAUSE))


class Limiters:
    """One limiter per account, made when first asked for; accounts in `own` have their own widths."""

    def __init__(self, widths: Widths, clock: Clock, own: Mapping[str, Widths] | None = None) -> None:
        self._widths = widths
        self._own = dict(own or {})
        self._clock = clock
        self._per_minute: dict[str, PerMinute] = {}
        self._by_account: dict[str, Limiter] = {}

    def give(self, account: str, widths: Widths | None = None, per_minute: PerMinute | None = None) -> None:
        """Gives an account its own widths and limits per minute, before it is first used."""
        if widths is not None:
            self._own[account] = widths
        if per_minute is not None:
            known = self._per_minute.get(account)
            self._per_minute[account] = known.stricter(per_minute) if known else per_minute

    def counts_tokens(self, account: str) -> bool:
        """Whether the account has a limit of tokens per minute."""
        limits = self._per_minute.get(account)
        return limits is not None and limits.tokens is not None

    def of(self, account: str) -> Limiter:
        """The limiter of `account`."""
        if account not in self._by_account:
            widths, per_minute = self._own.get(account, self._widths), self._per_minute.get(account)
            self._by_account[account] = Limiter(widths, self._clock, per_minute)
        return self._by_account[account]

    @property
    def waiting(self) -> int:
        """Ready calls without a slot, over all accounts."""
        return sum(limiter.waiting for limiter in self._by_account.values())

    @property
    def in_flight(self) -> int:
        """Calls that hold a slot, over all accounts."""
        return sum(limiter.in_flight for limiter in self._by_account.values())

    @property
    def width(self) -> int:
        """Slots of all accounts that are busy now; at least 1. Idle accounts (a web host seen once) do not count."""
        return sum(limiter.width for limiter in self._by_account.values() if limiter.in_flight or limiter.waiting) or 1
