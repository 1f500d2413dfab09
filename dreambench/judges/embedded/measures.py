"""From features to a score: every feature is turned into a degree in [0, 1] by one of three smooth curves, and the score is
the weighted mean of the degrees. The reason names each feature with its value and its degree, so that anyone can add it up.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev


@dataclass(frozen=True, slots=True)
class Feature:
    """A measured value, how good it is (`degree` in [0, 1]) and how much it counts."""

    name: str
    value: float
    degree: float
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Finding:
    """The features that decide an aspect; `remark` says what could not be measured."""

    features: tuple[Feature, ...]
    remark: str = ""

    @property
    def degree(self) -> float:
        """The weighted mean of the features' degrees; 0 where there are none."""
        total = sum(feature.weight for feature in self.features)
        return sum(feature.degree * feature.weight for feature in self.features) / total if total else 0.0

    @property
    def reason(self) -> str:
        """One sentence: every feature with its value and, in brackets, its degree."""
        parts = ", ".join(f"{feature.name} {feature.value:.2f} ({feature.degree:.2f})" for feature in self.features)
        return f"{self.remark}: {parts}." if self.remark and parts else f"{self.remark or parts}."


def rising(value: float, half: float) -> float:
    """0 at 0, .5 at `half`, towards 1 beyond: value / (value + half)."""
    return value / (value + half) if value > 0 else 0.0


def falling(value: float, half: float) -> float:
    """1 at 0, .5 at `half`, towards 0 beyond: half / (value + half)."""
    return half / (max(value, 0.0) + half)


def between(value: float, low: float, high: float, slope: float) -> float:
    """1 inside [low, high], falling as a bell on both sides: exp(-(distance / slope)^2)."""
    distance = max(low - value, value - high, 0.0)
    return math.exp(-((distance / slope) ** 2))


def step(value: float, middle: float, width: float) -> float:
    """A logistic step: .5 at `middle`, .88 at `middle` + 2 `width`; a negative width falls."""
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, (value - middle) / width))))


def share(hits: Iterable[bool]) -> float:
    """Share of true values; 0 for none at all."""
    values = list(hits)
    return sum(values) / len(values) if values else 0.0


def variation(values: Sequence[float]) -> float:
    """Coefficient of variation (population standard deviation over mean); 0 for fewer than two values."""
    mean = fmean(values) if values else 0.0
    return pstdev(values) / mean if len(values) > 1 and mean else 0.0


def cosine(a: Counter[str], b: Counter[str]) -> float:
    """Cosine of two bags of words with damped counts 1 + ln(n), in [0, 1]."""
    shared = a.keys() & b.keys()
    if not shared:
        return 0.0
    dot = math.fsum((1 + math.log(a[word])) * (1 + math.log(b[word])) for word in sorted(shared))
    return min(1.0, dot / (_norm(a) * _norm(b)))


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """Shared share of two sets, in [0, 1]."""
    return len(a & b) / len(a | b) if a and b else 0.0


def _norm(bag: Counter[str]) -> float:
    return math.sqrt(math.fsum((1 + math.log(count)) ** 2 for count in bag.values()))
