"""Dose response, separation of arms, repeats and strata: against statsmodels formulas, pingouin, counting and limits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.formula.api as smf
from hypothesis import given, settings
from hypothesis import strategies as st

from dreambench.errors import InputError
from dreambench.stats import (
    auc,
    dose_contrasts,
    dose_response,
    icc,
    repeat_spread,
    smallest_detected_dose,
    stratified_mean,
    stratum_weights,
    variance_components,
    weighted_mean,
)

grade = st.integers(0, 5)


def doses(rng, tasks=12, reports=2, slope=-0.3, noise=0.05):
    rows = []
    for t in range(tasks):
        start, answer = rng.normal(0.7, 0.1), rng.normal(slope, 0.1)
        for r in range(reports):
            own = rng.normal(0, 0.08)
            rows += [(f"t{t}", f"r{r}", d, start + own + answer * d + rng.normal(0, noise)) for d in (0, 0.25, 0.5, 1)]
    return pl.DataFrame(rows, schema=["task", "report", "dose", "value"], orient="row")


@pytest.mark.filterwarnings("ignore")
def test_mixed_model_agrees_with_the_formula_interface(rng):
    table = doses(rng)
    got = dose_response(table)
    frame = pd.DataFrame(table.to_dict(as_series=False))
    model = smf.mixedlm("value ~ dose", frame, groups="task", re_formula="~dose", vc_formula={"report": "0 + C(report)"})
    want = model.fit(reml=True)
    assert got.method == "mixed model, report nested in task"
    assert got.slope == pytest.approx(want.fe_params["dose"], rel=1e-4)
    assert got.slope / got.intercept == got.relative
    error = (got.high - got.low) / 2 / 2.200985
    assert error == pytest.approx(want.bse_fe["dose"], rel=1e-2)
    assert (got.n, got.n_tasks, got.n_reports) == (96, 12, 24)


def test_balanced_slope_is_the_mean_of_the_slopes_of_tasks(rng):
    table = doses(rng, tasks=15, reports=1)
    slopes = [np.polyfit(group["dose"], group["value"], 1)[0] for _, group in table.group_by("task")]
    got = dose_response(table)
    assert got.slope == pytest.approx(np.mean(slopes), rel=1e-4)
    assert (got.high - got.low) / 2 == pytest.approx(2.144787 * np.std(slopes, ddof=1) / np.sqrt(15), rel=0.02)


def test_fallback_is_clustered_least_squares_and_says_so(rng, monkeypatch):
    import statsmodels.api as sm

    table = doses(rng)

    class Singular:
        def __init__(self, *_: object, **__: object) -> None:
            raise np.linalg.LinAlgError

    monkeypatch.setattr(sm, "MixedLM", Singular)
    got = dose_response(table)
    assert got.method == "OLS, errors clustered by task (the mixed model is singular)"
    frame = pd.DataFrame(table.to_dict(as_series=False))
    groups = frame["task"].astype("category").cat.codes
    want = smf.ols("value ~ dose", frame).fit(cov_type="cluster", cov_kwds={"groups": groups})
    assert got.slope == pytest.approx(want.params["dose"])
    assert (got.high - got.low) / 2 == pytest.approx(2.200985 * want.bse["dose"], rel=1e-5)


def test_dose_response_ignores_order_and_names(rng):
    table = doses(rng, tasks=6)
    other = table.with_columns(pl.col("task").str.replace("t", "x")).sample(fraction=1, shuffle=True, seed=2)
    assert dose_response(other) == dose_response(table)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (pl.lit("t").alias("task"), "one task"),
        (pl.lit(0.5).alias("dose"), "one dose"),
        (pl.lit(0.5).alias("value"), "all values are equal"),
        (pl.lit(None, dtype=pl.Float64).alias("value"), "all values are missing"),
    ],
)
def test_dose_response_degenerate(rng, change, reason):
    got = dose_response(doses(rng, tasks=4).with_columns(change))
    assert (got.slope, got.p, got.reason) == (None, None, reason)


def test_an_exact_line_has_a_slope_and_no_interval():
    table = pl.DataFrame({"task": ["a", "a", "b", "b"], "report": ["r"] * 4, "dose": [0.0, 1.0] * 2, "value": [0.75, 0.25] * 2})
    got = dose_response(table)
    assert (got.slope, got.relative) == pytest.approx((-0.5, -2 / 3))
    assert (got.low, got.reason) == (None, "no spread over tasks")


def test_contrasts_use_task_means_and_find_the_smallest_dose(rng):
    table = doses(rng, tasks=30, slope=-0.5)
    got = dose_contrasts(table, seed=0)
    means = table.group_by("task", "dose").agg(pl.mean("value")).pivot("dose", index="task", values="value")
    assert got["dose"].to_list() == [0.25, 0.5, 1.0]
    assert got["value"].to_list() == pytest.approx([(means[d] - means["0.0"]).mean() for d in ("0.25", "0.5", "1.0")])
    assert smallest_detected_dose(got) == 0.25
    assert smallest_detected_dose(got.with_columns(detected=pl.col("dose") < 0.4)) is None
    assert dose_contrasts(table.filter(dose=0), seed=0).is_empty()


def naive_auc(high, low):
    return np.mean([[(x > y) + (x == y) / 2 for y in low] for x in high])


@settings(deadline=None, max_examples=60)
@given(st.lists(grade, min_size=1, max_size=9), st.lists(grade, min_size=1, max_size=9))
def test_auc_agrees_with_counting_and_turns_round(high, low):
    got, turned = auc(high, low), auc(low, high)
    assert got.value == pytest.approx(naive_auc(high, low))
    assert turned.value == pytest.approx(1 - got.value)
    assert auc([np.exp(x) for x in high], [np.exp(x) for x in low]).value == pytest.approx(got.value)
    assert 0 <= got.low <= got.value <= got.high <= 1
    assert turned.low == pytest.approx(1 - got.high, abs=1e-6)


def test_auc_variance_agrees_with_a_bootstrap_of_tasks(rng):
    base = rng.normal(0, 1, 60)
    clean, dirty = base + rng.normal(0, 0.4, 60), base - 0.5 + rng.normal(0, 0.4, 60)
    tasks = np.arange(60)
    drawn = [auc(clean[i], dirty[i]).value for i in (rng.integers(0, 60, 60) for _ in range(800))]
    paired, loose = auc(clean, dirty, high_clusters=tasks, low_clusters=tasks), auc(clean, dirty)
    width = np.subtract(*np.quantile(drawn, [0.975, 0.025]))
    assert paired.high - paired.low == pytest.approx(width, rel=0.15)
    assert loose.high - loose.low > 1.5 * width


def test_auc_at_its_limits_and_degenerate():
    perfect = auc([3, 4, 5, 6], [0, 1, 2])
    assert (perfect.value, perfect.high, perfect.method) == (1, 1, "AUC, Newcombe score")
    assert 0 < perfect.low < auc(range(50, 100), range(50)).low < 1
    assert auc([], [1]).reason == "one side has no values"
    assert auc([1], [0], high_clusters=["t"], low_clusters=["t"]).reason == "one cluster"
    with pytest.raises(InputError, match="only one side"):
        auc([1], [0], high_clusters=["t"])


def test_icc_agrees_with_pingouin(rng):
    import pingouin

    scores = rng.normal(0, 1, (15, 1)) + rng.normal(0, 0.6, (15, 3)) + np.array([0, 0.3, 0.6])
    long = pd.DataFrame([(i, j, scores[i, j]) for i in range(15) for j in range(3)], columns=["t", "r", "y"])
    want = pingouin.intraclass_corr(long, "t", "r", "y")
    got = [icc(scores, kind=kind, average=average) for average in (False, True) for kind in "123"]
    assert [g.value for g in got] == pytest.approx(want["ICC"].tolist())
    for ours, interval in zip(got, want["CI95"], strict=True):
        assert (ours.low, ours.high) == pytest.approx(tuple(interval), abs=0.0051)


def test_icc_degenerate():
    assert icc([]).reason == "fewer than two complete rows"
    assert icc([[1], [2]]).reason == "fewer than two repeats"
    assert icc([[1, 1], [1, 1]]).reason == "all values are equal"
    for kind in "123":
        assert icc([[1, 1], [2, 2]], kind=kind).value == pytest.approx(1)
        assert icc([[1, 2], [2, 1]], kind=kind, average=True).value is None


@pytest.mark.filterwarnings("ignore")
def test_variance_components_agree_with_reml_when_balanced(rng):
    rows = []
    for t in range(20):
        task = rng.normal(0, 1)
        for r in range(3):
            report = rng.normal(0, 0.7)
            rows += [(f"t{t}", f"r{r}", task + report + rng.normal(0, 0.4)) for _ in range(3)]
    table = pl.DataFrame(rows, schema=["task", "report", "value"], orient="row")
    got = variance_components(table)
    frame = pd.DataFrame(table.to_dict(as_series=False))
    fit = smf.mixedlm("value ~ 1", frame, groups="task", re_formula="1", vc_formula={"report": "0 + C(report)"}).fit()
    want = [float(fit.cov_re.iloc[0, 0]), float(fit.vcomp[0]), float(fit.scale)]
    assert got["variance"].to_list() == pytest.approx(want, rel=0.01)
    assert got["share"].sum() == pytest.approx(1)
    assert got["df"].to_list() == [19, 40, 120]


def test_unbalanced_variance_components_are_unbiased(rng):
    sums, shape = np.zeros(3), [(t, r) for t in range(10) for r in range(1 + t % 3) for _ in range(2 + (t + r) % 3)]
    for _ in range(150):
        task, report = rng.normal(0, 1, 10), rng.normal(0, 2, (10, 3))
        values = [task[t] + report[t, r] + rng.normal() for t, r in shape]
        table = pl.DataFrame({"task": [t for t, _ in shape], "report": [r for _, r in shape], "value": values})
        sums += variance_components(table)["variance"].to_numpy()
    assert sums[1:] / 150 == pytest.approx([4, 1], rel=0.15)


def test_variance_components_say_what_they_cannot_tell():
    table = pl.DataFrame({"task": ["a", "a", "b", "b"], "report": ["x", "x", "y", "y"], "value": [1.0, 2, 3, 4]})
    got = variance_components(table)
    assert got["reason"].to_list() == [None, "one report per task: part of the task component", None]
    assert got["variance"].to_list() == [pytest.approx(1.75), None, pytest.approx(0.5)]
    assert variance_components(table.clear())["reason"].to_list() == ["all values are missing"] * 3
    assert variance_components(table.with_columns(value=1.0))["share"].to_list() == [None] * 3


def test_repeat_spread_compares_the_same_tasks():
    table = pl.DataFrame({"task": [1, 1, 2, 2, 3], "repeat": [0, 1, 0, 1, 0], "value": [0.1, 0.2, 0.3, 0.5, 0.9]})
    got = repeat_spread(table)
    assert got.value == pytest.approx(np.std([0.2, 0.35], ddof=1))
    assert got.reason == "1 tasks lack a repeat and are left out"
    assert repeat_spread(table.filter(repeat=0)).reason == "fewer than two repeats"
    assert repeat_spread(table.with_columns(value=0.5)).reason == "all repeats are equal"


def test_published_means_and_aggregates(published):
    columns = list(zip(*(row[1:] for row in published["table4_kic"]), strict=True))
    assert [weighted_mean(c, [1] * 20).value for c in columns] == pytest.approx(published["table4_means"], abs=0.00501)
    names, order = list(published["table10_tasks"]), published["table10_columns"]
    for metric in ("factuality", "kic", "rq", "da"):
        key = "table10_tasks_da" if metric == "da" else "table10_tasks"
        for agent, aggregate in published["table10"]["Aggregate"].items():
            parts = [published["table10"][name][agent][order.index(metric)] for name in names]
            got = weighted_mean(parts, [published[key][name] for name in names])
            assert got.value == pytest.approx(aggregate[order.index(metric)], abs=0.0101)


def test_stratified_mean_agrees_with_the_text_book_formula(rng):
    table = pl.DataFrame({"stratum": ["a"] * 10 + ["b"] * 20, "value": np.concatenate([rng.random(10), rng.random(20) + 1])})
    got = stratified_mean(table, {"a": 100, "b": 40})
    a, b = (table.filter(stratum=s)["value"].to_numpy() for s in "ab")
    assert got.value == pytest.approx((100 * a.mean() + 40 * b.mean()) / 140)
    pieces = [(100 / 140) ** 2 * 0.9 * a.var(ddof=1) / 10, (40 / 140) ** 2 * 0.5 * b.var(ddof=1) / 20]
    assert (got.high - got.low) / 2 == pytest.approx(2.16 * np.sqrt(sum(pieces)), rel=0.05)
    weights = stratum_weights(table["stratum"], {"a": 100, "b": 40})
    assert weighted_mean(table["value"], weights).value == pytest.approx(got.value)
    assert np.mean(weights) == pytest.approx(1)


def test_strata_degenerate_and_bad():
    one = pl.DataFrame({"stratum": ["a", "b", "b"], "value": [1.0, 2.0, 3.0]})
    assert stratified_mean(one, {"a": 5, "b": 5}).reason == "a stratum has one value"
    assert stratified_mean(one.clear(), {"a": 5}).reason == "all values are missing"
    assert stratified_mean(one.with_columns(value=1.0).tail(2), {"b": 5}).reason == "no spread within the strata"
    assert weighted_mean([None], [1]).reason == "all values are missing"
    assert weighted_mean([1], [0]).reason == "the weights sum to zero"
    with pytest.raises(InputError) as caught:
        stratum_weights(["a", "x"], {"a": 5, "b": 5})
    assert [problem.what for problem in caught.value.problems] == ["x: not in the population", "b: never sampled"]
