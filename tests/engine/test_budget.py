"""Budgets: what counts, what is said, and that unknown prices are counted apart."""

from __future__ import annotations

import pytest

from dreambench.engine.budget import Budget, BudgetReached, Limits
from dreambench.engine.call import Reply, Usage
from dreambench.engine.clock import Clock


class StillClock(Clock):
    def __init__(self) -> None:
        self.time = 5.0

    def monotonic(self) -> float:
        return self.time


REPLY = Reply("{}", usage=Usage(prompt=90, completion=10), cost=0.5)


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (Limits(money=1.0), "engine.budget.money=1 reached (spent 1)"),
        (Limits(tokens=200), "engine.budget.tokens=200 reached (spent 200)"),
        (Limits(calls=2), "engine.budget.calls=2 reached (spent 2)"),
    ],
)
def test_a_limit_is_reached_when_it_is_used_up(limits: Limits, said: str) -> None:
    budget = Budget(limits, StillClock())
    budget.spend(REPLY)
    budget.check()
    budget.spend(REPLY)
    with pytest.raises(BudgetReached) as caught:
        budget.check()
    assert str(caught.value) == said


def test_seconds_are_wall_time_from_the_start() -> None:
    clock = StillClock()
    budget = Budget(Limits(seconds=10), clock)
    clock.time += 9.9
    budget.check()
    clock.time += 0.2
    with pytest.raises(BudgetReached, match="seconds=10"):
        budget.check()


def test_unknown_prices_are_no_money_and_are_counted() -> None:
    budget = Budget(Limits(money=1), StillClock())
    for _ in range(3):
        budget.spend(Reply("{}"))
    assert (budget.money, budget.unpriced_calls, budget.calls) == (0.0, 3, 3)
    budget.check()


def test_calls_in_flight_count_at_the_mean_and_give_it_back_when_they_fail() -> None:
    budget = Budget(Limits(money=1.5), StillClock())
    budget.spend(REPLY)
    with budget.admit(), budget.admit():
        assert budget.reached() == "engine.budget.money=1.5 reached (spent 1.5, part of it in flight)"
        with pytest.raises(BudgetReached), budget.admit():
            pass
    assert budget.reached() is None
    with pytest.raises(ZeroDivisionError), budget.admit():
        raise ZeroDivisionError
    assert budget.in_flight == 0
