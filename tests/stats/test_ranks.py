"""Rank tests, correlations, trends, wins and stability: published figures, scipy, and invariance."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dreambench.errors import InputError
from dreambench.stats import (
    bonferroni,
    correlation,
    fractional_wins,
    jonckheere,
    monotone_share,
    page_trend,
    pairwise_agreement,
    pairwise_correlations,
    rank_stability,
    weighted_mean,
    wilcoxon,
)
from tests.stats.conftest import SYSTEMS

grade = st.integers(0, 5).map(lambda x: x / 5)
DOSES = ["0", "0.5", "1"]


def rows_of(values):
    return pl.DataFrame(np.asarray(values, dtype=float), schema=DOSES, orient="row")


def test_published_correlations_between_systems(score_matrix):
    rho = pairwise_correlations(score_matrix, SYSTEMS, kind="spearman")["effect"]
    tau = pairwise_correlations(score_matrix, SYSTEMS, kind="kendall")["effect"]
    assert rho.mean() == pytest.approx(0.7157, abs=5e-5)
    assert (rho.max(), rho.min()) == pytest.approx((0.8386, 0.5804), abs=5e-5)
    assert tau.mean() == pytest.approx(0.5374, abs=5e-5)


def test_published_wilcoxon(score_matrix):
    found = {name: wilcoxon(score_matrix["OpenAI"], score_matrix[name]) for name in SYSTEMS[1:]}
    adjusted = dict(zip(found, bonferroni([result.p for result in found.values()]), strict=True))
    assert found["doubao"].n == 125
    assert adjusted["doubao"] == pytest.approx(0.0019, abs=5e-5)
    assert max(adjusted.values()) < 0.002


def test_deepweb_mean_rho_and_overall_from_families(real_data):
    paper = json.loads((real_data / "deepweb" / "paper_tables.json").read_text())
    matrix = np.array(paper["spearman"])
    upper = matrix[np.triu_indices(len(matrix), 1)]
    assert len(upper) == 36
    assert weighted_mean(upper, np.ones(36)).value == pytest.approx(0.61, abs=0.005)
    for _, overall, *families in (row[:6] for row in paper["table1"]):
        assert weighted_mean(families, [1, 4, 1, 2]).value == pytest.approx(overall, abs=0.015)


def test_wilcoxon_agrees_with_scipy_and_pingouin(rng):
    import pingouin

    a, b = rng.random(15), rng.random(15)
    got = wilcoxon(a, b)
    assert got.p == pytest.approx(stats.wilcoxon(a, b).pvalue)
    assert got.effect == pytest.approx(float(pingouin.wilcoxon(a, b)["RBC"].iloc[0]))
    other = wilcoxon(b, a)
    assert (other.p, other.effect) == pytest.approx((got.p, -got.effect))


def test_wilcoxon_sees_ties_through_floating_point():
    a, b = [0.3, 0.6, 0.9, 1.2, 0.4], [0.1, 0.4, 0.7, 1.0, 0.4]
    assert wilcoxon(a, b).effect == 1
    assert wilcoxon(a, b) == wilcoxon([2, 2, 2, 2, 0], [0, 0, 0, 0, 0])


def test_wilcoxon_degenerate():
    assert wilcoxon([], []).reason == "all pairs miss a value"
    assert wilcoxon([1, 2], [1, 2]).reason == "all differences are zero"
    assert wilcoxon([1], [0]).p == 1


def test_correlations_agree_with_scipy(rng):
    a = rng.random(30)
    b = a + rng.normal(0, 0.5, 30)
    pearson = stats.pearsonr(a, b)
    got = correlation(a, b, kind="pearson")
    assert (got.effect, got.p) == pytest.approx((pearson.statistic, pearson.pvalue))
    assert (got.low, got.high) == pytest.approx(tuple(pearson.confidence_interval()))
    assert correlation(a, b).p == pytest.approx(stats.spearmanr(a, b).pvalue)
    assert correlation(a, b, kind="kendall").effect == pytest.approx(stats.kendalltau(a, b).statistic)


@pytest.mark.parametrize("kind", ["pearson", "spearman", "kendall"])
def test_correlations_degenerate(kind):
    assert correlation([1, 2], [1, 2], kind=kind).reason == "fewer than three units"
    assert correlation([1, 1, 1], [1, 2, 3], kind=kind).reason == "all values of one side are equal"
    perfect = correlation([1, 2, 3, 4, 5], [2, 4, 6, 8, 10], kind=kind)
    assert perfect.effect == pytest.approx(1)
    assert (perfect.low, perfect.reason) == (None, "a perfect correlation has no interval")


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(grade, grade), max_size=14), st.sampled_from(["pearson", "spearman", "kendall"]))
def test_correlations_are_symmetric_bounded_and_turn_with_a_side(pairs, kind):
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    got, swapped, turned = (correlation(*side, kind=kind) for side in ((a, b), (b, a), (a, [-y for y in b])))
    if got.effect is None:
        assert got.reason
        return
    assert -1 <= got.effect <= 1
    assert swapped.effect == pytest.approx(got.effect)
    assert turned.effect == pytest.approx(-got.effect, abs=1e-9)
    if got.low is not None:
        assert -1 <= got.low <= got.effect <= got.high <= 1


def test_page_agrees_with_scipy(rng):
    values = rng.random((6, 3)) + np.array([0.4, 0.2, 0])
    got = page_trend(rows_of(values), DOSES)
    want = stats.page_trend_test(-values)
    assert (got.statistic, got.p) == pytest.approx((want.statistic, want.pvalue))
    assert page_trend(rows_of(values[:, ::-1]), DOSES, direction="increasing").p == pytest.approx(got.p)


def test_page_with_ties_agrees_with_its_permutation_distribution(rng):
    values = rng.integers(0, 3, (12, 3)).astype(float)
    got = page_trend(rows_of(values), DOSES, direction="increasing")
    ranks = stats.rankdata(values, axis=1)
    drawn = np.array([(rng.permuted(ranks, axis=1) @ [1, 2, 3]).sum() for _ in range(20_000)])
    middle = (drawn > got.statistic).mean() + (drawn == got.statistic).mean() / 2
    assert got.method.endswith("normal with ties")
    assert got.p == pytest.approx(middle, abs=0.015)


def test_jonckheere_agrees_with_kendalls_asymptotic_test(rng):
    """With ordered groups the test is Kendall's, an independent implementation of the same tie correction."""
    for groups in (
        [rng.random(8), rng.random(6) - 0.3, rng.random(7)],
        [rng.integers(0, 4, 9).astype(float) for _ in range(4)],
    ):
        got = jonckheere(groups)
        labels = np.repeat(np.arange(len(groups)), [len(g) for g in groups])
        want = stats.kendalltau(labels, np.concatenate(groups), method="asymptotic", alternative="less")
        assert got.p == pytest.approx(want.pvalue)
        assert jonckheere(groups, direction="increasing").p == pytest.approx(1 - got.p)


