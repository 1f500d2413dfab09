"""The one way out: cache -> single flight -> limiter -> provider -> ledger -> cache.

Judges and tools describe a call and how to make it; whether it is made, when, and how often is decided here and nowhere
else. An answer that reached the process is stored before it is used and never bought again. Refusals, truncations and
errors are never stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from dreambench.engine.budget import Budget
from dreambench.engine.call import Call, CallRecord, Reply, Usage
from dreambench.engine.clock import Clock
from dreambench.engine.limiter import Limiters
from dreambench.engine.retry import RetryPolicy
from dreambench.engine.scope import current_cell
from dreambench.engine.store import AnswerStore
from dreambench.errors import AnswerError, ProviderError, TransientError

Send = Callable[[], Awaitable[Reply]]


@dataclass(slots=True)
class _Attempted:
    """A fetched reply with where it came from and how many tries it took."""

    reply: Reply
    source: str
    attempts: int


class Gateway:
    """Makes calls once, within limits, and keeps the ledger through `record`."""

    def __init__(
        self,
        *,
        store: AnswerStore,
        limiters: Limiters,
        retry: RetryPolicy,
        budget: Budget,
        clock: Clock,
        record: Callable[[CallRecord], None],
    ) -> None:
        self._store = store
        self._limiters = limiters
        self._retry = retry
        self._budget = budget
        self._clock = clock
        self._record = record
        self._flights: dict[str, asyncio.Future[Reply]] = {}

    async def call(self, call: Call, send: Send) -> Reply:
        """The stored or newly bought reply to `call`; `send` makes exactly one attempt and never retries by itself.

        Raises AnswerError for a refused or truncated answer, ProviderError when the provider stays in trouble,
        CacheMissError in replay mode, BudgetReached when nothing more may be spent.
        """
        started = self._clock.monotonic()
        if flight := self._flights.get(call.key):
            reply = await asyncio.shield(flight)
            self._note(call, _Attempted(reply, "flight", 0), "ok", started)
            return reply
        flight = asyncio.get_running_loop().create_future()
        self._flights[call.key] = flight
        try:
            got = await self._fetch(call, send)
        except BaseException as error:
            flight.set_exception(error)
            flight.exception()  # whoever shares the flight sees it; alone, it is raised below
            if isinstance(error, TransientError):
                self._note_failure(call, error, started)
            raise
        else:
            flight.set_result(got.reply)
            self._note(call, got, "ok", started)
            return got.reply
        finally:
            del self._flights[call.key]

    async def forget(self, calls: Iterable[Call]) -> None:
        """Drops stored replies that turned out to be unusable, so that a later run asks again."""
        for call in calls:
            await self._store.drop(call.key)

    async def _fetch(self, call: Call, send: Send) -> _Attempted:
        if (stored := await self._store.get(call.key)) is not None:
            return _Attempted(stored, "cache", 0)
        attempts = 0
        began = self._clock.monotonic()
        limiter = self._limiters.of(call.account)
        while True:
            attempts += 1
            try:
                async with limiter.slot(current_cell().order):
                    self._budget.check()
                    reply = await send()
                limiter.succeeded()
                break
            except ProviderError as error:
                limiter.failed(error)
                pause = self._retry.pause(error, attempts, self._clock.monotonic() - began)
                if pause is None:
                    error.add_note(f"after {attempts} attempts")
                    raise
                await self._clock.sleep(pause)
        if call.metered:
            self._budget.spend(reply)
        if reply.finish != "stop":
            self._note(call, _Attempted(reply, "provider", attempts), reply.finish, began)
            raise AnswerError(f"{call.model}: answer unusable ({reply.finish})", code=reply.finish)
        await self._store.put(call, reply)
        return _Attempted(reply, "provider", attempts)

    def _note_failure(self, call: Call, error: TransientError, started: float) -> None:
        if isinstance(error, AnswerError):
            return  # noted with its price where it happened
        code = error.code if isinstance(error, ProviderError) else type(error).__name__
        self._note(call, _Attempted(Reply("", cost=0.0), "provider", 1), code, started)

    def _note(self, call: Call, got: _Attempted, outcome: str, started: float) -> None:
        reply, usage = got.reply, got.reply.usage or Usage()
        self._record(
            CallRecord(
                key=call.key,
                cell=current_cell().id,
                role=call.role,
                provider=call.provider,
                account=call.account,
                requested_model=call.model,
                answered_model=reply.model,
                fingerprint=reply.fingerprint,
                repeat=call.repeat,
                source=got.source,
                outcome=outcome,
                attempts=got.attempts,
                prompt_tokens=usage.prompt,
                completion_tokens=usage.completion,
                cached_tokens=usage.cached,
                reasoning_tokens=usage.reasoning,
                cost=reply.cost,
                seconds=self._clock.monotonic() - started,
            )
        )
