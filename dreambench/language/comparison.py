"""Whether two amounts say the same: unit and currency first, then values with rounding, ranges and approximations."""

from __future__ import annotations

from typing import Literal

from dreambench.language.amounts import Quantity

Verdict = Literal["equal", "compatible", "different", "incomparable"]

ABOUT = 0.05
"""Relative slack that "about" and "nearly" give."""
_ROUNDED = 0.02
_WINDOW = 1.5


def same_quantity(a: Quantity, b: Quantity, tolerance: float = 0.0) -> Verdict:
    """Compare two amounts in their base units; symmetric.

    "equal": the same to the coarser written precision. "compatible": not contradictory, because one is approximate,
    rounded, a bound or a range that holds the other, or within the relative `tolerance` (0.1 is 10 %).
    "incomparable": different units, currencies or rates, percent against percentage points, or open bounds that decide
    nothing. "different": everything else.
    """
    if (a.kind, a.dimension) != (b.kind, b.dimension):
        return "incomparable"
    if a.kind == "ordinal":
        return "equal" if a.value == b.value else "different"
    verdict = _compare(a, b, tolerance)
    if a.per == b.per:
        return verdict
    # "5 tonnes" and "5 tonnes a year" may be one fact; two different values certainly do not contradict.
    return "compatible" if verdict in ("equal", "compatible") and not (a.per and b.per) else "incomparable"


def _compare(a: Quantity, b: Quantity, tolerance: float) -> Verdict:
    half = max(a.step * a.factor, b.step * b.factor) / 2 * (1 + 1e-9)
    exact = a.bound == b.bound == "exact"
    if _near(a.low * a.factor, b.low * b.factor, half) and _near(a.high * a.factor, b.high * b.factor, half):
        return "equal" if exact or a.bound == b.bound else "compatible"
    if a.is_range or b.is_range:
        return _ranges(a, b, half, tolerance)
    open_ended = _open_bound(a, b)
    if open_ended is not None:
        return open_ended
    x, y = a.base_value, b.base_value
    slack = max(tolerance, ABOUT if "about" in (a.bound, b.bound) else 0.0) * max(abs(x), abs(y))
    rounded = _near(x, y, _rounding(a, b)) and _near(x, y, _ROUNDED * max(abs(x), abs(y)))
    return "compatible" if _near(x, y, slack) or rounded else "different"


def _near(x: float, y: float, slack: float) -> bool:
    return abs(x - y) <= slack + 1e-9 * max(abs(x), abs(y))


def _rounding(a: Quantity, b: Quantity) -> float:
    """Half the worth of the last digit that is not zero: 14,000 may stand for 13,960."""
    return max(_significant(a) * a.factor, _significant(b) * b.factor) / 2


def _significant(quantity: Quantity) -> float:
    step = quantity.step
    # Only whole numbers in digits have silent zeros: the zero of 1.40 million was written to be read.
    while step >= 1 and quantity.step == 1 and round(quantity.value / step) % 10 == 0 and step < abs(quantity.value):
        step *= 10
    return step


def _ranges(a: Quantity, b: Quantity, half: float, tolerance: float) -> Verdict:
    slack = max(half, tolerance * max(abs(a.base_value), abs(b.base_value)))
    if "about" in (a.bound, b.bound):
        slack = max(slack, ABOUT * max(abs(a.base_value), abs(b.base_value)))
    apart = a.high * a.factor + slack < b.low * b.factor or b.high * b.factor + slack < a.low * a.factor
    return "different" if apart else "compatible"


def _open_bound(a: Quantity, b: Quantity) -> Verdict | None:
    """The verdict when one side is open ("more than 5"), else None; far beyond the bound nothing is decided."""
    up = {"more_than", "at_least"}
    down = {"less_than", "at_most"}
    if (a.bound in up and b.bound in up) or (a.bound in down and b.bound in down):
        return "compatible" if _within_window(a.base_value, b.base_value) else "incomparable"
    for bounded, other in ((a, b), (b, a)):
        limit, value = bounded.base_value, other.base_value
        if bounded.bound in up and other.bound not in up:
            holds = value > limit or (bounded.bound == "at_least" and value == limit)
        elif bounded.bound in down and other.bound not in down:
            holds = value < limit or (bounded.bound == "at_most" and value == limit)
        else:
            continue
        if holds:
            return "compatible" if _within_window(limit, value) else "incomparable"
        return "different"
    return None


def _within_window(x: float, y: float) -> bool:
    low, high = sorted((abs(x), abs(y)))
    return high <= low * _WINDOW and x * y >= 0
