"""Money, tokens, calls and seconds that a run may spend. Reached budgets stop a run cleanly; nothing is scored early."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from dreambench.engine.call import Reply
from dreambench.engine.clock import Clock
from dreambench.errors import DreambenchError


class BudgetReached(DreambenchError):
    """A limit of the run is used up; unfinished cells stay owed."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may spend; None is without limit. `money` in US dollars, `seconds` of wall time."""

    money: float | None = None
    tokens: int | None = None
    calls: int | None = None
    seconds: float | None = None


class Budget:
    """Counts what was bought and says when a limit is reached. Unknown prices count as nothing and are counted apart."""

    def __init__(self, limits: Limits, clock: Clock) -> None:
        self.limits = limits
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
                return f"engine.budget.{name}={limit:g} reached (spent {value:g}{', part of it in flight' * (mean > 0)})"
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
