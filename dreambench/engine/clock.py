"""The one owner of time: everything that waits, measures or dates asks a Clock, so tests can hold it still."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, date, datetime


class Clock:
    """The machine's clock. Durations use the monotonic one: a wall clock that moves backwards changes nothing."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never goes back."""
        return time.monotonic()

    def now(self) -> datetime:
        """The present moment in UTC."""
        return datetime.now(UTC)

    def today(self) -> date:
        """The day of `now`."""
        return self.now().date()

    async def sleep(self, seconds: float) -> None:
        """Waits for `seconds`."""
        await asyncio.sleep(seconds)
