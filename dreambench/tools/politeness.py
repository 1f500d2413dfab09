"""Taking turns at a host: few requests at a time, and a pause between their starts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from dreambench.engine.clock import Clock

LONGEST_DELAY = 30.0
"""Seconds of a Crawl-delay that are honoured at most."""


@dataclass
class _Host:
    slots: asyncio.Semaphore
    next_start: float = 0.0


@dataclass
class Politeness:
    """At most `per_host` requests to one host at a time, `delay` seconds apart."""

    per_host: int
    delay: float
    clock: Clock = field(default_factory=Clock)
    _hosts: dict[str, _Host] = field(default_factory=dict)

    @asynccontextmanager
    async def turn(self, host: str, asked: float = 0.0) -> AsyncIterator[None]:
        """Waits for a turn at `host`; `asked` is the delay that the site itself asks for."""
        entry = self._hosts.setdefault(host, _Host(asyncio.Semaphore(self.per_host)))
        async with entry.slots:
            now = self.clock.monotonic()
            start = max(now, entry.next_start)
            entry.next_start = start + max(self.delay, min(asked, LONGEST_DELAY))
            if start > now:
                await self.clock.sleep(start - now)
            yield
