"""Ways of asking: one metric asked with several rubric variants of the same reports, each compared with a reference way.

The name of a variant says what it changes: `axis_of`. Nothing here knows whether a judge reads that change.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from dreambench.stats.multiple import adjust_column
from dreambench.studies.scored_twice import both_sides, ranking_agreement, shift

REFERENCE = "reference"
AXES = {
    "one_by_one": "batching",
    "report_last": "order",
    "reference_first": "order",
    "both": "order",
    "scale10": "scale",
    "scale5": "scale",
    "compatible": "mode",
}
"""What a rubric variant changes; variants that are not listed change the wording."""
SAME = 1e-9
"""Values that are nearer to each other are equal."""


def axis_of(rubric: str, reference: str) -> str:
    """What a way of asking changes against the reference way; several axes are joined: `wording+batching`."""
    if rubric == reference:
        return REFERENCE
    own, usual = (set(name.replace("+", ",").split(",")) for name in (rubric, reference))
    changed = own - usual or usual - own
    return "+".join(sorted({AXES.get(part, "wording") for part in changed}))


def compare_ways(values: pl.DataFrame, judgments: pl.DataFrame) -> pl.DataFrame:
    """One row per metric, judge and rubric; the reference is `default`, else the first. Shifts are Holm-adjusted per judge."""
    rows = []
    for (metric, judge), part in values.group_by("metric", "judge", maintain_order=True):
        ways = part["rubric"].unique(maintain_order=True).to_list()
        reference = "default" if "default" in ways else ways[0]
        items = judgments.filter(pl.col("metric") == metric, pl.col("judge") == judge)
        for way in ways:
            keys = {"metric": metric, "judge": judge, "axis": axis_of(way, reference), "rubric": way}
            rows.append({**keys, **_against(part, items, reference, way)})
    table = pl.DataFrame(rows, infer_schema_length=None)
    return adjust_column(table, method="holm", by=["metric", "judge"]) if rows else table


def _against(part: pl.DataFrame, items: pl.DataFrame, reference: str, way: str) -> dict[str, Any]:
    pairs = both_sides(part, "rubric", reference, way)
    score = pairs.group_by("task").agg(pl.mean("other"))["other"].mean()
    empty = dict.fromkeys(("shift", "shift_low", "shift_high", "p", "tau", "tau_low", "tau_high", "changed", "distance"))
    same: dict[str, Any] = {"score": score, "reports": pairs.height, "tasks": pairs["task"].n_unique(), **empty}
    if way == reference:
        return {**same, "no_ranking": None, "items": None}
    moved, order = shift(pairs), ranking_agreement(pairs)
    return {
        **same,
        "shift": moved.value,
        "shift_low": moved.low,
        "shift_high": moved.high,
        "p": moved.p,
        "tau": order["tau"],
        "tau_low": order["low"],
        "tau_high": order["high"],
        "no_ranking": order["no_ranking"],
        **changed_items(items, reference, way),
    }


def changed_items(items: pl.DataFrame, reference: str, way: str) -> dict[str, Any]:
    """Share of items whose value differs between two ways of asking, their mean distance, and how many both answered."""
    keys = ["report", "perturbation", "item", "repeat"]
    scored = items.filter(pl.col("status") == "scored", pl.col("value").is_not_null())
    one, other = (scored.filter(pl.col("rubric") == name).select(*keys, "value") for name in (reference, way))
    pairs = one.join(other, on=keys, how="inner", suffix="_other")
    apart = (pairs["value"] - pairs["value_other"]).abs()
    return {"changed": (apart > SAME).mean(), "distance": apart.mean(), "items": pairs.height}
