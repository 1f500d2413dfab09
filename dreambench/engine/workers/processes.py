"""Workers as processes of this machine: messages go through a pair of sockets, each with its length in front.

A worker ends when its socket does, so none outlives its driver, however that ends. It has a session of its own: Ctrl-C reaches
the driver alone, who lets it finish.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
import sys

from dreambench.engine.workers.channel import ChannelClosed, Message, pack, unpack
from dreambench.engine.workers.worker import Prepare, serve

_LENGTH = struct.Struct("<Q")
_LAST_WORDS = 5.0
"""Seconds that a worker has to end after it was told to."""


class SocketChannel:
    """Messages over a connected socket."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, where: str) -> None:
        self.where = where
        self._reader = reader
        self._writer = writer

    async def send(self, message: Message) -> None:
        data = pack(message).encode("ascii")
        try:
            self._writer.write(_LENGTH.pack(len(data)) + data)
            await self._writer.drain()
        except OSError as error:
            raise ChannelClosed(self.where) from error

    async def receive(self) -> Message:
        try:
            (length,) = _LENGTH.unpack(await self._reader.readexactly(_LENGTH.size))
            return unpack(await self._reader.readexactly(length))
        except (asyncio.IncompleteReadError, OSError) as error:
            raise ChannelClosed(self.where) from error

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()


class ProcessChannel(SocketChannel):
    """The driver's end of a worker process; closing it ends the process."""

    def __init__(self, process: asyncio.subprocess.Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        super().__init__(reader, writer, f"process {process.pid}")
        self._process = process

    async def close(self) -> None:
        await super().close()
        try:
            await asyncio.wait_for(self._process.wait(), _LAST_WORDS)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()


async def open_process(module: str) -> ProcessChannel:
    """Starts `python -m module`, with our modules and environment; what it prints goes to standard error."""
    ours, its = socket.socketpair()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with its:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", module, str(its.fileno())),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=2,
            pass_fds=[its.fileno()],
            env=environment,
            start_new_session=True,
        )
    return ProcessChannel(process, *await asyncio.open_connection(sock=ours))


def run_worker(prepare: Prepare) -> None:
    """The whole life of a worker process; its argument is the number of its socket."""

    async def work() -> None:
        streams = await asyncio.open_connection(sock=socket.socket(fileno=int(sys.argv[1])))
        await serve(SocketChannel(*streams, "the driver"), prepare)
        os._exit(0)  # threads that still work do so for nobody

    asyncio.run(work())
