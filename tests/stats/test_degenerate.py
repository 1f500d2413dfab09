"""Any small or odd input gives finite numbers or nulls with a reason: never NaN, infinity, a warning or an exception."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dreambench import stats

few = st.sampled_from([None, float("nan"), 0.0, 0.0, 0.5, 1.0, 1.0])
pairs = st.lists(st.tuples(few, few), max_size=7)
flags = st.sampled_from([None, 0, 0, 1])
triples = st.lists(st.tuples(few, few, few), max_size=5)
rows = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.sampled_from([0.0, 0.5, 1.0]), few, flags), max_size=10
)
TABLE = {"task": pl.String, "report": pl.String, "dose": pl.Float64, "value": pl.Float64, "flag": pl.Int64}


def sound(result: Any) -> None:
    """No field is NaN or infinite; an estimate without an interval or a test without p has a reason."""
    if isinstance(result, pl.DataFrame):
        numbers = result.select(pl.col(pl.Float64))
        assert not any(column.is_nan().any() or column.is_infinite().any() for column in numbers.iter_columns())
        return
    for field in fields(result):
        value = getattr(result, field.name)
        if isinstance(value, pl.DataFrame):
            sound(value)
        assert not isinstance(value, float) or math.isfinite(value), (field.name, result)
    main = getattr(result, "p", None) if hasattr(result, "p") else getattr(result, "low", 0.0)
    assert main is not None or result.reason, result


TWO: dict[str, Callable[[Any, Any], Any]] = {
    "mean": lambda a, b: stats.mean_interval(a, seed=0, draws=100),
    "percentile": lambda a, b: stats.mean_interval(a, seed=0, draws=100, method="bootstrap percentile"),
    "ratio": lambda a, b: stats.ratio_interval(a, b, seed=0, draws=100),
    "ratio percentile": lambda a, b: stats.ratio_interval(a, b, seed=0, draws=100, method="bootstrap percentile"),
    "paired": lambda a, b: stats.paired_difference(a, b, seed=0, draws=100),
    "d": lambda a, b: stats.cohens_d(a, b, correct=True),
    "d_z": lambda a, b: stats.cohens_d_paired(a, b, correct=True),
    "tost": lambda a, b: stats.equivalent_paired(a, b, margin=0.1),
    "tost welch": lambda a, b: stats.equivalent_independent(a, b, margin=0.1),
    "wilcoxon": stats.wilcoxon,
    "pearson": lambda a, b: stats.correlation(a, b, kind="pearson"),
    "spearman": lambda a, b: stats.correlation(a, b, kind="spearman"),
    "kendall": lambda a, b: stats.correlation(a, b, kind="kendall"),
    "agreement": stats.pairwise_agreement,
    "exclude": lambda a, b: stats.pairwise_agreement(a, b, ties="exclude"),
    "auc": stats.auc,
    "auc clustered": lambda a, b: stats.auc(a, b, high_clusters=range(len(a)), low_clusters=range(len(b))),
    "jonckheere": lambda a, b: stats.jonckheere([a, b]),
    "kappa": stats.cohens_kappa,
    "kappa weighted": lambda a, b: stats.cohens_kappa(a, b, weights="quadratic"),
    "w": lambda a, b: stats.kendalls_w([a, b]),
    "repeats": lambda a, b: stats.icc(list(zip(a, b, strict=True)), average=True),
    "fleiss": lambda a, b: stats.fleiss_kappa(list(zip(a, b, strict=True))),
    "alpha": lambda a, b: stats.krippendorffs_alpha(list(zip(a, b, strict=True)), seed=0, draws=100, scale="ordinal"),
    "alpha interval": lambda a, b: stats.krippendorffs_alpha(list(zip(a, b, strict=True)), seed=0, draws=100, scale="interval"),
}


@pytest.mark.parametrize("name", list(TWO))
@settings(deadline=None, max_examples=25)
@given(sample=pairs)
def test_two_columns(name, sample):
    sound(TWO[name]([a for a, _ in sample], [b for _, b in sample]))


@settings(deadline=None, max_examples=30)
@given(sample=triples)
def test_wide_tables(sample):
    names = ["x", "y", "z"]
    table = pl.DataFrame(sample, schema=dict.fromkeys(names, pl.Float64), orient="row")
    sound(stats.page_trend(table, names))
    sound(stats.monotone_share(table, names))
    sound(stats.fractional_wins(table, names))
    ranked = stats.rank_stability(table, names, seed=0, draws=100)
    sound(ranked.systems)
    assert ranked.tau is not None or ranked.reason
    sound(stats.compare_pairs(table, names, seed=0, draws=100))
    sound(stats.function_interval(table, lambda m: m["x"] / m["y"] + m["z"], seed=0, draws=100))


@settings(deadline=None, max_examples=30)
@given(sample=rows)
def test_long_tables(sample):
    table = pl.DataFrame(sample, schema=TABLE, orient="row")
    sound(stats.dose_response(table))
    sound(stats.dose_contrasts(table, seed=0))
    sound(stats.variance_components(table))
    sound(stats.repeat_spread(table, repeat="report"))
    sound(stats.logit_effect(table, outcome="flag"))
    sizes = dict.fromkeys(table.filter(pl.col("value").fill_nan(None).is_not_null())["task"].to_list(), 40.0)
    sound(stats.stratified_mean(table, sizes, stratum="task"))
