"""Workers as Ray actors: an actor holds one worker, whose messages are fetched by a call that waits for them.

Ray places the actors and says when one is lost with its process or its node; the driver then asks for another one. Nothing else
of Ray is used: what an actor may do is decided by the driver, as for any worker.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import logging
import os
from typing import Any

from dreambench.engine.workers.channel import ChannelClosed, Message, pack, unpack
from dreambench.engine.workers.pool import Open
from dreambench.engine.workers.worker import serve
from dreambench.errors import InputError, Problem
from dreambench.install import extra_hint


class QueueChannel:
    """The worker's end inside an actor."""

    def __init__(self) -> None:
        self.where = "the driver"
        self.given: asyncio.Queue[str] = asyncio.Queue()
        self.told: asyncio.Queue[str] = asyncio.Queue()

    async def send(self, message: Message) -> None:
        await self.told.put(pack(message))

    async def receive(self) -> Message:
        return unpack(await self.given.get())

    async def close(self) -> None:
        """The actor is ended by Ray."""


class WorkerActor:
    """The actor: `deliver` takes the driver's messages, `collect` waits for the worker's."""

    async def begin(self, module: str) -> None:
        """Starts the worker whose `prepare` stands in `module`."""
        self._channel = QueueChannel()
        self._work = asyncio.create_task(serve(self._channel, importlib.import_module(module).prepare))

    async def deliver(self, message: str) -> None:
        await self._channel.given.put(message)

    async def collect(self) -> list[str]:
        """At least one message, and all that are there."""
        told = self._channel.told
        messages = [await told.get()]
        while not told.empty():
            messages.append(told.get_nowait())
        return messages


class RayChannel:
    """The driver's end of an actor."""

    def __init__(self, actor: Any) -> None:
        self.where = f"actor {actor._actor_id.hex()[:8]}"
        self._actor = actor
        self._waiting: list[str] = []

    async def send(self, message: Message) -> None:
        await _answer(self._actor.deliver.remote(pack(message)))

    async def receive(self) -> Message:
        if not self._waiting:
            self._waiting = [*reversed(await _answer(self._actor.collect.remote()))]
        return unpack(self._waiting.pop())

    async def close(self) -> None:
        import ray

        ray.kill(self._actor)


async def _answer(promise: Any) -> Any:
    from ray.exceptions import RayActorError, RayTaskError

    try:
        return await promise
    except RayTaskError as error:
        raise ChannelClosed(str(error)) from error
    except RayActorError as error:
        raise ChannelClosed(str(error).splitlines()[0]) from error


def open_ray(module: str, address: str | None, cpus: float) -> Open:
    """How a worker is opened on the cluster at `address`. Raises InputError where Ray is not installed or not reached."""
    if importlib.util.find_spec("ray") is None:
        raise InputError(Problem("engine=ray", "Ray is not installed", ["processes", "local"], extra_hint("ray")))
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    if not ray.is_initialized():
        where = address or os.environ.get("RAY_ADDRESS")
        try:
            ray.init(
                address=where, log_to_driver=False, logging_level=logging.ERROR, include_dashboard=None if where else False
            )
        except Exception as error:  # Ray raises plain ones: whatever it is, the run cannot be made there
            what = f"the cluster {where or 'on this machine'} cannot be reached: {str(error).splitlines()[0]}"
            raise InputError(Problem("engine.address", what, ["auto", "ray://HOST:PORT", "HOST:PORT"])) from error
    remote: Any = ray.remote(num_cpus=cpus, max_restarts=0, scheduling_strategy="SPREAD")(WorkerActor)

    async def open_channel() -> RayChannel:
        actor = remote.remote()
        await _answer(actor.begin.remote(module))
        return RayChannel(actor)

    return open_channel
