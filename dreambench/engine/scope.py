"""Which cell a call belongs to, and who counts what it uses: context variables that tasks started for a cell inherit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from dreambench.engine.call import Reply


@dataclass(frozen=True, slots=True)
class CellScope:
    """Id of the cell, and its place in the plan: calls of older cells go first."""

    id: str
    order: int


_OUTSIDE = CellScope(id="", order=0)
_CURRENT: ContextVar[CellScope] = ContextVar("dreambench_cell", default=_OUTSIDE)


def current_cell() -> CellScope:
    """The cell that the running code works for; one with an empty id outside of any cell."""
    return _CURRENT.get()


def enter_cell(scope: CellScope) -> None:
    """Marks the running task, and the tasks it starts from now on, as work for `scope`."""
    _CURRENT.set(scope)


@dataclass(slots=True)
class Meter:
    """What the replies to some piece of work used: tokens and US dollars as they were when bought.

    Stored replies count like new ones, so that work with a budget takes the same course when it is replayed.
    """

    tokens: int = 0
    money: float = 0.0
    unpriced: int = 0

    def add(self, reply: Reply) -> None:
        """Counts one reply; one without a price counts to `unpriced`."""
        self.tokens += reply.usage.prompt + reply.usage.completion
        self.money += reply.cost or 0.0
        self.unpriced += reply.cost is None


_METER: ContextVar[Meter | None] = ContextVar("dreambench_meter", default=None)


@contextmanager
def metered() -> Iterator[Meter]:
    """Counts what the code inside, and the tasks it starts, get through the gateway."""
    token = _METER.set(meter := Meter())
    try:
        yield meter
    finally:
        _METER.reset(token)


def count(reply: Reply) -> None:
    """Counts a reply where somebody counts."""
    if (meter := _METER.get()) is not None:
        meter.add(reply)
