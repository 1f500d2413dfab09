"""The driver's end: spreads cells over workers, and carries each worker's calls through the run's own gateway.

Cells of one text go to one worker, which has read it already, as long as nobody else is idle. A worker that dies takes nothing
with it but its attempts in flight: they are counted, its cells go to others, and what it had been answered is in the cache.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from dreambench.engine.call import Reply
from dreambench.engine.cell import Cell
from dreambench.engine.gateway import Gateway
from dreambench.engine.scope import CellScope, current_cell, enter_cell
from dreambench.engine.workers.channel import Channel, ChannelClosed, Message
from dreambench.engine.workers.messages import (
    WorkerError,
    call_from_json,
    cell_to_json,
    error_from_json,
    error_to_json,
    judgments_from_json,
)
from dreambench.errors import DreambenchError, InputError
from dreambench.records import Judgment

MOST_DEATHS = 3
"""Workers that one cell may see die, and starts in a row that may fail, before it is taken for the cause."""
PATIENCE = 30.0
"""Seconds that a start waits for further workers once the first is ready; later ones join."""
AHEAD = 4
"""Cells more than the idlest worker has, from which on a text goes to that one too."""
TEXTS = 64
"""Texts per worker whose home is remembered."""

Open = Callable[[], Awaitable[Channel]]


class WorkersError(DreambenchError):
    """There is no worker left, and none could be started."""


class _Worker:
    """One worker as the driver sees it."""

    def __init__(self, channel: Channel, gateway: Gateway, lost: Callable[[int], None]) -> None:
        self.channel = channel
        self.alive = True
        self.cells: dict[int, asyncio.Future[Message]] = {}
        self._gateway = gateway
        self._lost = lost
        self._calls: dict[int, asyncio.Task[None]] = {}
        self._sends: dict[int, tuple[bool, asyncio.Future[Reply]]] = {}
        self._answered: set[int] = set()
        self._numbers = itertools.count()

    async def judge(self, cell: Cell, order: int) -> Message:
        """What the worker says of the cell. Raises ChannelClosed when it died."""
        number = next(self._numbers)
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self.cells[number] = answer
        try:
            await self.channel.send({"is": "cell", "number": number, "order": order, "cell": cell_to_json(cell)})
            return await answer
        except ChannelClosed:
            self._bury()
            raise
        finally:
            del self.cells[number]

    async def listen(self) -> None:
        """Until the worker is gone."""
        try:
            while True:
                self._take(await self.channel.receive())
        except ChannelClosed:
            self._bury()

    def _take(self, message: Message) -> None:
        kind, number = message["is"], message.get("call", -1)
        if kind in ("call", "forget"):
            task = asyncio.create_task(self._forget(message) if kind == "forget" else self._call(message))
            self._calls[number] = task
            task.add_done_callback(lambda _: self._forget_call(number))
        elif kind == "sent" and number in self._sends:
            _, sent = self._sends[number]
            if not sent.done():
                if "error" in message:
                    sent.set_exception(error_from_json(message["error"]))
                else:
                    self._answered.add(number)
                    sent.set_result(Reply.from_json(message["reply"]))
        elif kind == "cancelled" and number in self._calls:
            self._calls[number].cancel()
        elif kind == "judged" and (answer := self.cells.get(message["number"])) is not None and not answer.done():
            answer.set_result(message)

    async def _call(self, message: Message) -> None:
        """One call of the worker: the gateway decides, the worker makes the attempts."""
        number, call = message["call"], call_from_json(message)
        latest: list[object] = [None]

        async def send() -> Reply:
            sent: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
            self._sends[number] = (call.metered, sent)
            try:
                await self.channel.send({"is": "send", "call": number})
                latest[0] = reply = await sent
                return reply
            except ChannelClosed:
                self._bury()  # cancels this task, at the next line
                await asyncio.sleep(0)
                raise
            except Exception as error:  # noted, to tell it from that of another call with the same key
                latest[0] = error
                raise
            finally:
                del self._sends[number]

        enter_cell(CellScope(message["cell"], message["order"]))
        settled: Message = {"is": "settled", "call": number}
        try:
            reply = await self._gateway.call(call, send)
            own = reply is latest[0]
            settled |= {"own": own} if own else {"own": own, "reply": reply.to_json()}
        except Exception as error:  # whatever it is, the worker's metric decides what becomes of it
            settled |= {"own": error is latest[0], "error": error_to_json(error)}
        await self._settle(settled)

    async def _forget(self, message: Message) -> None:
        settled: Message = {"is": "settled", "call": message["call"], "own": False, "reply": Reply("").to_json()}
        try:
            await self._gateway.forget(call_from_json(call) for call in message["calls"])
        except Exception as error:  # whatever it is, the worker's judge decides what becomes of it
            settled |= {"error": error_to_json(error)}
        await self._settle(settled)

    def _forget_call(self, number: int) -> None:
        del self._calls[number]
        self._answered.discard(number)

    async def _settle(self, settled: Message) -> None:
        try:
            await self.channel.send(settled)
        except ChannelClosed:
            self._bury()

    def _bury(self) -> None:
        """Counts what was in flight there, and lets go of all that waited: other workers' equal calls are made by them."""
        if not self.alive:
            return
        self.alive = False
        lost = sum(metered for metered, sent in self._sends.values() if not sent.done())
        for number, task in list(self._calls.items()):
            if number not in self._answered:  # what was answered is stored first
                task.cancel()
        for answer in self.cells.values():
            if not answer.done():
                answer.set_exception(ChannelClosed())
        if lost:
            self._lost(lost)


