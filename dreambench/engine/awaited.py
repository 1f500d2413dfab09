"""Answers that take hours: who waits for them, what a person is told meanwhile, and how a run leaves without losing them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Slow(Protocol):
    """Something that waits for hours, and may be left: what it waits for stays where it is."""

    def leave(self) -> None:
        """Stops waiting: whoever waits gets an AwaitedError."""

    def standing(self) -> list[str]:
        """What is still awaited, a line each; empty when nothing is."""


class Awaited:
    """All that is slow in one run; `tell` shows a line while the run goes on."""

    def __init__(self) -> None:
        self.tell: Callable[[str], None] = lambda line: None
        self._slow: list[Slow] = []

    def join(self, slow: Slow) -> None:
        """Adds something that a run may have to wait for."""
        self._slow.append(slow)

    def leave(self) -> None:
        for slow in self._slow:
            slow.leave()

    def standing(self) -> list[str]:
        return [line for slow in self._slow for line in slow.standing()]
