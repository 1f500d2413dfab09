"""Metrics ranked by what they catch for what they cost."""

from __future__ import annotations

import polars as pl

from dreambench.audit.verdicts import BLIND, FALSE_ALARM, FLAW, PLACEBO, SEES, STEADY, WRONG_WAY

FREE = "free"


def ranking(cells: pl.DataFrame, costs: pl.DataFrame) -> pl.DataFrame:
    """One row per metric and judge, the most flaws seen per unit of cost first; those that ask nobody lead.

    flaws, sees, blind, wrong_way and placebos, steady, false_alarm count verdicts (what is missing is undecided); auc is the
    mean over flaws; beyond counts the flaws seen that pull the score further down than every placebo does. unit is dollar where
    the run cost money, else call; cost is that of one report, per_unit = beyond / cost.
    """
    flaw, placebo = pl.col("role") == FLAW, pl.col("role") == PLACEBO

    def count(verdict: str) -> pl.Expr:
        return (pl.col("verdict") == verdict).sum()

    sums = cells.group_by("metric", "judge").agg(
        flaws=flaw.sum(),
        sees=count(SEES),
        beyond=pl.col("beyond").sum(),
        blind=count(BLIND),
        wrong_way=count(WRONG_WAY),
        placebos=placebo.sum(),
        steady=count(STEADY),
        false_alarm=count(FALSE_ALARM),
        auc=pl.col("auc").filter(flaw).mean(),
    )
    paid = (costs["money"] > 0).any()
    cost = pl.col("money") if paid else pl.col("calls")
    ranked = sums.join(costs.select("metric", "judge", "money", "calls"), on=["metric", "judge"], how="left").with_columns(
        unit=pl.when(pl.col("calls") == 0).then(pl.lit(FREE)).otherwise(pl.lit("dollar" if paid else "call")), cost=cost
    )
    ranked = ranked.with_columns(per_unit=pl.when(pl.col("cost") > 0).then(pl.col("beyond") / pl.col("cost")))
    order = [
        pl.col("unit") == FREE,
        pl.col("per_unit").fill_null(-1.0),
        pl.col("beyond"),
        -pl.col("false_alarm").cast(pl.Int64),
    ]
    return ranked.drop("money", "calls").sort(*order, "metric", descending=[True, True, True, True, False])
