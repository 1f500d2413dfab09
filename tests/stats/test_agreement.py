"""Agreement: published W, statsmodels, krippendorff and pingouin on random data, clusters, weights and limits."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats import inter_rater

from dreambench.errors import InputError
from dreambench.stats import cohens_kappa, fleiss_kappa, kendalls_w, kendalls_w_test, krippendorffs_alpha

label = st.integers(0, 3)


def raters(rng, count=3, units=60, accuracy=0.6):
    truth = rng.integers(0, 4, units)
    return [np.where(rng.random(units) < accuracy, truth, rng.integers(0, 4, units)) for _ in range(count)]


def test_published_w_gives_the_published_p(published):
    for w, p, printed in zip(*(published["kendall_w"][key] for key in ("w", "p", "p_printed")), strict=True):
        got = kendalls_w_test(w, published["kendall_w"]["raters"], published["kendall_w"]["methods"])
        assert got.p == pytest.approx(p, abs=5e-5)
        assert got.p == pytest.approx(printed, abs=1e-3)


def test_w_agrees_with_friedman_with_ties(rng):
    """W is Friedman's statistic over m(k-1), ties corrected in the same way."""
    scores = rng.integers(0, 5, (6, 8)).astype(float)
    got = kendalls_w(scores)
    want = stats.friedmanchisquare(*scores.T)
    assert (got.statistic, got.p) == pytest.approx((want.statistic, want.pvalue))


@settings(deadline=None, max_examples=40)
@given(st.lists(st.lists(label, min_size=4, max_size=4), min_size=2, max_size=6))
def test_w_is_bounded_and_ignores_monotone_changes(rows):
    got, moved = kendalls_w(rows), kendalls_w([[2.0**x for x in row] for row in rows])
    assert moved == got
    assert got.reason or 0 <= got.effect <= 1


def test_w_limits():
    assert kendalls_w([[1, 2, 3], [4, 5, 6]]).effect == 1
    assert kendalls_w([[1, 2], [2, 1]]).effect == 0
    assert kendalls_w([]).reason == "fewer than two raters"
    assert kendalls_w([[1, 1], [1, 1]]).reason == "every rater ties all items"
    assert kendalls_w([[1, None, 3], [2, 1, None]]).reason == "fewer than two items rated by all"
    with pytest.raises(InputError, match="different numbers"):
        kendalls_w([[1, 2], [1]])


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_cohens_kappa_agrees_with_statsmodels(rng, weights):
    a, b, _ = raters(rng)
    table = np.zeros((4, 4))
    np.add.at(table, (a, b), 1)
    got = cohens_kappa(a.tolist(), b.tolist(), weights=weights)
    want = inter_rater.cohens_kappa(table, wt=None if weights == "none" else weights)
    assert got.value == pytest.approx(want.kappa)
    error = (got.high - got.low) / 2 / stats.t.ppf(0.975, 59)
    assert error == pytest.approx(want.std_kappa * np.sqrt(60 / 59), rel=1e-6)
    assert got.rates["a"].to_list() == pytest.approx((np.bincount(a) / 60).tolist())


def test_kappa_shows_the_base_rates_that_explain_it():
    """Ninety of a hundred agree in both, yet kappa differs by the base rates alone (Feinstein and Cicchetti 1990)."""
    balanced = cohens_kappa([1] * 50 + [0] * 50, [1] * 45 + [0] * 5 + [1] * 5 + [0] * 45)
    skewed = cohens_kappa([1] * 95 + [0] * 5, [1] * 90 + [0] * 5 + [1] * 5)
    assert balanced.observed == skewed.observed == pytest.approx(0.9)
    assert balanced.value == pytest.approx(0.8)
    assert skewed.value < 0
    assert skewed.rates["a"].to_list() == pytest.approx([0.05, 0.95])