def test_trends_degenerate():
    assert page_trend(rows_of([[1, 1, 1], [2, 2, 2]]), DOSES).reason == "all values are equal within every report"
    assert page_trend(rows_of([[3, 2, 1]]), DOSES).reason == "fewer than two complete reports"
    assert page_trend(rows_of([[3, 2, 1]]), DOSES[:2]).reason == "fewer than three doses"
    assert jonckheere([[1, 2], []]).reason == "fewer than two groups with values"
    assert jonckheere([[1, 1], [1]]).reason == "all values are equal"
    assert monotone_share(rows_of([[None, 1, 1]]), DOSES).reason == "no complete reports"


def test_monotone_share_needs_a_fall_and_no_rise():
    got = monotone_share(rows_of([[3, 2, 1], [3, 3, 1], [1, 1, 1], [3, 1, 2], [None, 1, 0]]), DOSES)
    assert (got.value, got.n) == (0.5, 4)
    assert 0 < got.low < 0.5 < got.high < 1


def test_wins_split_ties_and_sum_to_the_tasks():
    table = pl.DataFrame({"x": [1.0, 1.0, 0.2, None], "y": [1.0, 0.5, 0.8, None], "z": [1.0, 1.0, None, None]})
    got = fractional_wins(table, ["x", "y", "z"])
    assert got["wins"].to_list() == pytest.approx([1 / 3 + 1 / 2, 1 / 3 + 1, 1 / 3 + 1 / 2])
    assert got["share"].sum() == pytest.approx(1)
    assert got["n"].to_list() == [3, 3, 3]
    assert fractional_wins(table.tail(1), ["x"])["reason"].to_list() == ["all values are missing"]


