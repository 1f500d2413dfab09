"""Paired differences, power, effect sizes, equivalence and adjustment: against statsmodels, pingouin and scipy."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import ttost_ind, ttost_paired

from dreambench.errors import InputError
from dreambench.stats import (
    adjust_column,
    bonferroni,
    cohens_d,
    cohens_d_paired,
    compare_pairs,
    equivalent_independent,
    equivalent_paired,
    holm,
    mean_interval,
    minimum_detectable_difference,
    paired_difference,
    paired_power,
    tasks_needed,
)
from dreambench.stats.noncentral import noncentral_t_cdf

unit = st.floats(0, 1).map(lambda x: round(x, 3))


def test_paired_difference_is_the_t_test_and_the_interval_of_differences(rng):
    a, b = rng.random(12), rng.random(12)
    got = paired_difference(a, b, seed=0)
    want = stats.ttest_rel(a, b)
    interval = mean_interval(a - b, seed=0)
    assert got.p == pytest.approx(want.pvalue)
    assert (got.low, got.high) == pytest.approx((want.confidence_interval().low, want.confidence_interval().high))
    assert (got.value, got.method, got.n) == (pytest.approx(interval.value), "t", 12)
    assert got.effect == pytest.approx((a - b).mean() / (a - b).std(ddof=1))


def test_a_task_without_one_value_leaves_both(rng):
    a, b = rng.random(12), rng.random(12)
    gaps = [None, *a[1:]]
    assert paired_difference(gaps, b, seed=0) == paired_difference(a[1:], b[1:], seed=0)


@pytest.mark.parametrize(
    ("a", "b", "value", "reason"),
    [
        ([], [], None, "all values are missing"),
        ([1], [0.5], 0.5, "one task has no spread over tasks"),
        ([0.5, 0.75], [0.25, 0.5], 0.25, "all values are equal"),
    ],
)
def test_degenerate_pairs(a, b, value, reason):
    got = paired_difference(a, b, seed=0)
    assert (got.value, got.low, got.p, got.detectable, got.reason) == (value, None, None, None, reason)


@pytest.mark.parametrize("n", [3, 8, 20, 132])
def test_power_agrees_with_statsmodels(n):
    power = TTestPower()
    assert paired_power(0.1, 0.2, n).value == pytest.approx(power.power(0.5, n, 0.05), abs=1e-5)
    if n >= 8:
        want = power.solve_power(nobs=n, alpha=0.05, power=0.8) * 0.2
        assert minimum_detectable_difference(0.2, n).value == pytest.approx(want, rel=1e-4)


def test_tasks_needed_is_the_first_number_with_the_power():
    n = int(tasks_needed(0.1, 0.3).value)
    assert paired_power(0.1, 0.3, n).value >= 0.8 > paired_power(0.1, 0.3, n - 1).value
    assert tasks_needed(0, 0.3).reason == "no number of tasks detects a difference of zero"
    assert tasks_needed(0.1, 0).reason == "the differences have no spread"
    assert minimum_detectable_difference(0.3, 1).reason == "fewer than two tasks"


@settings(deadline=None, max_examples=30)
@given(st.integers(2, 200), st.floats(0.01, 2), st.floats(0.01, 3))
def test_power_rises_with_effect_and_tasks(n, sd, difference):
    power = paired_power(difference, sd, n).value
    assert 0.05 - 1e-6 <= power <= 1
    assert power <= paired_power(difference * 1.2, sd, n).value + 1e-6
    assert power <= paired_power(difference, sd, n + 1).value + 1e-6
    assert paired_power(minimum_detectable_difference(sd, n).value, sd, n).value == pytest.approx(0.8, abs=1e-4)


def test_noncentral_t_agrees_with_scipy():
    for df in (1, 3, 19, 200):
        for t, away in ((-3, 0), (0.5, 1), (2, -2), (8, 3), (30, 9)):
            assert noncentral_t_cdf(t, df, away) == pytest.approx(stats.nct.cdf(t, df, away), abs=2e-6)


def test_pairs_of_systems_are_adjusted(rng):
    table = pl.DataFrame(rng.random((30, 3)), schema=["x", "y", "z"])
    got = compare_pairs(table, ["x", "y", "z"], seed=0)
    assert got.select("a", "b").rows() == [("x", "y"), ("x", "z"), ("y", "z")]
    assert got["p_adjusted"].to_list() == pytest.approx(multipletests(got["p"].to_numpy(), method="holm")[1])


@settings(deadline=None, max_examples=25)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_adjusted_p_values_agree_with_statsmodels(p):
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])
    assert bonferroni(p) == pytest.approx(multipletests(p, method="bonferroni")[1])
    assert all(x <= h <= b for x, h, b in zip(p, holm(p), bonferroni(p), strict=True))


def test_tests_that_were_not_made_do_not_count():
    assert holm([0.01, None, 0.04]) == [pytest.approx(0.02), None, pytest.approx(0.04)]
    assert bonferroni([0.01], tests=6) == [pytest.approx(0.06)]
    assert holm([None]) == [None]
    assert holm([]) == []
    with pytest.raises(InputError, match="outside"):
        holm([1.5])


def test_adjustment_inside_groups_keeps_the_rows():
    table = pl.DataFrame({"judge": ["x", "y", "x"], "p": [0.03, 0.04, 0.01]})
    got = adjust_column(table, by=["judge"])
    assert got["judge"].to_list() == ["x", "y", "x"]
    assert got["p_adjusted"].to_list() == pytest.approx([0.03, 0.04, 0.02])


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_effect_sizes_agree_with_pingouin(rng):
    import pingouin

    a, b = rng.normal(size=15), rng.normal(0.5, size=11)
    assert cohens_d(a, b).value == pytest.approx(pingouin.compute_effsize(a, b, eftype="cohen"))
    assert cohens_d(a, b, correct=True).value == pytest.approx(pingouin.compute_effsize(a, b, eftype="hedges"), rel=2e-3)
    assert cohens_d_paired(a[:11], b).value == pytest.approx(stats.ttest_rel(a[:11], b).statistic / np.sqrt(11))


def test_effect_interval_inverts_the_noncentral_t(rng):
    a, b = rng.normal(size=15), rng.normal(1, size=11)
    got, scale = cohens_d(a, b), np.sqrt(1 / 15 + 1 / 11)
    t = stats.ttest_ind(a, b).statistic
    assert stats.nct.sf(t, 24, got.low / scale) == pytest.approx(0.025, abs=1e-4)
    assert stats.nct.cdf(t, 24, got.high / scale) == pytest.approx(0.025, abs=1e-4)


def test_effect_sizes_without_spread_are_null():
    assert cohens_d([1, 1], [0, 0]).reason == "no spread within the samples"
    assert cohens_d([1], [0]).reason == "too few values for a pooled standard deviation"
    assert cohens_d_paired([1, 2], [0, 1]).reason == "all differences are equal"


@settings(deadline=None, max_examples=40)
@given(st.lists(unit, min_size=3, max_size=9), st.lists(unit, min_size=3, max_size=9))
def test_effect_size_changes_sign_with_the_order(a, b):
    one, other = cohens_d(a, b), cohens_d(b, a)
    if one.value is None:
        assert other.value is None
        return
    assert (one.value, one.low, one.high) == pytest.approx((-other.value, -other.high, -other.low), abs=1e-6)


def test_equivalence_agrees_with_statsmodels(rng):
    a = rng.normal(0.5, 0.1, 25)
    b = a + rng.normal(0.01, 0.05, 25)
    got = equivalent_paired(a, b, margin=0.04)
    assert got.p == pytest.approx(ttost_paired(a, b, -0.04, 0.04)[0])
    assert got.equivalent == (got.p < 0.05) == (got.low > -0.04 and got.high < 0.04)
    loose = equivalent_independent(a, b, margin=0.1)
    assert loose.p == pytest.approx(ttost_ind(a, b, -0.1, 0.1, usevar="unequal")[0])


def test_equivalence_without_spread_is_null_and_margins_are_positive():
    got = equivalent_paired([0.5] * 4, [0.5] * 4, margin=0.02)
    assert (got.value, got.p, got.equivalent, got.reason) == (0, None, None, "no spread to test against")
    assert equivalent_paired([], [], margin=0.02).reason == "all pairs miss a value"
    assert equivalent_paired([1], [0], margin=0.02).reason == "one pair has no spread"
    assert equivalent_independent([1], [0, 2], margin=0.02).reason == "a sample has fewer than two values"
    with pytest.raises(InputError, match="margin"):
        equivalent_paired([1, 2], [1, 2], margin=0)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(unit, unit), min_size=2, max_size=12))
def test_a_wider_margin_never_raises_p(pairs):
    a, b = zip(*pairs, strict=True)
    found = [equivalent_paired(a, b, margin=margin).p for margin in (0.05, 0.1, 0.5)]
    if found[0] is not None:
        assert found == sorted(found, reverse=True)