def test_kappa_weights_are_copies_and_clusters_widen(rng):
    a, b, _ = (r.tolist() for r in raters(rng, units=40))
    times = rng.integers(1, 4, 40)
    copied = cohens_kappa(np.repeat(a, times).tolist(), np.repeat(b, times).tolist())
    assert cohens_kappa(a, b, sample_weights=times).value == pytest.approx(copied.value)
    doubled = cohens_kappa(a * 2, b * 2, clusters=[*range(40), *range(40)])
    single = cohens_kappa(a, b)
    assert (doubled.low, doubled.high) == pytest.approx((single.low, single.high))


def test_kappa_degenerate():
    assert cohens_kappa([], []).reason == "no unit has both labels"
    assert cohens_kappa([1, 1], [1, 1]).reason == "both raters used one and the same label"
    assert cohens_kappa([1, 2], [1, 2], clusters=["t", "t"]).reason == "one cluster"
    perfect = cohens_kappa(["yes", "no", None], ["yes", "no", "no"])
    assert (perfect.value, perfect.low, perfect.n, perfect.reason) == (1, None, 2, "no spread over units")
    with pytest.raises(InputError, match="maybe not among them"):
        cohens_kappa(["maybe"], ["yes"], labels=["yes", "no"])


def test_fleiss_agrees_with_statsmodels(rng):
    units = np.array(raters(rng)).T
    got = fleiss_kappa(units.tolist())
    assert got.value == pytest.approx(inter_rater.fleiss_kappa(inter_rater.aggregate_raters(units)[0]))
    assert got.low < got.value < got.high


def test_fleiss_degenerate():
    assert fleiss_kappa([]).reason == "no unit has all labels"
    assert fleiss_kappa([[1, 1], [1, 1]]).reason == "only one label was used"
    assert fleiss_kappa([[1], [2]]).reason == "fewer than two raters"
    with pytest.raises(InputError, match="different numbers"):
        fleiss_kappa([[1, 2], [1, 2, 3]])


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])
def test_alpha_agrees_with_krippendorff(rng, scale):
    matrix = np.array(raters(rng), dtype=float)
    matrix[rng.random(matrix.shape) < 0.25] = np.nan
    got = krippendorffs_alpha(matrix.T.tolist(), seed=0, scale=scale)
    assert got.value == pytest.approx(krippendorff.alpha(matrix, level_of_measurement=scale))
    assert got.low < got.value < got.high


def test_alpha_degenerate():
    assert krippendorffs_alpha([], seed=0).reason == "no unit has two labels"
    assert krippendorffs_alpha([[1, None], [None, 2]], seed=0).reason == "no unit has two labels"
    assert krippendorffs_alpha([[1, 1], [1, 1]], seed=0).reason == "only one label was used"
    assert krippendorffs_alpha([[1, 2]], seed=0).reason == "one unit"
    assert krippendorffs_alpha([[1, 1], [2, 2]], seed=0).reason == "perfect agreement has no spread"
    assert krippendorffs_alpha([[1, 2], [2, 2]], seed=0, clusters=["t", "t"]).reason == "one cluster"


@settings(deadline=None, max_examples=30)
@given(st.lists(st.lists(label, min_size=2, max_size=2), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_coefficients_ignore_order_and_names_of_labels(units, random):
    shuffled = list(units)
    random.shuffle(shuffled)
    assert krippendorffs_alpha(shuffled, seed=1, draws=200) == krippendorffs_alpha(units, seed=1, draws=200)
    renamed = [["dbca"[x] for x in unit] for unit in units]
    for one, other in (
        (fleiss_kappa(units), fleiss_kappa(renamed)),
        (cohens_kappa(*zip(*units, strict=True)), cohens_kappa(*zip(*renamed, strict=True))),
        (krippendorffs_alpha(units, seed=1, draws=200), krippendorffs_alpha(renamed, seed=1, draws=200)),
    ):
        assert other.value == (None if one.value is None else pytest.approx(one.value))
        assert one.value is None or -1 <= one.value <= 1
        assert one.low is not None or one.reason