def naive_agreement(a, b, ties):
    agreed, counted = 0.0, 0
    for i, j in combinations(range(len(a)), 2):
        left, right = np.sign(a[i] - a[j]), np.sign(b[i] - b[j])
        tied = 0 in (left, right)
        if tied and ties == "exclude":
            continue
        counted += 1
        agreed += {"half": 0.5, "agree": float(left == right)}.get(ties, 0.0) if tied else left == right
    return agreed / counted if counted else None


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(grade, grade), min_size=2, max_size=10), st.sampled_from(["disagree", "exclude", "half", "agree"]))
def test_pairwise_agreement_agrees_with_counting(pairs, ties):
    a, b = zip(*pairs, strict=True)
    got = pairwise_agreement(a, b, ties=ties)
    want = naive_agreement(a, b, ties)
    assert got.value == (None if want is None else pytest.approx(want))
    assert got.low is not None or got.reason
    if got.low is not None:
        assert 0 <= got.low <= got.value <= got.high <= 1


def test_pairwise_agreement_names_its_tie_rules():
    with pytest.raises(InputError, match="'skip' is not known"):
        pairwise_agreement([1, 2], [1, 2], ties="skip")


def test_rank_stability_of_clear_and_of_equal_systems(rng):
    base = rng.random(40)
    table = pl.DataFrame({"best": base + 1, "middle": base + 0.5, "last": base})
    got = rank_stability(table, ["middle", "best", "last"], seed=0)
    assert got.systems["rank"].to_list() == [2, 1, 3]
    assert got.systems["first"].to_list() == [0, 1, 0]
    assert (got.tau, got.rho) == pytest.approx((1, 1))
    tied = rank_stability(pl.DataFrame({"x": base, "y": base}), ["x", "y"], seed=0)
    assert (tied.tau, tied.reason, tied.systems["first"].to_list()) == (None, "all systems are tied", [0.5, 0.5])


def test_rank_stability_agrees_with_a_plain_loop(score_matrix):
    got = rank_stability(score_matrix, SYSTEMS, seed=0)
    assert got.systems.sort("rank")["system"].to_list() == SYSTEMS
    matrix, rng, taus = score_matrix.select(SYSTEMS).to_numpy(), np.random.default_rng(5), []
    whole = np.nanmean(matrix, axis=0)
    for _ in range(400):
        drawn = np.nanmean(matrix[rng.integers(0, len(matrix), len(matrix))], axis=0)
        taus.append(stats.kendalltau(whole, drawn).statistic)
    assert got.tau == pytest.approx(np.mean(taus), abs=0.02)
    assert got.systems["mean_rank"].sum() == pytest.approx(28)


def test_rank_stability_ignores_order_of_tasks_and_systems(rng):
    table = pl.DataFrame(rng.random((12, 3)), schema=["x", "y", "z"])
    one = rank_stability(table, ["x", "y", "z"], seed=4)
    other = rank_stability(table.reverse(), ["z", "x", "y"], seed=4)
    assert one.systems.sort("system").equals(other.systems.sort("system"))


def test_rank_stability_degenerate():
    assert rank_stability(pl.DataFrame({"x": [1.0, 2.0]}), ["x"], seed=0).reason == "fewer than two systems"
    one = rank_stability(pl.DataFrame({"x": [1.0], "y": [2.0]}), ["x", "y"], seed=0)
    assert one.reason == "fewer than two tasks"
    empty = pl.DataFrame({"x": [1.0, 2.0], "y": [None, None]}, schema={"x": pl.Float64, "y": pl.Float64})
    assert rank_stability(empty, ["x", "y"], seed=0).reason == "no values for y"
