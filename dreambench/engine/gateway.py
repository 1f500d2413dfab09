"""The one way out: cache -> single flight -> limiter -> provider -> ledger -> cache.

Judges and tools describe a call and how to make it; whether it is made, when, and how often is decided here and nowhere
else. An answer that reached the process is stored before it is used and never bought again. Refusals, truncations and
errors are never stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from dreambench.engine.awaited import Awaited
from dreambench.engine.budget import Budget, CellBudgets, Limits, OverBudgetError
from dreambench.engine.call import Call, CallRecord, Reply
from dreambench.engine.clock import Clock
from dreambench.engine.limiter import Limiters, Widths
from dreambench.engine.pending import Pending
from dreambench.engine.rate import PerMinute, estimated_tokens
from dreambench.engine.retry import RetryPolicy
from dreambench.engine.scope import count, current_cell
from dreambench.engine.store import AnswerStore, CacheMode
from dreambench.errors import AnswerError, DreambenchError, ProviderError, TransientError

Send = Callable[[], Awaitable[Reply]]


class RunEndedError(DreambenchError):
    """A call that came after the last cell had ended: nobody waits for its answer, so it is not made."""


@dataclass(slots=True)
class _Attempt:
    """How a call is going: the reply once there is one, where it came from, how many tries were made, whether one flies."""

    reply: Reply = field(default_factory=lambda: Reply("", cost=0.0))
    source: str = "cache"
    tries: int = 0
    noted: bool = False
    flying: bool = False


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
        pending: Pending | None = None,
        cells: CellBudgets | None = None,
    ) -> None:
        self._store = store
        self._limiters = limiters
        self._retry = retry
        self._budget = budget
        self._clock = clock
        self._record = record
        self._pending = pending or Pending()
        self.awaited = Awaited()
        self.cells = cells or CellBudgets(Limits(), clock)
        self._flights: dict[str, asyncio.Future[Reply]] = {}
        self._led: dict[str, tuple[asyncio.Task[object], _Attempt]] = {}
        self._last_turn: asyncio.Future[None] | None = None
        self._ended = False

    @property
    def replays(self) -> bool:
        """Whether only stored answers are given (`cache.mode=replay`): then nobody needs a key."""
        return self._store.mode is CacheMode.REPLAY

    @property
    def clock(self) -> Clock:
        """The clock that calls are timed with."""
        return self._clock

    @property
    def home(self) -> Path:
        """The folder that bought answers go to."""
        return self._store.home

    def limit(self, account: str, widths: Widths | None = None, per_minute: PerMinute | None = None) -> None:
        """Gives an account its own widths and limits per minute."""
        self._limiters.give(account, widths, per_minute)

    @property
    def trouble(self) -> str:
        """Why bought answers could not be stored, for the run's findings; empty while all is well."""
        return self._store.trouble

    async def call(self, call: Call, send: Send) -> Reply:
        """The stored or newly bought reply to `call`; `send` makes exactly one attempt and never retries by itself.

        Whoever meters the running code (`scope.metered`) counts the reply.

        Raises AnswerError for a refused or truncated answer, ProviderError when the provider stays in trouble,
        CacheMissError in replay mode, BudgetReached when nothing more may be spent.
        """
        started = self._clock.monotonic()
        while (flight := self._flights.get(call.key)) is not None:
            try:
                reply = await asyncio.shield(flight)
            except asyncio.CancelledError:
                if flight.cancelled() and not _is_cancelled():
                    continue  # who asked was cancelled, we were not: the answer is still wanted
                raise
            except OverBudgetError:
                continue  # the cell that asked has spent its share, ours may have not
            self._note(call, _Attempt(reply, "flight"), "ok", started)
            self.cells.spend(call, reply, current_cell().id)
            count(reply)
            return reply
        reply = await self._lead(call, send, started)
        count(reply)
        return reply

    async def forget(self, calls: Iterable[Call]) -> None:
        """Drops stored replies that turned out to be unusable, so that a later run asks again."""
        for call in calls:
            await self._store.drop(call.key)

    async def drain(self) -> None:
        """Begins no more calls and waits for those in flight; those that wait for a slot or a next try are cancelled.

        A cell that ends with an error may leave calls of its own under way. They are paid, so their answers are stored.
        """
        self._ended = True
        for task, attempt in self._led.values():
            if not attempt.flying:
                task.cancel()
        while self._flights:
            await asyncio.wait(list(self._flights.values()))

    def drop(self) -> None:
        """Begins no more calls and cancels those in flight."""
        self._ended = True
        for task, _ in self._led.values():
            task.cancel()

    async def _lead(self, call: Call, send: Send, started: float) -> Reply:
        """Fetches the reply, for us and for all who ask for it meanwhile."""
        flight: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._flights[call.key] = flight
        leader = asyncio.current_task()
        assert leader is not None
        attempt = _Attempt()
        self._led[call.key] = (leader, attempt)
        try:
            await self._fetch(call, send, attempt, started)
        except asyncio.CancelledError:
            flight.cancel()
            if attempt.tries and not attempt.noted and not call.batched:
                attempt.reply = Reply("", cost=None if call.metered else 0.0)  # it may have been charged all the same
                self._note(call, attempt, "cancelled", started)
            raise
        except BaseException as error:  # whatever it is, whoever shares the flight gets it too
            flight.set_exception(error)
            flight.exception()  # whoever shares the flight sees it; alone, it is raised here
            if isinstance(error, TransientError) and not isinstance(error, AnswerError | OverBudgetError):
                self._note_failure(call, attempt, error, started)
            raise
        else:
            flight.set_result(attempt.reply)
            return attempt.reply
        finally:
            del self._flights[call.key], self._led[call.key]

    async def _fetch(self, call: Call, send: Send, attempt: _Attempt, started: float) -> None:
        if (stored := await self._store.get(call.key)) is not None:
            attempt.reply = stored
            self.cells.spend(call, stored, current_cell().id)
            self._note(call, attempt, "ok", started)
            return
        await self._buy(call, send, attempt, started)
        if attempt.reply.finish != "stop":
            raise AnswerError(f"{call.model}: answer unusable ({attempt.reply.finish})", code=attempt.reply.finish)

    async def _buy(self, call: Call, send: Send, attempt: _Attempt, started: float) -> None:
        """Tries until a reply is stored or the retry policy gives up; waiting for the first slot is not counted as trying.

        The slot is held until what was bought is stored: a kill then loses no more calls than there are slots, and nothing
        is bought faster than the disk can keep it. Work of this process frees its slot at once.
        """
        limiter = self._limiters.of(call.account)
        expected = estimated_tokens(call) if self._limiters.counts_tokens(call.account) else 0
        began: float | None = None
        while True:
            try:
                async with limiter.slot(current_cell().order, expected):
                    if call.metered:
                        await self._turn()
                    if self._ended:
                        raise RunEndedError("the run has ended")
                    began = self._clock.monotonic() if began is None else began
                    with self._under_way(call, attempt):
                        with self._budget.admit(metered=call.metered), self.cells.admit(call, current_cell().id):
                            attempt.source = "provider"
                            attempt.tries += 1
                            attempt.reply = await send()
                            self.cells.spend(call, attempt.reply, current_cell().id)
                        limiter.succeeded()
                        limiter.settle(attempt.reply.usage.prompt + attempt.reply.usage.completion - expected)
                        if call.metered:
                            self._budget.spend(attempt.reply)
                            await self._keep(call, attempt, started)
                if not call.metered:
                    await self._keep(call, attempt, started)
                return
            except ProviderError as error:
                limiter.failed(error)
                elapsed = 0.0 if call.batched else self._clock.monotonic() - (began or 0.0)  # hours of waiting are no trouble
                pause = self._retry.pause(error, attempt.tries, elapsed)
                if pause is None or self._ended:
                    if attempt.tries > 1:
                        error.add_note(f"after {attempt.tries} attempts")
                    raise
                await self._clock.sleep(pause)

    async def _turn(self) -> None:
        """Lets one call begin per round of the event loop: preparing a request takes milliseconds, and hundreds that may start
        together would hold up all who wait for the loop."""
        before, turn = self._last_turn, asyncio.get_running_loop().create_future()
        self._last_turn = turn
        try:
            if before is not None and not before.done():
                await asyncio.wait([before])
            await asyncio.sleep(0)
        finally:
            turn.set_result(None)

    @contextmanager
    def _under_way(self, call: Call, attempt: _Attempt) -> Iterator[None]:
        """From sending a call to having its answer, a bought one stored."""
        attempt.flying = True
        try:
            if not call.metered or call.batched:
                yield
                return
            with self._pending.one():
                yield
        finally:
            attempt.flying = False

    async def _keep(self, call: Call, attempt: _Attempt, started: float) -> None:
        """Stores a reply and notes it: it is paid, whatever becomes of the store or of this task."""
        reply = attempt.reply
        try:
            if reply.finish == "stop":
                await self._store.put(call, reply)
        finally:
            self._note(call, attempt, "ok" if reply.finish == "stop" else reply.finish, started)

    def _note_failure(self, call: Call, attempt: _Attempt, error: TransientError, started: float) -> None:
        code = error.code if isinstance(error, ProviderError) else type(error).__name__
        if code == "timeout" and call.metered:
            attempt.reply = Reply("", cost=None)  # the provider may have answered, and charged, after we hung up
        self._note(call, attempt, code, started)

    def _note(self, call: Call, got: _Attempt, outcome: str, started: float) -> None:
        reply, usage = got.reply, got.reply.usage
        got.noted = True
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
                attempts=got.tries,
                prompt_tokens=usage.prompt,
                completion_tokens=usage.completion,
                cached_tokens=usage.cached,
                reasoning_tokens=usage.reasoning,
                cost=reply.cost,
                seconds=self._clock.monotonic() - started,
                cache_write_tokens=usage.cache_write,
            )
        )


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
