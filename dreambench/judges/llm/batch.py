"""Answers through the provider's batch interface: cheaper, hours later, and safe to walk away from.

Requests are collected until a quiet moment and go up together. What went up is written down first (`batch_records`), so a
later run joins its calls to the batch that already answers them. Failed lines and batches are ProviderErrors, which the
gateway's retry policy treats like any other: it asks again, in the next batch.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt

from dreambench.engine.call import Reply
from dreambench.engine.gateway import Gateway
from dreambench.errors import AwaitedError, Problem, ProviderError
from dreambench.judges.llm.batch_api import PROVIDERS, BatchApi, Line, State
from dreambench.judges.llm.batch_records import Record, Records
from dreambench.judges.llm.client import Ask, Client
from dreambench.judges.llm.replies import Price

MOST_BYTES = 100_000_000
"""Of the requests of one batch; half of what OpenAI takes in one file."""
UNSETTLED = timedelta(hours=1)
"""Age at which a record without a batch is given up."""


class BatchSettings(BaseModel):
    """How requests travel in batches; `quiet` and `poll` are seconds, `price` is the share of the usual one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    most: PositiveInt = Field(default=1000, le=50_000)
    open: PositiveInt = 4000
    quiet: PositiveFloat = 10.0
    poll: PositiveFloat = 60.0
    price: float = Field(default=0.5, ge=0.0, le=1.0)


@dataclass(eq=False, slots=True)
class _Batch:
    """A batch at the provider and what this process knows of it; `lines` once it has ended."""

    record: Record
    lines: dict[str, Line] | None = None
    watch: asyncio.Task[None] | None = None
    asleep: bool = False
    taken: set[str] = field(default_factory=set)


