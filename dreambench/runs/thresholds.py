"""Thresholds (`metric.<name>.threshold=0.6`): a run fails when the lower bound of a primary score lies below.

For every agent and judge the macro mean of the metric's primary variant over the unchanged reports counts, by the lower end
of its 95 % interval. Where there is no value, no interval or too few tasks for one (`stats.few`) nothing is known to reach the
threshold: it fails, with the reason. `metric.<name>.threshold_on=mean` compares the mean itself, over any number of tasks.
A threshold changes no number and is no part of a run's identity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

import polars as pl

from dreambench.config.nodes import expand_axes
from dreambench.errors import ConfigError, Problem, nearest
from dreambench.metrics.metric import Metric, Unit
from dreambench.stats.few import FEWEST_TASKS

KEY, ON = "threshold", "threshold_on"
CLEAN = "clean"


@dataclass(frozen=True, slots=True)
class Threshold:
    """What a score is held against: its lower bound, or its mean."""

    value: float
    on: Literal["bound", "mean"] = "bound"


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of one threshold for one agent and judge; `low` is the lower bound in the variant's unit, None where there is
    none to rely on; `n` tasks have a value."""

    metric: str
    agent: str
    judge: str
    variant: str
    threshold: Threshold
    value: float | None
    low: float | None
    n: int
    passed: bool
    why: str
    """Why it failed; empty where it passed."""

    def __str__(self) -> str:
        """`good / wq mean / embedded: 0.7162 [0.7128 >= 0.6]`, or what failed and why."""
        place = f"{self.agent} / {self.metric} {self.variant} / {self.judge}"
        value = "no value" if self.value is None else f"value {self.value:.4f}"
        least, sign = f"threshold {self.threshold.value:g}", ">=" if self.passed else "<"
        if self.threshold.on == "mean" and self.value is not None:
            return f"{place}: {value} {sign} {least}, on the mean of {self.n} task{'s' * (self.n != 1)}"
        if self.low is None:
            return f"{place}: {value}, {self.why}: cannot be shown to reach {least}"
        return f"{place}: {value}, lower bound {self.low:.4f} {sign} {least}"


def check_owners(nodes: Mapping[str, Mapping[str, object]]) -> None:
    """Raises ConfigError for a threshold of a metric that the run does not have."""
    stray = {name: node for name, node in nodes.items() if set(node) <= {KEY, ON}}
    having = sorted(set(nodes) - set(stray))
    problems = []
    for name, node in stray.items():
        key = next(iter(node), KEY)
        near = nearest(name, having)
        what = f"{name} is not among this run's metrics" + (f"; did you mean {near}?" if near else "")
        hint = f"metric.{near}.{key}={node.get(key)}" if near else f"metric=[{','.join([*having, name])}]"
        problems.append(Problem(f"metric.{name}.{key}={node.get(key)}", what, having, hint))
    if problems:
        raise ConfigError(*problems)


def thresholds_of(nodes: Mapping[str, Mapping[str, object]]) -> dict[str, Threshold]:
    """The thresholds of a run's metric nodes, by expanded node name."""
    return {
        name: Threshold(float(str(node[KEY])), cast("Any", node.get(ON, "bound")))  # checked with the node
        for name, node in expand_axes("metric", nodes).items()
        if node.get(KEY) is not None
    }


def threshold_problems(metrics: Mapping[str, Metric], thresholds: Mapping[str, Threshold]) -> list[Problem]:
    """Thresholds that no score could reach: above 1 for a share."""
    problems = []
    for name, threshold in ((name, one.value) for name, one in thresholds.items()):
        metric = metrics.get(name)
        if metric and metric.variants()[0].unit is Unit.SHARE and threshold > 1:
            share = f"metric.{name}.{KEY}={threshold / 100:g}"
            problems.append(Problem(f"metric.{name}.{KEY}", f"{threshold:g} is above every score", ["0 to 1"], share))
    return problems


def check_thresholds(scores: pl.DataFrame, metrics: Mapping[str, Metric], thresholds: Mapping[str, Threshold]) -> list[Checked]:
    """Every threshold against every agent and judge of `scores` (the table of `dataset_scores`), failures first."""
    checked = []
    for name, threshold in thresholds.items():
        metric = metrics[name]
        rows = scores.filter(
            pl.col("metric") == metric.id,
            pl.col("rubric") == metric.rubric_variant,
            pl.col("primary"),
            pl.col("aggregation") == "macro",
            pl.col("perturbation") == CLEAN,
        )
        if rows.is_empty():
            why = "no report was scored"
            checked.append(Checked(name, "every agent", "every judge", metric.primary, threshold, None, None, 0, False, why))
        checked += [_checked(name, threshold, row) for row in rows.sort("agent", "judge").iter_rows(named=True)]
    return sorted(checked, key=lambda one: one.passed)


def _checked(name: str, threshold: Threshold, row: Mapping[str, Any]) -> Checked:
    """One score against its threshold."""
    low = row["low"] if row["n_tasks"] >= FEWEST_TASKS else None
    held = row["value"] if threshold.on == "mean" else low
    passed = held is not None and held >= threshold.value
    why = "" if passed else "below" if held is not None else _no_bound(name, row)
    place = (name, row["agent"], row["judge"], row["variant"])
    return Checked(*place, threshold, row["value"], low, row["n_tasks"], passed, why)


def _no_bound(name: str, row: Mapping[str, Any]) -> str:
    """Why a score has no lower bound that can be relied on."""
    n = row["n_tasks"]
    if row["value"] is None:
        return f"all {row['n_excluded']} reports have none ({row['excluded_why'] or 'not applicable'})"
    if n < FEWEST_TASKS:
        few = f"{n} task{'s are' if n != 1 else ' is'} too few for a lower bound, {FEWEST_TASKS} are needed"
        return f"{few} (metric.{name}.{ON}=mean compares the mean)"
    return f"no lower bound: no spread over {n} tasks"
