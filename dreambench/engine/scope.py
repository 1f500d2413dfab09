"""Which cell a call belongs to: a context variable that tasks started for a cell inherit."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass


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
