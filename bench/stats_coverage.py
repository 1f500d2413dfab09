"""Do the intervals cover what they say, and do the tests err as often as they say? By simulation, at n = 8, 20 and 50.

And how wide is the interval of a mean over few tasks, at n = 2, 3, 4, 5 and 8: what `reporting.tables.FEWEST_TASKS` rests on.

    python -m bench.stats_coverage            about two minutes on one core
    python -m bench.stats_coverage --share 4  four times the repetitions

Scores are drawn as reports give them: skewed shares in [0, 1], claims clustered by task, task slopes that differ. Each
row says what the truth is; the Monte Carlo error is that of a share over the printed number of repetitions.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl

from dreambench import stats

Draw = Callable[[np.random.Generator, int], Any]
Effect = Callable[[np.random.Generator, int, bool], Any]
SIZES = (8, 20, 50)
FEW = (2, 3, 4, 5, 8)
REPETITIONS, SLOW = 300, 30


def skewed(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.beta(2, 5, n)


def claims(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    judged = rng.poisson(19, n) + 1
    return rng.binomial(judged, rng.beta(3, 2, n)), judged


def both(rng: np.random.Generator, n: int, rho: float) -> tuple[np.ndarray, np.ndarray]:
    x, noise = rng.normal(size=n), rng.normal(size=n)
    return x, rho * x + np.sqrt(1 - rho**2) * noise


def arms(rng: np.random.Generator, n: int, shift: float) -> stats.Estimate:
    base = rng.normal(0, 1, n)
    clean, dirty = base + rng.normal(0, 1, n), base - shift + rng.normal(0, 1, n)
    return stats.auc(clean, dirty, high_clusters=range(n), low_clusters=range(n))


def labels(rng: np.random.Generator, n: int) -> list[np.ndarray]:
    truth = rng.integers(0, 3, n)
    return [np.where(rng.random(n) < 0.8, truth, rng.integers(0, 3, n)) for _ in range(2)]


def dosed(rng: np.random.Generator, n: int, slope: float, reports: int) -> stats.DoseResponse:
    dose = np.array([0, 0.5, 1.0])
    rows = []
    for task in range(n):
        start, own = rng.normal(0.7, 0.1), rng.normal(slope, 0.2)
        for report in range(reports):
            values = start + rng.normal(0, 0.05) + own * dose + rng.normal(0, 0.05, 3)
            rows += [(task, report, d, v) for d, v in zip(dose, values, strict=True)]
    return stats.dose_response(pl.DataFrame(rows, schema=["task", "report", "dose", "value"], orient="row"))


def answered(rng: np.random.Generator, n: int, slope: float) -> stats.TestResult:
    """Ten items per task with marginal log odds 1 + slope x dose; items of a task share their luck with chance .2."""
    task, dose = np.repeat(np.arange(n), 10), np.tile([0.0, 1.0], n * 5)
    luck = np.where(rng.random(n * 10) < 0.2, rng.random(n)[task], rng.random(n * 10))
    value = (luck < 1 / (1 + np.exp(-1 - slope * dose))).astype(int)
    return stats.logit_effect(pl.DataFrame({"task": task, "dose": dose, "value": value}))


def harmonic_interval(rng: np.random.Generator, n: int) -> stats.Estimate:
    table = pl.DataFrame({"ca": rng.beta(2, 2, n), "cf": rng.beta(3, 2, n)})
    return stats.function_interval(table, lambda m: 2 * m["ca"] * m["cf"] / (m["ca"] + m["cf"]), seed=rng)


def of_few(rng: np.random.Generator, n: int) -> stats.Estimate:
    return stats.mean_interval(skewed(rng, n), seed=rng, bounds=(0.0, 1.0))


def strata(rng: np.random.Generator, n: int) -> stats.Estimate:
    table = pl.DataFrame({"stratum": ["a", "b"] * (n // 2), "value": rng.beta(2, 5, n) + np.tile([0.0, 0.5], n // 2)})
    return stats.stratified_mean(table, {"a": 0.7, "b": 0.3}, finite=False)


def repeated(rng: np.random.Generator, n: int) -> list[np.ndarray]:
    return list(rng.normal(0, 1, (n, 1)) + rng.normal(0, np.sqrt(0.5), (n, 3)))


def asin(rho: float, kind: str) -> float:
    return float(6 / np.pi * np.arcsin(rho / 2) if kind == "spearman" else 2 / np.pi * np.arcsin(rho))


def forced(rng: np.random.Generator, n: int) -> stats.Estimate:
    return stats.mean_interval(skewed(rng, n), seed=rng, draws=1000, method="bootstrap percentile")


INTERVALS: list[tuple[str, Draw, float, bool]] = [
    ("mean (t < 20 <= percentile)", lambda r, n: stats.mean_interval(skewed(r, n), seed=r, draws=1000), 2 / 7, False),
    ("mean, percentile at any n", forced, 2 / 7, False),
    ("ratio (studentised < 20)", lambda r, n: stats.ratio_interval(*claims(r, n), seed=r, draws=1000), 0.6, False),
    ("CI from dataset means", harmonic_interval, 0.6 / 1.1, False),
    ("paired difference", lambda r, n: stats.paired_difference(skewed(r, n), r.beta(2, 5, n), seed=r, draws=1000), 0.0, False),
    ("Cohen's d, independent", lambda r, n: stats.cohens_d(r.normal(0.5, 1, n), r.normal(0, 1, n)), 0.5, False),
    ("Pearson", lambda r, n: stats.correlation(*both(r, n, 0.6), kind="pearson"), 0.6, False),
    ("Spearman", lambda r, n: stats.correlation(*both(r, n, 0.6), kind="spearman"), asin(0.6, "spearman"), False),
    ("Kendall", lambda r, n: stats.correlation(*both(r, n, 0.6), kind="kendall"), asin(0.6, "kendall"), False),
    ("pairwise agreement", lambda r, n: stats.pairwise_agreement(*both(r, n, 0.6)), (1 + asin(0.6, "kendall")) / 2, False),
    ("AUC, clustered", lambda r, n: arms(r, n, 1.5), 0.7734, False),
    ("Cohen's kappa", lambda r, n: stats.cohens_kappa(*(x.tolist() for x in labels(r, n))), 0.64, False),
    ("Fleiss' kappa", lambda r, n: stats.fleiss_kappa(np.column_stack(labels(r, n)).tolist()), 0.64, False),
    (
        "Krippendorff's alpha",
        lambda r, n: stats.krippendorffs_alpha(np.column_stack(labels(r, n)).tolist(), seed=r, draws=500),
        0.64,
        False,
    ),
    ("ICC(1,1)", lambda r, n: stats.icc(repeated(r, n), kind="1"), 2 / 3, False),
    ("ICC(2,1)", lambda r, n: stats.icc(repeated(r, n), kind="2"), 2 / 3, False),
    ("ICC(3,1)", lambda r, n: stats.icc(repeated(r, n), kind="3"), 2 / 3, False),
    ("stratified mean", strata, 2 / 7 + 0.15, False),
    ("dose slope, 1 report a task", lambda r, n: dosed(r, n, -0.3, 1), -0.3, True),
    ("dose slope, 2 reports a task", lambda r, n: dosed(r, n, -0.3, 2), -0.3, True),
    ("log odds, GEE", lambda r, n: answered(r, n, -1.0), -1.0, True),
]


def shifted(rng: np.random.Generator, n: int, real: bool) -> tuple[np.ndarray, np.ndarray]:
    return skewed(rng, n) + (0.1 if real else 0.0), skewed(rng, n)


def equivalence(rng: np.random.Generator, n: int, real: bool) -> stats.Equivalence:
    """Size at the margin itself, where the null is hardest; power at no shift."""
    base = skewed(rng, n)
    return stats.equivalent_paired(base + rng.normal(0 if real else 0.05, 0.08, n), base, margin=0.05)


def falling(rng: np.random.Generator, n: int, real: bool) -> np.ndarray:
    return rng.normal(0, 1, (n, 4)) - (0.25 if real else 0.0) * np.arange(4)


def accepted(rng: np.random.Generator, n: int, real: bool) -> stats.TestResult:
    return stats.mcnemar(rng.random(n) < (0.7 if real else 0.4), rng.random(n) < 0.4)


def page(rng: np.random.Generator, n: int, real: bool) -> stats.TestResult:
    doses = ["0", "1", "2", "3"]
    return stats.page_trend(pl.DataFrame(falling(rng, n, real), schema=doses, orient="row"), doses)


def concordance(rng: np.random.Generator, n: int, real: bool) -> stats.TestResult:
    """n items, six raters."""
    return stats.kendalls_w((0.7 if real else 0.0) * rng.normal(size=n) + rng.normal(size=(6, n)))


TESTS: list[tuple[str, Effect, bool]] = [
    ("paired t", lambda r, n, real: stats.paired_difference(*shifted(r, n, real), seed=r, draws=100), False),
    ("Wilcoxon", lambda r, n, real: stats.wilcoxon(*shifted(r, n, real)), False),
    ("TOST, paired", equivalence, False),
    ("McNemar, exact", accepted, False),
    ("Page", page, False),
    ("Jonckheere", lambda r, n, real: stats.jonckheere(falling(r, n, real).T), False),
    ("Pearson", lambda r, n, real: stats.correlation(*both(r, n, 0.5 * real), kind="pearson"), False),
    ("Spearman", lambda r, n, real: stats.correlation(*both(r, n, 0.5 * real), kind="spearman"), False),
    ("Kendall", lambda r, n, real: stats.correlation(*both(r, n, 0.5 * real), kind="kendall"), False),
    ("Kendall's W", concordance, False),
    ("dose slope", lambda r, n, real: dosed(r, n, -0.15 * real, 1), True),
    ("log odds, GEE", lambda r, n, real: answered(r, n, -1.0 * real), True),
]


def coverage(draw: Draw, truth: float, times: int, n: int) -> tuple[float, int]:
    rng = np.random.default_rng([n, times])
    found = [draw(rng, n) for _ in range(times)]
    given = [result for result in found if result.low is not None]
    return float(np.mean([result.low <= truth <= result.high for result in given])), times - len(given)


def rejection(draw: Effect, real: bool, times: int, n: int) -> float:
    rng = np.random.default_rng([n, times, int(real)])
    found = [draw(rng, n, real).p for _ in range(times)]
    return float(np.mean([p is not None and p < 0.05 for p in found]))


def interval_lines(share: float) -> Iterator[str]:
    yield f"{'coverage of the 95 % interval':32}" + "".join(f"  n={n:<4}" for n in SIZES) + "   times"
    for name, draw, truth, slow in INTERVALS:
        times = int((SLOW if slow else REPETITIONS) * share)
        results = [coverage(draw, truth, times, n) for n in SIZES]
        nulls = [str(null) for _, null in results]
        note = f"   without interval: {'/'.join(nulls)}" if any(null for _, null in results) else ""
        yield f"{name:32}" + "".join(f"  {value:.3f} " for value, _ in results) + f"  {times}{note}"


def test_lines(share: float) -> Iterator[str]:
    yield f"{'size / power at p < .05':32}" + "".join(f"  n={n:<9}" for n in SIZES) + "   times"
    for name, draw, slow in TESTS:
        times = int((SLOW if slow else REPETITIONS) * share)
        pairs = [(rejection(draw, False, times, n), rejection(draw, True, times, n)) for n in SIZES]
        yield f"{name:32}" + "".join(f"  {size:.3f}/{power:.3f}" for size, power in pairs) + f"   {times}"


def width_lines(share: float) -> Iterator[str]:
    """Coverage and median width of the t interval of a mean of skewed scores in [0, 1], by the number of tasks."""
    times = int(REPETITIONS * share)
    yield f"{'mean of few tasks':32}" + "".join(f"  n={n:<4}" for n in FEW) + "   times"
    found = {n: [of_few(np.random.default_rng([n, i]), n) for i in range(times)] for n in FEW}
    held = {n: np.mean([one.low <= 2 / 7 <= one.high for one in found[n]]) for n in FEW}
    wide = {n: np.median([one.high - one.low for one in found[n]]) for n in FEW}
    yield f"{'coverage':32}" + "".join(f"  {held[n]:.3f} " for n in FEW) + f"  {times}"
    yield f"{'median width':32}" + "".join(f"  {wide[n]:.3f} " for n in FEW) + f"  {times}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Coverage of intervals, size and power of tests.")
    parser.add_argument("--share", type=float, default=1.0, help="repetitions as a multiple of the default")
    share, start = parser.parse_args().share, time.perf_counter()
    for lines in (width_lines, interval_lines, test_lines):
        for line in lines(share):
            print(line, flush=True)
        print()
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
