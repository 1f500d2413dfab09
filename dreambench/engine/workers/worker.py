"""The worker's end: cells come in, judgments go out, and every leaf call waits for the driver's word.

The gateway of a worker has the interface of the one in `engine.gateway` and none of its duties: whether a call is made, when
and how often is decided where the cache, the limits and the budget are.
"""

from __future__ import annotations

import asyncio
import contextvars
import itertools
import os
import socket
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from dreambench.engine.call import Call, Reply
from dreambench.engine.cell import Cell
from dreambench.engine.engine import Work
from dreambench.engine.gateway import Gateway, Send
from dreambench.engine.limiter import Widths
from dreambench.engine.rate import PerMinute
from dreambench.engine.scope import CellScope, count, current_cell, enter_cell
from dreambench.engine.workers.channel import Channel, ChannelClosed, Message
from dreambench.engine.workers.messages import call_to_json, error_from_json, error_to_json, judgments_to_json

Tell = Callable[[Message], Awaitable[None]]


class Job(Protocol):
    """What a worker does, once it is prepared."""

    @property
    def work(self) -> Work:
        """Judges one cell."""

    def made(self) -> Mapping[str, str]:
        """Files made since it was last asked: text by path below the run's folder."""

    async def close(self) -> None:
        """Ends what the work holds."""


Prepare = Callable[[Message, Gateway], Awaitable[Job]]


@dataclass(slots=True)
class _Asked:
    """A call that waits for the driver: how it is made, what the latest attempt gave, and who waits."""

    send: Send
    answer: asyncio.Future[Reply]
    context: contextvars.Context = field(default_factory=contextvars.copy_context)
    reply: Reply | None = None
    error: Exception | None = None
    attempt: asyncio.Task[None] | None = None


class LeasingGateway(Gateway):
    """Asks the driver for every call."""

    def __init__(self, tell: Tell, *, replays: bool) -> None:
        self._tell = tell
        self._replays = replays
        self._numbers = itertools.count()
        self._asked: dict[int, _Asked] = {}

    @property
    def replays(self) -> bool:
        return self._replays

    def limit(self, account: str, widths: Widths | None = None, per_minute: PerMinute | None = None) -> None:
        """The driver, which has the same judges, limits its own gateway."""

    async def call(self, call: Call, send: Send) -> Reply:
        number = next(self._numbers)
        asked = self._asked[number] = _Asked(send, asyncio.get_running_loop().create_future())
        cell = current_cell()
        try:
            await self._tell({"is": "call", "call": number, "cell": cell.id, "order": cell.order, **call_to_json(call)})
            reply = await asked.answer
        except asyncio.CancelledError:
            if asked.attempt is not None:
                asked.attempt.cancel()
            await self._tell({"is": "cancelled", "call": number})
            raise
        finally:
            del self._asked[number]
        count(reply)
        return reply

    async def forget(self, calls: Iterable[Call]) -> None:
        number = next(self._numbers)
        asked = self._asked[number] = _Asked(_nothing, asyncio.get_running_loop().create_future())
        try:
            await self._tell({"is": "forget", "call": number, "calls": [call_to_json(call) for call in calls]})
            await asked.answer
        finally:
            del self._asked[number]

    def attempt(self, number: int) -> None:
        """The driver says: make one attempt."""
        if (asked := self._asked.get(number)) is not None:
            work = self._attempt(number, asked)
            asked.attempt = asyncio.get_running_loop().create_task(work, context=asked.context)

    def settle(self, message: Message) -> None:
        """The driver says what came of a call; a reply or an error of our own attempt is not sent back to us."""
        asked = self._asked.get(message["call"])
        if asked is None or asked.answer.done():
            return
        if (error := message.get("error")) is not None:
            asked.answer.set_exception(asked.error if message["own"] and asked.error else error_from_json(error))
        elif message["own"]:
            assert asked.reply is not None
            asked.answer.set_result(asked.reply)
        else:
            asked.answer.set_result(Reply.from_json(message["reply"]))

    async def _attempt(self, number: int, asked: _Asked) -> None:
        told: Message
        try:
            asked.reply = await asked.send()
            told = {"reply": asked.reply.to_json()}
        except Exception as error:  # whatever it is, the driver decides what becomes of the call
            asked.error = error
            told = {"error": error_to_json(error)}
        await self._tell({"is": "sent", "call": number, **told})


async def _nothing() -> Reply:
    return Reply("")


async def serve(channel: Channel, prepare: Prepare) -> None:
    """Works for the driver at the other end until it is gone."""
    try:
        start = await channel.receive()
        gateway = LeasingGateway(channel.send, replays=start["replays"])
        try:
            job = await prepare(start, gateway)
        except Exception as error:  # said to the driver, who ends the run with it
            await channel.send({"is": "refused", "error": error_to_json(error)})
            return
        await channel.send({"is": "ready", "pid": os.getpid(), "host": socket.gethostname()})
        try:
            await _obey(channel, gateway, job)
        finally:
            await job.close()
    except ChannelClosed:
        return


async def _obey(channel: Channel, gateway: LeasingGateway, job: Job) -> None:
    cells: set[asyncio.Task[None]] = set()
    while True:
        message = await channel.receive()
        if message["is"] == "send":
            gateway.attempt(message["call"])
        elif message["is"] == "settled":
            gateway.settle(message)
        elif message["is"] == "cell":
            task = asyncio.create_task(_judge(channel, job, message))
            cells.add(task)
            task.add_done_callback(cells.discard)


async def _judge(channel: Channel, job: Job, message: Mapping[str, Any]) -> None:
    cell = Cell(**message["cell"])
    enter_cell(CellScope(cell.id, message["order"]))
    told: Message
    files: Mapping[str, str] = {}
    try:
        try:
            judgments = await job.work(cell)
        finally:
            files = await asyncio.to_thread(job.made)
        told = {"judgments": judgments_to_json(judgments), "columns": cell.columns}
    except Exception as error:  # whatever it is, the engine decides what becomes of the cell; it must hear of it
        told = {"error": error_to_json(error)}
    await channel.send({"is": "judged", "number": message["number"], "files": files, **told})
