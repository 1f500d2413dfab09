"""The paper's own numbers, put against each other: what can be recomputed from what, and where it contradicts itself.

The corpus and the grades are not public, so the scores cannot be recomputed; their arithmetic can.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from dreambench.stats.binary import mcnemar_counts

SCHEMA = {
    "version": pl.String,
    "check": pl.String,
    "of": pl.String,
    "printed": pl.Float64,
    "recomputed": pl.Float64,
    "off_by": pl.Float64,
    "rounding": pl.Float64,
    "agrees": pl.Boolean,
}
"""`rounding` is how far apart the two may be because their inputs were printed with few digits."""


def published_numbers() -> dict[str, Any]:
    """The numbers of both versions as the file holds them."""
    text = Path(__file__).with_name("published.yaml").read_text(encoding="utf-8")
    numbers: dict[str, Any] = yaml.safe_load(text)
    return numbers


def published_checks() -> pl.DataFrame:
    """One row per printed number that others of the paper determine."""
    numbers = published_numbers()
    rows = [row for version in ("v1", "v3") for row in _checks(version, numbers[version])]
    table = pl.DataFrame(rows, schema=[*list(SCHEMA)[:5], "rounding"], orient="row")
    off = (pl.col("printed") - pl.col("recomputed")).abs()
    return table.with_columns(off_by=off, agrees=off <= pl.col("rounding") + 1e-9).select(list(SCHEMA)).cast(SCHEMA)  # type: ignore[arg-type]


def version_table() -> pl.DataFrame:
    """The two corpora side by side: the later text still quotes numbers of the earlier one in its appendices."""
    rows = []
    for version, numbers in published_numbers().items():
        size = {name: float(numbers[name]) for name in ("prompts", "responses", "verifiers_per_task")}
        accept = {f"accept_{agent}": share for agent, share in numbers["accept"].items()}
        counts = {f"accepted_{agent}": round(share * size["prompts"] / 100) for agent, share in numbers["accept"].items()}
        rows.append({"version": version, **size, **accept, **counts})
    return pl.DataFrame(rows)


Check = tuple[str, str, str, float, float, float]


def _checks(version: str, given: Mapping[str, Any]) -> Iterator[Check]:
    prompts = given["prompts"]
    yield version, "responses = prompts x 3", "all", given["responses"], 3.0 * prompts, 0.0
    counts = {agent: round(share * prompts / 100) for agent, share in given["accept"].items()}
    for agent, share in given["accept"].items():
        yield version, "ACCEPT rate is that of a whole number of prompts", agent, share, 100 * counts[agent] / prompts, 0.05
    if version == "v3":
        yield from _scores(version, given)
        yield from _gates(version, given, counts)


def _scores(version: str, given: Mapping[str, Any]) -> Iterator[Check]:
    for agent, printed in given["relaxed"].items():
        again = 0.5 * given["verifiers"][agent] + 0.5 * given["mean_grade"][agent] / 3 * 100
        yield version, "relaxed VRS from mean grade and V", agent, printed, again, 0.5 * 0.05 + 0.5 * 0.005 / 3 * 100 + 0.005
    types, total = given["types"], sum(given["types"].values())
    yield version, "types sum to the prompts", "all", given["prompts"], total, 0.0
    for agent, printed in given["strict"].items():
        again = sum(count * given["strict_by_type"][name][agent] for name, count in types.items()) / total
        yield version, "strict VRS from its means by type", agent, printed, again, 0.05 + 0.005
    one, other, printed = given["difference_vrs"]
    yield version, "difference of strict VRS", f"{one} - {other}", printed, given["strict"][one] - given["strict"][other], 0.06
    one, other, printed = given["difference_grade"]
    again = given["mean_grade"][one] - given["mean_grade"][other]
    yield version, "difference of mean grades", f"{one} - {other}", printed, again, 0.015
    yield version, "wins sum to the prompts", "all", sum(given["wins"].values()), given["prompts"], 0.15


def _gates(version: str, given: Mapping[str, Any], counts: Mapping[str, int]) -> Iterator[Check]:
    for agent, printed in given["any_zero"].items():
        again = 100 * given["any_zero_count"][agent] / given["prompts"]
        yield version, "rate of reports with a zero", agent, printed, again, 0.05
    spread = given["accept_distribution"]
    yield version, "ACCEPT distribution sums to the prompts", "all", given["prompts"], sum(spread), 0.0
    accepted = sum(agents * tasks for agents, tasks in enumerate(spread))
    yield version, "ACCEPT distribution gives the accepted reports", "all", sum(counts.values()), accepted, 0.0
    shared = sum(counts[one] - only_one for one, _, only_one, _, _ in given["discordant"])
    yield version, "pairs accepted together are the tasks of two accepts", "all", spread[2] + 3 * spread[3], shared, 0.0
    for one, other, only_one, only_other, p in given["discordant"]:
        pair = f"{one} / {other}"
        found = mcnemar_counts(only_one, only_other).p
        yield version, "exact McNemar p of the discordant counts", pair, p, found if found is not None else 1.0, 0.0005
        yield (
            version,
            "discordant counts differ as ACCEPT counts do",
            pair,
            only_one - only_other,
            counts[one] - counts[other],
            0.0,
        )