class BatchSender:
    """Sends for one judge, many requests at a time. `where` is its config path."""

    def __init__(
        self,
        *,
        where: str,
        account: str,
        client: Client,
        provider: str,
        api_base: str | None,
        key: Callable[[], str | None],
        price: Price | None,
        settings: BatchSettings,
        gateway: Gateway,
    ) -> None:
        self.settings = settings
        self._where = where
        self._account = account
        self._client = client
        self._price = price
        self._gateway = gateway
        self._clock = gateway.clock
        self._api = BatchApi(client, provider, api_base, key, self._clock)
        self._records: Records | None = None
        self._batches: dict[str, _Batch] = {}
        self._waiting: dict[str, asyncio.Future[Line]] = {}
        self._collected: dict[str, Mapping[str, Any]] = {}
        self._bytes = 0
        self._arrived = 0
        self._wording = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._quiet: asyncio.Task[None] | None = None
        self._opening = asyncio.Lock()
        self._wire: Any = None
        self._left = False
        gateway.awaited.join(self)

    async def send(self, key: str, ask: Ask) -> Reply:
        """The answer to the call `key`, from the batch that has it or from the next one.

        Raises ProviderError for a line or a batch without an answer, AwaitedError when we leave before it is there.
        """
        await self._client.begin()
        await self._open()
        if key not in self._batches:
            self._stay()
            await self._collect(key, ask)
        line = await self._line(key)
        if line.answered:
            return self._api.reply(line, ask, self._price, self.settings.price)
        self._batches.pop(key, None)  # the next try goes into another batch
        return self._api.reply(line, ask, self._price, self.settings.price)

    def leave(self) -> None:
        """Stops waiting. What was sent stays at the provider; what was only collected is not sent."""
        self._left = True
        self._collected.clear()
        self._wake()
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(AwaitedError(f"{self._where}: the answer is not there yet"))

    def standing(self) -> list[str]:
        lines = []
        for batch in self._known():
            count, record = len(set(batch.record.keys) - batch.taken), batch.record
            if count and batch.lines is None and record.batch:
                lines.append(
                    f"{self._where}: answers awaited: {count:,}, from batch {record.batch} of {self._account}, submitted "
                    f"{record.submitted:%Y-%m-%d %H:%M} UTC; the same command again fetches them"
                )
        return lines

    async def close(self) -> None:
        """Lets what is being submitted end, and forgets the batches whose answers are all stored."""
        if self._quiet is not None:
            self._quiet.cancel()
        self._left = True
        self._wake()
        watches = [batch.watch for batch in self._known() if batch.watch is not None]
        await asyncio.gather(*self._tasks, *watches, return_exceptions=True)
        for batch in self._known():
            if batch.lines is not None and self._records is not None and not self._gateway.trouble:
                self._records.keep(batch.record, [key for key in batch.record.keys if key not in batch.taken])

    def _wake(self) -> None:
        """Ends the pauses between looks; a look that is under way ends by itself."""
        for batch in self._known():
            if batch.watch is not None and batch.asleep:
                batch.watch.cancel()

    def _known(self) -> list[_Batch]:
        return list(dict.fromkeys(self._batches.values()))

    def _stay(self) -> None:
        if self._left:
            raise AwaitedError(f"{self._where}: not asked any more, the run is being left")

    async def _open(self) -> None:
        """Learns, once, which batches an earlier run has left at the provider."""
        async with self._opening:
            if self._records is not None:
                return
            records = Records(self._gateway.home / "batches", self._account)
            for record in records.read(self._clock.now()):
                if not record.batch and not await self._settled(records, record):
                    continue
                batch = _Batch(record)
                self._batches.update((key, batch) for key in record.keys if key not in self._batches)
            self._records = records

    async def _settled(self, records: Records, record: Record) -> bool:
        """Whether a batch whose sender was stopped in mid-submission is at the provider after all."""
        record.batch = await self._api.find(record.name)
        if record.batch:
            records.write(record)
        elif self._clock.now() - record.submitted > UNSETTLED:  # a younger one may be another process's, and on its way
            records.forget(record)
        return bool(record.batch)

    async def _collect(self, key: str, ask: Ask) -> None:
        self._wording += 1
        try:
            body = await self._body(ask)
        finally:
            self._wording -= 1
        self._stay()
        size = len(json.dumps(body))
        if self._collected and self._bytes + size > MOST_BYTES:
            self._submit()
        self._collected[key] = body
        self._bytes += size
        self._arrived += 1
        if len(self._collected) >= self.settings.most:
            self._submit()
        elif self._quiet is None or self._quiet.done():
            self._quiet = asyncio.create_task(self._submit_when_quiet())

    async def _body(self, ask: Ask) -> Mapping[str, Any]:
        from dreambench.judges.llm import wire

        self._wire = self._wire or wire.keeping_client()
        caught: Exception | None = None
        try:
            body = await wire.wire_body(ask, self._wire)
        except Exception as error:  # what litellm says of a request that cannot be worded; `meaning` knows it
            caught, body = error, None
        if caught is not None:
            self._client.meaning(caught, ask)
        if body is None:
            what = f"{ask.model} is not asked through chat completions, and batches here are"
            raise ProviderError(f"{what}\n  type: {self._where}.delivery=now", code="unsupported_parameter", fatal=True)
        return body

    async def _submit_when_quiet(self) -> None:
        seen = -1
        while self._wording or seen != self._arrived:
            seen = self._arrived
            await self._clock.sleep(self.settings.quiet)
        if self._collected:
            self._submit()

    def _submit(self) -> None:
        requests, self._collected, self._bytes = self._collected, {}, 0
        task = asyncio.create_task(self._send_up(requests))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(partial(self._pass_on, list(requests)))

    async def _send_up(self, requests: Mapping[str, Mapping[str, Any]]) -> None:
        """Submits a batch. The record is there before the provider could have it: a kill in between loses nothing."""
        assert self._records is not None
        record = Record(name=secrets.token_hex(8), account=self._account, submitted=self._clock.now(), keys=list(requests))
        try:
            file = await self._api.upload(record.name, requests)
            self._records.write(record)
            record.batch = await self._create(record, file)
        except ProviderError as error:
            if error.permanent:
                self._records.forget(record)
            self._fail(record.keys, error)
            return
        with suppress(OSError):  # a full disk: the record that is there names the batch well enough to be found again
            self._records.write(record)
        batch = _Batch(record)
        self._batches.update(dict.fromkeys(record.keys, batch))
        self._gateway.awaited.tell(
            f"{self._where}: batch {record.batch} with {len(record.keys):,} requests submitted; answers come within hours "
            "(Ctrl-C leaves it there, the same command again fetches them)"
        )
        if not self._left:
            self._see_to(batch)

    async def _create(self, record: Record, file: str) -> str:
        """The batch's id; one whose creation was answered too late, or not at all, is looked for before it counts as failed."""
        try:
            return await self._api.create(record.name, file)
        except ProviderError as error:
            if not error.permanent and (found := await self._api.find(record.name)):
                return found
            raise

    async def _line(self, key: str) -> Line:
        batch = self._batches.get(key)
        if batch is None or batch.lines is None:
            self._stay()
            future = self._waiting[key] = asyncio.get_running_loop().create_future()
            if batch is not None:
                self._see_to(batch)
            try:
                line: Line = await future
            finally:
                self._waiting.pop(key, None)
            batch = self._batches.get(key)
        else:
            line = batch.lines[key]
        if batch is not None:
            batch.taken.add(key)
        return line

    def _see_to(self, batch: _Batch) -> None:
        if batch.watch is None:
            batch.watch = asyncio.create_task(self._watch(batch))
            batch.watch.add_done_callback(partial(self._pass_on, list(batch.record.keys)))

    def _pass_on(self, keys: list[str], task: asyncio.Task[None]) -> None:
        """A full disk, or a bug, reaches those who wait: nobody else would see it."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fail(keys, error)

    async def _watch(self, batch: _Batch) -> None:
        """Looks after a batch until it has ended, and hands out what came back."""
        while True:
            try:
                state = await self._api.state(batch.record.batch)
                lines = await self._api.lines(state) if state.ended else {}
                if state.ended and not self._left:
                    self._hand_out(batch, state, lines)
                    return
            except ProviderError as error:
                if error.permanent:
                    self._give_up(batch, error)
                    return
            if self._left:
                return
            batch.asleep = True
            await self._clock.sleep(self.settings.poll)
            batch.asleep = False

    def _hand_out(self, batch: _Batch, state: State, lines: Mapping[str, Line]) -> None:
        """Failed lines leave the record at once, so that nobody joins them again; the others stay until they are stored."""
        assert self._records is not None
        why = (
            f"{self._where}: batch {batch.record.batch} {state.status}{f': {state.why}' if state.why else ' without an answer'}"
        )
        missing = Line(error=ProviderError(why, code=state.code))
        batch.lines = {key: lines.get(key, missing) for key in batch.record.keys}
        failed = [key for key, line in batch.lines.items() if not line.answered]
        if failed:
            self._records.keep(batch.record, [key for key in batch.record.keys if batch.lines[key].answered])
        self._gateway.awaited.tell(
            f"{self._where}: batch {batch.record.batch} {state.status}, {len(batch.record.keys):,} answers"
            + (f", {len(failed):,} requests without one" if failed else "")
        )
        for key, line in batch.lines.items():
            if (future := self._waiting.get(key)) is not None and not future.done():
                future.set_result(line)
        for key in failed:
            if key not in self._waiting:
                self._batches.pop(key, None)

    def _give_up(self, batch: _Batch, error: ProviderError) -> None:
        """A batch that the provider does not know (any more) is asked for anew; other trouble (the key) is everybody's."""
        assert self._records is not None
        keys = list(batch.record.keys)
        if error.code == "not_found":
            self._records.forget(batch.record)
            error = ProviderError(f"{self._where}: batch {batch.record.batch} is gone: {error}", code="batch_gone")
        for key in keys:
            self._batches.pop(key, None)
        self._fail(keys, error)

    def _fail(self, keys: list[str], error: BaseException) -> None:
        for key in keys:
            if (future := self._waiting.get(key)) is not None and not future.done():
                future.set_exception(error.copy() if isinstance(error, ProviderError) else error)


def problems_of(where: str, provider: str, params: Mapping[str, Any]) -> list[Problem]:
    """Why a judge cannot be asked in batches."""
    found = []
    if provider not in PROVIDERS:
        what = f"litellm offers no batches in OpenAI's form for {provider or 'this model'}"
        allowed = [f"now, or a model of {', '.join(PROVIDERS)} (or of a server that speaks its protocol, through api_base)"]
        found.append(Problem(f"{where}.delivery", what, allowed, f"{where}.delivery=now"))
    if "extra_headers" in params:
        what = "the requests of a batch have no headers of their own"
        found.append(Problem(f"{where}.params.extra_headers", what, type=f"~{where}.params.extra_headers"))
    return found
