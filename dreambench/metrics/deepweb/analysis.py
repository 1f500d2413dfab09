"""Tables over many cases: both policies on missing runs, verdicts, domains, difficulty, wins, usage, rank agreement.

All start from one table of case scores (`case_scores`): a row per case and agent with the score in [0, 1], null for a missing
run. Shown figures are x100.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from dreambench.metrics.deepweb.model import Family, verdict
from dreambench.stats.intervals import mean_interval
from dreambench.stats.ranks import correlation

DEEP = ("incomplete_derivation", "hallucinated_precision", "silent_source_choice")
"""The failure modes that the benchmark counts as derivation and calibration failures."""

DIGITS = 12
"""Scores that agree to so many decimals are equal: means of tiers differ in floating point only."""


def with_missing_as_zero(mean: float, missing: int, total: int) -> float:
    """A mean over the cases that were run, with the `missing` of `total` cases counted as 0."""
    return mean * (total - missing) / total


def ranks(scores: Mapping[str, float]) -> dict[str, int]:
    """Rank 1 for the highest score; equal scores share the better rank."""
    return {name: 1 + sum(other > score for other in scores.values()) for name, score in scores.items()}


def off_diagonal(matrix: Sequence[Sequence[float]]) -> list[float]:
    """The values above the diagonal of a symmetric matrix, row by row."""
    return [row[other] for one, row in enumerate(matrix) for other in range(one + 1, len(row))]


def deep_share(modes: Mapping[str, float]) -> float:
    """The share of failures that are derivation or calibration failures, in the unit of `modes`."""
    return sum(modes.get(mode, 0) for mode in DEEP)


def case_scores(values: pl.DataFrame, judgments: pl.DataFrame, *, variant: str = "score") -> pl.DataFrame:
    """Columns case, number, domain, agent, judge, value (null: missing run), characters, searches, visits, seconds.

    `values` and `judgments` are a run's `report_scores` and item table; repeats are averaged.
    """
    own = values.filter(pl.col("metric") == "deepweb", pl.col("variant") == variant, pl.col("perturbation") == "clean")
    means = own.group_by("task", "agent", "judge", "rubric", maintain_order=True).agg(pl.col("value").mean())
    about = judgments.filter(pl.col("metric") == "deepweb", pl.col("family") == "case", pl.col("perturbation") == "clean")
    facts = [
        {"task": task, "agent": agent, **json.loads(text)}
        for task, agent, text in about.select("task", "agent", "rationale").unique(maintain_order=True).iter_rows()
    ]
    schema = {
        "task": pl.String, "agent": pl.String, "number": pl.Int64, "domain": pl.String, "characters": pl.Int64,
        "searches": pl.Int64, "visits": pl.Int64, "seconds": pl.Float64,
    }  # fmt: skip
    joined = means.join(pl.DataFrame(facts, schema=schema), on=["task", "agent"], how="left")
    return joined.rename({"task": "case"}).sort("number", "case", "agent", "judge", "rubric")


def leaderboard(scores: pl.DataFrame, *, seed: int = 0) -> pl.DataFrame:
    """A row per agent: both policies with their ranks, counts of cases, verdicts, lowest and highest case; best first.

    A case that others have a score for and the agent has not is a missing run, whether it has a row or none.
    """
    rows, cases = [], scores["case"].n_unique()
    for (agent,), part in scores.group_by("agent", maintain_order=True):
        found = part["value"].drop_nulls()
        estimate = mean_interval(found.to_list(), seed=seed, bounds=(0.0, 1.0))
        verdicts = [verdict(100 * value) for value in found]
        rows.append(
            {
                "agent": agent,
                "excluded": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "interval": estimate.method,
                "zero": float(found.sum()) / cases if cases else None,
                "scored": found.len(),
                "missing": cases - found.len(),
                **{name: verdicts.count(name) for name in ("too_easy", "pass", "too_hard")},
                "lowest": found.min(),
                "highest": found.max(),
            }
        )
    table = pl.DataFrame(rows, schema=_LEADERBOARD)
    for policy in ("excluded", "zero"):
        table = table.with_columns(
            pl.col(policy).round(DIGITS).rank("min", descending=True).cast(pl.Int64).alias(f"rank_{policy}")
        )
    return table.sort("excluded", "agent", descending=[True, False], nulls_last=True)


_LEADERBOARD: dict[str, Any] = {
    "agent": pl.String, "excluded": pl.Float64, "low": pl.Float64, "high": pl.Float64, "interval": pl.String,
    "zero": pl.Float64, "scored": pl.Int64, "missing": pl.Int64, "too_easy": pl.Int64, "pass": pl.Int64,
    "too_hard": pl.Int64, "lowest": pl.Float64, "highest": pl.Float64,
}  # fmt: skip


def difficulty(scores: pl.DataFrame) -> pl.DataFrame:
    """A row per case: how many agents have a score, their mean, SD (n - 1), lowest and highest, and who wins (shared)."""
    rows = []
    for (case, domain), part in scores.group_by("case", "domain", maintain_order=True):
        found = part.drop_nulls("value").with_columns(pl.col("value").round(DIGITS))
        best = found.filter(pl.col("value") == found["value"].max())["agent"].to_list()
        rows.append(
            {
                "case": case, "domain": domain, "agents": found.height,
                "mean": found["value"].mean(), "sd": found["value"].std(),
                "lowest": found["value"].min(), "highest": found["value"].max(), "winners": ", ".join(sorted(best)),
            }
        )  # fmt: skip
    return pl.DataFrame(rows, schema=_DIFFICULTY)


_DIFFICULTY: dict[str, Any] = {
    "case": pl.String, "domain": pl.String, "agents": pl.Int64, "mean": pl.Float64, "sd": pl.Float64, "lowest": pl.Float64,
    "highest": pl.Float64, "winners": pl.String,
}  # fmt: skip


def wins(scores: pl.DataFrame) -> pl.DataFrame:
    """Cases that each agent wins; a case that several win equally is shared among them."""
    found = dict.fromkeys(scores["agent"].unique(maintain_order=True).to_list(), 0.0)
    for winners in difficulty(scores).filter(pl.col("agents") > 0)["winners"]:
        names = winners.split(", ")
        for name in names:
            found[name] += 1 / len(names)
    table = pl.DataFrame({"agent": list(found), "wins": list(found.values())}, schema={"agent": pl.String, "wins": pl.Float64})
    return table.sort("wins", "agent", descending=[True, False])


def domains(scores: pl.DataFrame) -> pl.DataFrame:
    """Mean and number of cases of each domain, over the runs that have a score."""
    named = scores.filter(pl.col("domain") != "").drop_nulls("value")
    own = named.group_by("domain")
    table = own.agg(cases=pl.col("case").n_unique(), runs=pl.len(), value=pl.col("value").mean())
    return table.sort("value", "domain", descending=[True, False])


def usage(scores: pl.DataFrame) -> pl.DataFrame:
    """Means per agent of what a run used (diagnostic only): characters of the answer, searches, visits, seconds."""
    used = scores.filter(pl.col("value").is_not_null())
    return used.group_by("agent").agg(pl.col("characters", "searches", "visits", "seconds").mean()).sort("agent")


def model_correlations(scores: pl.DataFrame) -> pl.DataFrame:
    """Spearman's rho of two agents' scores over the cases that both have; columns one, other, rho, low, high, cases, reason."""
    wide = _wide(scores)
    rows = []
    for one, other in itertools.combinations(wide.columns[1:], 2):
        both = wide.select(one, other).drop_nulls()
        found = correlation(both[one], both[other], kind="spearman")
        rows.append(
            {
                "one": one, "other": other, "rho": found.effect, "low": found.low, "high": found.high, "cases": both.height,
                "reason": found.reason,
            }
        )  # fmt: skip
    return pl.DataFrame(rows, schema=_CORRELATIONS)


_CORRELATIONS: dict[str, Any] = {
    "one": pl.String, "other": pl.String, "rho": pl.Float64, "low": pl.Float64, "high": pl.Float64, "cases": pl.Int64,
    "reason": pl.String,
}  # fmt: skip


def case_taus(scores: pl.DataFrame) -> dict[str, float | int | None]:
    """Kendall's tau-b between the rankings of agents in every two cases: mean, share below 0, pairs, pairs without a tau.

    Over 100 cases these are 4,950 pairs; cases in which all agents score alike rank nothing.
    """
    table = _wide(scores).select(pl.exclude("case")).to_numpy()
    found: list[float] = []
    pairs = 0
    for one, other in itertools.combinations(range(len(table)), 2):
        both = ~np.isnan(table[one]) & ~np.isnan(table[other])
        pairs += 1
        tau = _tau_b(table[one][both], table[other][both])
        if tau is not None:
            found.append(tau)
    below = sum(tau < 0 for tau in found) / len(found) if found else None
    return {
        "mean": float(np.mean(found)) if found else None,
        "below_zero": below,
        "pairs": pairs,
        "no_ranking": pairs - len(found),
    }


def _tau_b(x: Any, y: Any) -> float | None:
    """Kendall's tau-b by its definition (Kendall 1945); None where one side ranks nothing. Small n: agents, not cases."""
    a, b = np.sign(x[:, None] - x[None, :]), np.sign(y[:, None] - y[None, :])
    size = float(np.sqrt((a**2).sum() * (b**2).sum()))
    return float((a * b).sum()) / size if size else None


def _wide(scores: pl.DataFrame) -> pl.DataFrame:
    return (
        scores.group_by("case", "agent", maintain_order=True)
        .agg(pl.col("value").mean())
        .pivot(on="agent", index="case", values="value")
    )


def families_of(report_scores: pl.DataFrame) -> pl.DataFrame:
    """Mean of every family and of the overall score per agent, over the cases that have one."""
    names = ["score", "overall", *(family.value for family in Family)]
    own = report_scores.filter(pl.col("metric") == "deepweb", pl.col("variant").is_in(names), pl.col("perturbation") == "clean")
    means = (
        own.group_by("agent", "task", "variant")
        .agg(pl.col("value").mean())
        .group_by("agent", "variant")
        .agg(pl.col("value").mean())
    )
    wide = means.pivot(on="variant", index="agent", values="value")
    return wide.select("agent", *(name for name in names if name in wide.columns)).sort(
        "overall", "agent", descending=[True, False]
    )
