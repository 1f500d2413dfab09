"""Money, tokens, calls and seconds that a run, or one of its cells, may spend.

The run's budget stops it cleanly when it is reached; a cell's budget ends that cell, which stays owed. Nothing is scored early.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from dreambench.engine.call import Call, Reply
from dreambench.engine.clock import Clock
from dreambench.errors import DreambenchError, ProviderError


class BudgetReached(DreambenchError):
    """A limit of the run is used up; unfinished cells stay owed."""


class OverBudgetError(ProviderError):
    """One cell has used up what a cell may spend; the run goes on with the others."""

    def __init__(self, why: str) -> None:
        cure = "what is missing of this cell stays owed until the limit is raised, then the same command goes on"
        super().__init__(f"{why}; {cure}", code="over_budget", permanent=True)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may spend; None is without limit. `money` in US dollars, `seconds` of wall time."""

    money: float | None = None
    tokens: int | None = None
    calls: int | None = None
    seconds: float | None = None


class Budget:
    """Counts what was bought and says when a limit is reached. Unknown prices count as nothing and are counted apart."""

    def __init__(self, limits: Limits, clock: Clock, name: str = "engine.budget") -> None:
        """`name` is its place in the configuration."""
        self.limits = limits
        self._name = name
        self.money = 0.0
        self.tokens = 0
        self.calls = 0
        self.unpriced_calls = 0
        self.in_flight = 0
        self._clock = clock
        self._started = clock.monotonic()

    def spend(self, reply: Reply) -> None:
        """Books one bought reply."""
        self.calls += 1
        self.tokens += reply.usage.prompt + reply.usage.completion
        if reply.cost is None:
            self.unpriced_calls += 1
        else:
            self.money += reply.cost

    def reached(self) -> str | None:
        """Which limit is used up, in words; None while there is none.

        Metered calls in flight count as calls, and with the mean price and length of those that came back.
        """
        mean = self.in_flight / self.calls if self.calls else 0.0
        spent = {
            "money": self.money * (1 + mean),
            "tokens": self.tokens * (1 + mean),
            "calls": self.calls + self.in_flight,
            "seconds": self._clock.monotonic() - self._started,
        }
        for name, value in spent.items():
            limit = getattr(self.limits, name)
            if limit is not None and value >= limit:
                return f"{self._name}.{name}={limit:g} reached (spent {value:g}{', part of it in flight' * (mean > 0)})"
        return None

    def check(self) -> None:
        """Raises BudgetReached when a limit is used up."""
        if why := self.reached():
            raise BudgetReached(why)

    @contextmanager
    def admit(self, *, metered: bool = True) -> Iterator[None]:
        """Around one call: raises BudgetReached when nothing more may start, else counts it as in flight."""
        self.check()
        self.in_flight += metered
        try:
            yield
        finally:
            self.in_flight -= metered


class CellBudgets:
    """One budget per open cell, all with the same limits; its seconds count from the cell's first call.

    Stored answers count like new ones, so a cell that is over its budget is so again when it is resumed. What the cells of a
    task share (`creation`) and work of this process are nobody's.
    """

    def __init__(self, limits: Limits, clock: Clock) -> None:
        self._limits = limits
        self._clock = clock
        self._open: dict[str, Budget] = {}

    @contextmanager
    def admit(self, call: Call, cell: str) -> Iterator[None]:
        """Around one purchase for `cell`. Raises OverBudgetError when it may not begin."""
        budget = self._of(call, cell)
        if budget is None:
            yield
            return
        if why := budget.reached():
            raise OverBudgetError(why)
        with budget.admit():
            yield

    def spend(self, call: Call, reply: Reply, cell: str) -> None:
        """Counts a reply, bought or stored, to the budget of `cell`."""
        if (budget := self._of(call, cell)) is not None:
            budget.spend(reply)

    def end(self, cell: str) -> None:
        """Forgets the budget of a cell that is no longer open."""
        self._open.pop(cell, None)

    def _of(self, call: Call, cell: str) -> Budget | None:
        if self._limits == Limits() or not cell or not call.metered or call.role == "creation":
            return None
        if cell not in self._open:
            self._open[cell] = Budget(self._limits, self._clock, "engine.cell_budget")
        return self._open[cell]
