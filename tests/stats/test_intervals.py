"""Intervals: against scipy and closed forms, real score matrices, and properties that any input must keep."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dreambench.errors import InputError
from dreambench.stats import Estimate, function_interval, mean_interval, mean_intervals, ratio_interval
from dreambench.stats.intervals import estimates, function_plan, mean_plan, ratio_plan
from dreambench.stats.resampling import BLOCK, count_blocks, draw_counts
from tests.stats.conftest import SYSTEMS

MACRO = dict(zip(SYSTEMS, (0.4540, 0.4198, 0.4099, 0.3925, 0.3923, 0.3858, 0.2989), strict=True))
MICRO = dict(zip(SYSTEMS, (0.4433, 0.4056, 0.3876, 0.3711, 0.3775, 0.3679, 0.2881), strict=True))
scores = st.floats(0, 1).map(lambda x: round(x, 3))


def harmonic(means: Mapping[str, np.ndarray]) -> np.ndarray:
    return 2 * means["ca"] * means["cf"] / (means["ca"] + means["cf"])


def test_import_is_cheap():
    code = "import sys, dreambench.stats; print([m for m in ('scipy', 'statsmodels', 'pandas') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_few_tasks_give_the_t_interval(rng):
    values = rng.random(8)
    got = mean_interval(values, seed=0)
    want = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (got.method, got.n, got.small) == ("t", 8, True)
    assert (got.low, got.high) == pytest.approx((want.low, want.high))


def test_many_tasks_give_the_percentile_bootstrap(rng):
    values = rng.beta(2, 5, size=60)
    got = mean_interval(values, seed=0, draws=10_000)
    want = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=10_000, rng=1).confidence_interval
    assert got.method == "bootstrap percentile"
    assert not got.small
    assert (got.low, got.high) == pytest.approx((want.low, want.high), abs=0.004)


def test_twenty_tasks_are_the_border(rng):
    assert mean_interval(rng.random(19), seed=0).method == "t"
    assert mean_interval(rng.random(20), seed=0).method == "bootstrap percentile"
    assert ratio_interval(rng.random(19), rng.random(19), seed=0).method == "bootstrap studentised"


def test_t_interval_is_cut_to_the_range_of_the_score():
    got = mean_interval([1, 1, 0.9, 1], seed=0, bounds=(0, 1))
    assert got.high == 1
    assert mean_interval([1, 1, 0.9, 1], seed=0).high > 1


def test_ratio_is_pooled_and_its_error_linearised(rng):
    """The linearised error of a ratio of means, checked by the formula of Cochran (1977, 6.13)."""
    den = rng.integers(5, 40, 12).astype(float)
    num = rng.binomial(den.astype(int), 0.6).astype(float)
    got = ratio_interval(num, den, seed=0, method="t, linearised")
    ratio = num.sum() / den.sum()
    error = np.sqrt(((num - ratio * den) ** 2).sum() / (12 * 11)) / den.mean()
    assert got.value == pytest.approx(ratio)
    assert got.high - ratio == pytest.approx(stats.t.ppf(0.975, 11) * error, rel=1e-6)


def test_studentised_bootstrap_of_a_mean_matches_its_definition(rng):
    values = rng.exponential(size=10)
    got = ratio_interval(values, np.ones(10), seed=0, draws=20_000)
    drawn = rng.choice(values, size=(20_000, 10))
    with np.errstate(divide="ignore", invalid="ignore"):
        pivots = (drawn.mean(axis=1) - values.mean()) / (drawn.std(axis=1, ddof=1) / np.sqrt(10))
    low, high = np.quantile(pivots[np.isfinite(pivots)], [0.025, 0.975])
    error = values.std(ddof=1) / np.sqrt(10)
    assert got.low == pytest.approx(values.mean() - high * error, rel=0.05)
    assert got.high == pytest.approx(values.mean() - low * error, rel=0.05)


def test_function_of_means_keeps_tasks_that_miss_one_column():
    table = pl.DataFrame({"ca": [0.5, 0.5, 0.2, 0.8], "cf": [0.6, 0.65, None, None]})
    got = function_interval(table, harmonic, seed=0)
    assert got.value == pytest.approx(0.5556, abs=5e-5)
    assert got.n == 4


def test_function_interval_agrees_with_a_plain_bootstrap(rng):
    table = pl.DataFrame({"ca": rng.random(40), "cf": rng.random(40)})
    got = function_interval(table, harmonic, seed=0, draws=10_000)
    rows = rng.integers(0, 40, size=(10_000, 40))
    drawn = harmonic({name: table[name].to_numpy()[rows].mean(axis=1) for name in ("ca", "cf")})
    assert (got.low, got.high) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])), abs=0.01)


@pytest.mark.parametrize(
    ("values", "value", "reason"),
    [
        ([], None, "all values are missing"),
        ([None, float("nan")], None, "all values are missing"),
        ([0.4], 0.4, "one task has no spread over tasks"),
        ([0.4] * 30, 0.4, "all values are equal"),
    ],
)
def test_degenerate_input_is_null_with_a_reason(values, value, reason):
    for got in (mean_interval(values, seed=0), ratio_interval(values, [1] * len(values), seed=0)):
        assert got.value == (pytest.approx(value) if value is not None else None)
        assert (got.low, got.high) == (None, None)
        assert got.reason in {reason, "no spread over tasks"}


def test_undefined_statistics_are_null_with_a_reason():
    assert ratio_interval([0, 0], [0, 0], seed=0).reason == "the denominators sum to nothing"
    nothing = function_interval(pl.DataFrame({"ca": [0.0, 0.0], "cf": [0.0, 0.0]}), harmonic, seed=0)
    assert (nothing.value, nothing.reason) == (None, "the statistic is undefined at the dataset means")
    missing = function_interval(pl.DataFrame({"ca": [0.1, 0.2], "cf": [None, None]}), harmonic, seed=0)
    assert missing.reason == "all values of cf are missing"


def test_bad_input_says_what_to_fix():
    with pytest.raises(InputError, match="lengths differ: numerators has 2, denominators has 1"):
        ratio_interval([1, 2], [1], seed=0)
    with pytest.raises(InputError, match="infinite"):
        mean_interval([1.0, float("inf")], seed=0)
    with pytest.raises(InputError, match="'bca' is not known"):
        mean_interval([1.0, 2.0], seed=0, method="bca")
    with pytest.raises(InputError, match="no column 'x'"):
        function_interval(pl.DataFrame({"ca": [1.0]}), harmonic, columns=["x"], seed=0)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.one_of(st.none(), scores), max_size=40), st.randoms(use_true_random=False))
def test_order_never_matters_and_bounds_hold(values, random):
    got = mean_interval(values, seed=3, draws=200)
    shuffled = list(values)
    random.shuffle(shuffled)
    assert mean_interval(shuffled, seed=3, draws=200) == got
    _check(got)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(scores, st.integers(0, 9)), max_size=30), st.randoms(use_true_random=False))
def test_ratio_intervals_are_sound_for_any_counts(pairs, random):
    random.shuffle(shuffled := list(pairs))
    results = [
        ratio_interval([share * n for share, n in rows], [n for _, n in rows], seed=3, draws=200, bounds=(0, 1))
        for rows in (pairs, shuffled)
    ]
    assert results[0] == results[1]
    _check(results[0])


@settings(deadline=None, max_examples=40)
@given(st.lists(scores, min_size=2, max_size=30), st.floats(0.5, 3), st.floats(-2, 2))
def test_intervals_move_with_the_scale(values, scale, shift):
    plain = mean_interval(values, seed=1, draws=200)
    moved = mean_interval([scale * x + shift for x in values], seed=1, draws=200)
    if plain.low is not None and moved.low is not None:
        assert moved.low == pytest.approx(scale * plain.low + shift, abs=1e-9)
        assert moved.high == pytest.approx(scale * plain.high + shift, abs=1e-9)


def test_wider_level_gives_wider_interval(rng):
    for values in (rng.random(10), rng.random(40)):
        widths = [(e.high - e.low) for e in (mean_interval(values, seed=0, level=level) for level in (0.5, 0.8, 0.95, 0.99))]
        assert widths == sorted(widths)


def test_intervals_of_groups_are_a_table(rng):
    table = pl.DataFrame({"agent": ["b"] * 5 + ["a"] * 5, "value": rng.random(10)})
    got = mean_intervals(table, ["agent"], seed=0)
    assert got["agent"].to_list() == ["a", "b"]
    assert got.columns == ["agent", "value", "low", "high", "method", "n", "reason"]
    alone = mean_interval(table.filter(agent="a")["value"], seed=0)
    assert got.row(0, named=True)["low"] == alone.low


def test_published_macro_and_micro_means(score_matrix):
    for system, macro in MACRO.items():
        assert mean_interval(score_matrix[system], seed=0).value == pytest.approx(macro, abs=5e-5)
        ran = score_matrix.drop_nulls(system)
        got = ratio_interval(ran[system] * ran["items"], ran["items"], seed=0)
        assert got.value == pytest.approx(MICRO[system], abs=5e-5)


@pytest.mark.parametrize(("system", "low", "high"), [("OpenAI", 0.424, 0.485), ("tongyi", 0.274, 0.325)])
def test_published_intervals(score_matrix, system, low, high):
    """Found with another implementation: percentile bootstrap, 2,000 draws over tasks."""
    got = mean_interval(score_matrix[system], seed=0)
    assert (got.low, got.high) == pytest.approx((low, high), abs=0.003)


def _check(got: Estimate) -> None:
    if got.low is None or got.high is None:
        assert got.reason
    else:
        assert np.isfinite([got.value, got.low, got.high]).all()
        assert got.low <= got.high
        if got.method in {"t", "t, linearised"}:
            assert got.low - 1e-9 <= got.value <= got.high + 1e-9


def test_groups_that_share_their_samples_get_what_each_gets_alone(rng):
    """Groups of one size and of others, with every way to make an interval."""
    tables = [pl.DataFrame({"ca": rng.random(n), "cf": rng.random(n)}) for n in (1, 4, 12, 40, 40, 41)]
    plans, alone = [], []
    for table in tables:
        plans += [mean_plan(table["ca"]), ratio_plan(table["ca"], table["cf"]), function_plan(table, harmonic)]
        alone += [
            mean_interval(table["ca"], seed=7),
            ratio_interval(table["ca"], table["cf"], seed=7),
            function_interval(table, harmonic, seed=7),
        ]
    assert estimates(plans, seed=7) == alone
    assert {estimate.method for estimate in alone} >= {"t", "bootstrap percentile", "bootstrap studentised", "t, linearised"}


def test_samples_of_many_units_come_in_blocks_and_are_those_of_one_piece():
    n = BLOCK // 6 - 1
    blocks = list(count_blocks(n, 100, np.random.default_rng(3)))
    drawn = np.random.default_rng(3).integers(0, n, size=(100, n))
    assert [len(block) for block in blocks] == [6] * 16 + [4]
    assert np.array_equal(np.concatenate(blocks), [np.bincount(row, minlength=n) for row in drawn])
    assert np.array_equal(draw_counts(n, 100, np.random.default_rng(3)), np.concatenate(blocks))


def test_a_group_of_many_tasks_has_the_interval_of_all_its_samples(rng):
    values = np.sort(rng.random(3000))
    drawn = np.random.default_rng(5).integers(0, 3000, size=(2000, 3000))
    low, high = np.quantile(values[drawn].mean(axis=1), [0.025, 0.975])
    got = mean_interval(values, seed=5)
    assert (got.low, got.high) == pytest.approx((low, high), abs=1e-12)