class Workers:
    """`count` workers, kept at that number while they can be started; `work` is what the engine calls for every cell."""

    def __init__(
        self,
        *,
        open_channel: Open,
        count: int,
        start: Message,
        gateway: Gateway,
        lost: Callable[[int], None],
        folder: Path,
        began: Callable[[str, int], None] = lambda host, pid: None,
    ) -> None:
        """`start` is what a new worker is told first, `lost` is told of attempts that died with a worker, `folder` is where
        files lie that workers make, `began` is told of every worker that is ready."""
        self._open_channel = open_channel
        self._count = count
        self._start = start
        self._gateway = gateway
        self._lost = lost
        self._folder = folder
        self._began = began
        self._workers: list[_Worker] = []
        self._keepers: set[asyncio.Task[None]] = set()
        self._homes: OrderedDict[tuple[str, str], _Worker] = OrderedDict()
        self._changed = asyncio.Event()
        self._writing = asyncio.Lock()
        self._last_tries = asyncio.Lock()
        self._refused: Exception | None = None
        self._closing = False
        self._kept = count
        self._why = ""
        self.deaths = 0
        self.lost_calls = 0

    @property
    def findings(self) -> list[str]:
        """What a reader of the run should know of its workers."""
        if not self.deaths:
            return []
        asked = f"calls in flight there: {self.lost_calls} (asked again; the provider may have charged them twice)"
        return [f"workers that died: {self.deaths}; {asked}"]

    async def open(self) -> None:
        """Starts all. Raises InputError when a worker cannot make the run, WorkersError when none can be started."""
        for _ in range(self._count):
            self._keep_one()
        await self._until(lambda: bool(self._workers))
        try:
            await asyncio.wait_for(self._until(lambda: len(self._workers) == self._count), PATIENCE)
        except TimeoutError:
            return

    async def work(self, cell: Cell) -> Sequence[Judgment]:
        """The cell's judgments by one of the workers. Raises what the metric raised there."""
        order = current_cell().order
        for deaths in range(MOST_DEATHS):
            alone = self._last_tries if deaths == MOST_DEATHS - 1 else contextlib.nullcontext()
            async with alone:  # so that a cell is not blamed for what another one does to its worker
                worker = await self._choose(cell)
                try:
                    judged = await worker.judge(cell, order)
                except ChannelClosed:
                    continue
            return await self._take(cell, judged)
        raise WorkerError(f"{MOST_DEATHS} workers died while they judged this", code="worker_died")

    async def close(self) -> None:
        """Ends all workers; nobody waits for their answers any more."""
        self._closing = True
        await asyncio.gather(*(worker.channel.close() for worker in self._workers))
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)

    async def _take(self, cell: Cell, judged: Message) -> Sequence[Judgment]:
        if files := judged["files"]:
            async with self._writing:  # two workers may have made the same protocol
                await asyncio.to_thread(self._write, files)
        if (error := judged.get("error")) is not None:
            raise error_from_json(error)
        cell.columns.update(judged["columns"])
        return judgments_from_json(judged["judgments"])

    def _write(self, files: dict[str, str]) -> None:
        root = self._folder.resolve()
        for name, text in files.items():
            path = (root / name).resolve()
            if not path.is_relative_to(root):
                raise WorkersError(f"a worker made a file outside of the run's folder: {name}")
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(f".{path.name}.part")
            temporary.write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
            temporary.replace(path)

    async def _choose(self, cell: Cell) -> _Worker:
        await self._until(lambda: any(worker.alive for worker in self._workers))
        idlest = min((worker for worker in self._workers if worker.alive), key=lambda worker: len(worker.cells))
        text = (cell.report, cell.arm)
        home = self._homes.get(text)
        if home is None or not home.alive or len(home.cells) >= len(idlest.cells) + AHEAD:
            home = self._homes[text] = idlest
        self._homes.move_to_end(text)
        while len(self._homes) > TEXTS * self._count:
            self._homes.popitem(last=False)
        return home

    async def _until(self, true: Callable[[], bool]) -> None:
        """Waits for workers. Raises what keeps them from starting."""
        while not true():
            if self._refused is not None:
                raise self._refused
            self._changed.clear()
            await self._changed.wait()
        if isinstance(self._refused, InputError):
            raise self._refused

    def _keep_one(self) -> None:
        task = asyncio.create_task(self._keep())
        self._keepers.add(task)
        task.add_done_callback(self._keepers.discard)

    async def _keep(self) -> None:
        """Has one worker, and another when it dies."""
        failed = 0
        while not self._closing and failed < MOST_DEATHS and self._refused is None:
            worker = await self._begin()
            if worker is None:
                failed += 1
                continue
            failed = 0
            self._workers.append(worker)
            self._changed.set()
            try:
                await worker.listen()
            finally:
                self._workers.remove(worker)
                self.deaths += not self._closing
                await worker.channel.close()
        self._kept -= 1
        if not self._kept and self._refused is None:
            self._refused = WorkersError(f"no worker could be started ({self._why}); the same command again goes on")
        self._changed.set()

    async def _begin(self) -> _Worker | None:
        """A worker that is ready; None when it died first."""
        channel: Channel | None = None
        try:
            channel = await self._open_channel()
            await channel.send(self._start)
            said = await channel.receive()
        except (ChannelClosed, OSError) as error:
            self._why = str(error)
            if channel is not None:
                await channel.close()
            return None
        except BaseException:  # cancelled too: a channel that is open is closed, whatever went wrong
            if channel is not None:
                await channel.close()
            raise
        if said["is"] == "refused":
            self._refused = error_from_json(said["error"])
            await channel.close()
            return None
        self._began(said["host"], said["pid"])
        return _Worker(channel, self._gateway, self._tell_lost)

    def _tell_lost(self, calls: int) -> None:
        self.lost_calls += calls
        self._lost(calls)
