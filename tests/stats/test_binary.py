"""Yes/no outcomes: McNemar's published p values, and GEE against a direct statsmodels fit."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from statsmodels.stats.contingency_tables import mcnemar as sm_mcnemar

from dreambench.errors import InputError
from dreambench.stats import logit_effect, mcnemar, mcnemar_counts


def items(rng, tasks=15, each=12, slope=-2.0):
    task = np.repeat(np.arange(tasks), each)
    dose = np.tile([0, 0.5, 1], tasks * each // 3)
    logits = 1 + slope * dose + rng.normal(0, 0.7, tasks)[task]
    return pl.DataFrame({"task": task, "dose": dose, "value": (rng.random(len(task)) < 1 / (1 + np.exp(-logits))).astype(int)})


def test_mcnemar_gives_the_published_p(published):
    for case in published["mcnemar"]:
        assert mcnemar_counts(*case["discordant"]).p == pytest.approx(case["p"], abs=5e-4)


def test_mcnemar_agrees_with_statsmodels(rng):
    a, b = rng.integers(0, 2, 40), rng.integers(0, 2, 40)
    table = [[((a == i) & (b == j)).sum() for j in (1, 0)] for i in (1, 0)]
    got = mcnemar(a, b)
    assert got.p == pytest.approx(sm_mcnemar(table, exact=True).pvalue)
    assert got.effect == pytest.approx(a.mean() - b.mean())
    assert mcnemar(b, a).p == pytest.approx(got.p)


def test_mcnemar_degenerate_and_bad_input():
    assert mcnemar([1, 0], [1, 0]).reason == "no discordant pairs"
    assert mcnemar([], []).reason == "no discordant pairs"
    assert mcnemar([1, None, 1], [0, 1, 0]).n == 2
    with pytest.raises(InputError, match=r"0\.5 is neither yes nor no"):
        mcnemar([0.5, 1], [0, 1])
    with pytest.raises(InputError, match="impossible"):
        mcnemar_counts(3, 4, n=5)


def test_logit_effect_agrees_with_a_direct_fit(rng):
    table = items(rng)
    got = logit_effect(table)
    design = sm.add_constant(table["dose"].to_numpy())
    model = sm.GEE(
        table["value"].to_numpy(),
        design,
        groups=table["task"].to_numpy(),
        family=sm.families.Binomial(),
        cov_struct=sm.cov_struct.Exchangeable(),
    )
    want = model.fit(cov_type="bias_reduced")
    assert got.effect == pytest.approx(want.params[1], rel=1e-5)
    assert got.effect / got.statistic == pytest.approx(want.bse[1], rel=1e-5)
    assert got.low < got.effect < got.high < 0
    assert got.n == table.height


def test_logit_effect_ignores_order_and_names_of_tasks(rng):
    table = items(rng)
    named = table.with_columns(pl.lit("t") + (100 - pl.col("task")).cast(pl.String).alias("task"))
    other = logit_effect(named.sample(fraction=1, shuffle=True, seed=1))
    assert other.effect == pytest.approx(logit_effect(table).effect, rel=1e-5)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (pl.lit(1).alias("value"), "all outcomes are equal"),
        (pl.lit(None, dtype=pl.Int64).alias("value"), "all values are missing"),
        (pl.lit(0.5).alias("dose"), "the predictor does not vary"),
        (pl.lit(7).alias("task"), "one cluster"),
        ((pl.col("dose") < 0.7).cast(pl.Int64).alias("value"), "the predictor separates the outcomes"),
    ],
)
def test_logit_effect_degenerate_input(rng, change, reason):
    got = logit_effect(items(rng).with_columns(change))
    assert (got.p, got.effect, got.reason) == (None, None, reason)
