"""Two finished runs side by side: paired differences of scores by task, what changed in the configs, which items flipped.

Scores are comparable where the same judges asked the same about the same: runs whose protocols, judges, metric definitions
or scoring version differ are refused (`disparities`) unless the difference is what is to be compared. Rows are matched by
agent, arm, metric, rubric and judge; where each run has one name that the other lacks (two releases of an agent, two judges)
those two are matched, and the row says `old -> new`. Paired differences need one value per task: where a run's table shows
the harmonic mean of two means over tasks, the mean of each task's own harmonic mean is compared, under its own name.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from dreambench.errors import ConfigError, Problem
from dreambench.reporting.finished import FinishedRun, read_config
from dreambench.reporting.report_changes import ReportChanges, report_changes
from dreambench.runs.assembly import CODE
from dreambench.stats.multiple import adjust_column
from dreambench.stats.paired import PairedDifference, paired_difference

KINDS = ("protocol", "judge", "scoring", "metric")
"""Differences that make scores incomparable unless they are allowed."""
ARM = ["perturbation", "dose", "perturbation_seed"]
KEYS = ["metric", "rubric", "variant", "judge", "agent", *ARM]
ITEM_KEYS = ["metric", "rubric", "judge", "agent", *ARM, "task", "repeat", "family", "item", "occurrence"]
ARROW = " -> "
HARMONIC, PER_TASK = "harmonic", "per_task"
"""Variants of one metric: the harmonic mean of means over tasks, and the mean of each task's own harmonic mean."""
NOT_CONFIG = ("paths", "engine", "cache", "traceback", "study", "study_inputs")
"""Top-level keys that change no number."""

SCORE_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(KEYS, pl.String),
    "dose": pl.Float64,
    "perturbation_seed": pl.Int64,
    "unit": pl.String,
    **dict.fromkeys(("first", "second", "difference", "low", "high", "p"), pl.Float64),
    "interval": pl.String,
    **dict.fromkeys(("n_tasks", "only_first", "only_second"), pl.Int64),
    "reason": pl.String,
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """What came of comparing `second` with `first`; differences are second minus first."""

    first: FinishedRun
    second: FinishedRun
    allowed: Mapping[str, Sequence[str]]
    """Disparities by kind that were allowed, in words."""
    config: Sequence[Mapping[str, Any]]
    """Config keys that differ: key, first, second (None: the run has no such key)."""
    scores: pl.DataFrame
    """SCORE_SCHEMA and `p_adjusted` (Holm over the rows)."""
    items: pl.DataFrame
    """Items of both runs whose label, status or value changed."""
    counts: pl.DataFrame
    """Per metric, rubric and judge: items in both, flipped, revalued, only in one run."""
    reports: ReportChanges
    """Whether both runs scored the same texts."""
    unmatched: Sequence[str] = field(default_factory=list)
    """What one run has and the other lacks, in words."""
    notes: Sequence[str] = field(default_factory=list)
    """Scores that are not those of the runs' tables, in words."""


def compare(first: FinishedRun, second: FinishedRun, allow: Collection[str] = ()) -> Comparison:
    """Raises ConfigError naming every disparity that is not in `allow` (of KINDS)."""
    found = disparities(first, second)
    if refused := {kind: lines for kind, lines in found.items() if lines and kind not in allow}:
        hint = f"--allow {','.join(kind for kind in KINDS if kind in refused or kind in allow)}"
        raise ConfigError(*(_refusal(first, second, kind, lines, hint) for kind, lines in refused.items()))
    names = _matches(first, second)
    scores = _score_differences(first, second, names)
    items, counts = _item_changes(first, second, names)
    return Comparison(
        first,
        second,
        {kind: lines for kind, lines in found.items() if lines},
        config_changes(read_config(first.folder), read_config(second.folder)),
        scores,
        items,
        counts,
        report_changes(first, second),
        [line for match in names for line in match.unmatched()],
        _notes(scores),
    )


def _refusal(first: FinishedRun, second: FinishedRun, kind: str, lines: Sequence[str], hint: str) -> Problem:
    shown = "; ".join(lines[:5]) + (f"; and {len(lines) - 5} more" if len(lines) > 5 else "")
    where = f"{first.folder.root.name} and {second.folder.root.name}"
    return Problem(where, f"cannot be compared, {kind} differs: {shown}", type=hint)


def disparities(first: FinishedRun, second: FinishedRun) -> dict[str, list[str]]:
    """What makes the runs' scores incomparable, in words, by kind of KINDS."""
    return {
        "protocol": _protocol_disparities(first.judgments, second.judgments),
        "judge": _judge_disparities(first.summary["judges"], second.summary["judges"]),
        "scoring": _scoring_disparities(first.summary, second.summary),
        "metric": _definition_disparities("metric", first.summary.get("metrics"), second.summary.get("metrics")),
    }


def _protocol_disparities(first: pl.DataFrame, second: pl.DataFrame) -> list[str]:
    def hashes(items: pl.DataFrame) -> dict[tuple[str, str], list[str]]:
        used = items.filter(pl.col("protocol") != "").group_by("metric", "task").agg(pl.col("protocol").unique().sort())
        return {(row["metric"], row["task"]): row["protocol"] for row in used.iter_rows(named=True)}

    one, other = hashes(first), hashes(second)
    return [
        f"{metric} of task {task}: {', '.join(one[metric, task])}{ARROW}{', '.join(other[metric, task])}"
        for metric, task in sorted(one.keys() & other.keys())
        if one[metric, task] != other[metric, task]
    ]


def _judge_disparities(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    lines = _definition_disparities("judge", first, second)
    gone, new = sorted(first.keys() - second.keys()), sorted(second.keys() - first.keys())
    return [*lines, f"{', '.join(gone)}{ARROW}{', '.join(new)}"] if gone and new else lines


def _scoring_disparities(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    one, other = first.get("scoring", "unknown"), second.get("scoring", "unknown")
    return [] if one == other else [f"scoring version {one}{ARROW}{other}"]


def _definition_disparities(kind: str, first: Mapping[str, Any] | None, second: Mapping[str, Any] | None) -> list[str]:
    """Same name, another definition. An older run that did not write its definitions is a disparity of its own."""
    if first is None or second is None:
        return [] if first == second else [f"one run does not say how its {kind}s are defined; run it again (it goes on)"]
    lines = []
    for name in sorted(first.keys() & second.keys()):
        changes = config_changes({**first[name], "note": ""}, {**second[name], "note": ""})
        by_head = itertools.groupby(changes, key=lambda change: change["key"].partition(".")[0])
        lines += [_disparity(f"{name}.{head}", list(part)) for head, part in by_head]
    return lines


def _disparity(where: str, changes: Sequence[Mapping[str, Any]]) -> str:
    """`wq.rubrics: 10 keys differ`, or the two values where it is one key."""
    if len(changes) > 1:
        return f"{where}: {len(changes)} keys differ"
    (change,) = changes
    inner = change["key"].partition(".")[1:]
    return f"{where}{''.join(inner)}: {_short(change['first'])}{ARROW}{_short(change['second'])}"


def _short(value: Any) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= 40 else f"{text[:12]}..."


def config_changes(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Keys whose values differ, as dotted paths; what changes no number is left out."""
    one, other = dict(_flat(first)), dict(_flat(second))
    return [
        {"key": key, "first": one.get(key), "second": other.get(key)}
        for key in sorted(one.keys() | other.keys())
        if one.get(key) != other.get(key) and key.partition(".")[0] not in NOT_CONFIG
    ]


def _flat(value: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for key, inner in value.items():
        if isinstance(inner, Mapping) and inner:
            yield from _flat(inner, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", inner


@dataclass(frozen=True, slots=True)
class _Match:
    """Names of one column, within one metric where `metric` is given: those of both runs, and the pair that stands for
    each other."""

    column: str
    first: frozenset[str]
    second: frozenset[str]
    metric: str = ""

    @property
    def pair(self) -> tuple[str, str] | None:
        gone, new = self.first - self.second, self.second - self.first
        if self.column == "metric":
            return None  # two metrics never stand for each other
        return (next(iter(gone)), next(iter(new))) if len(gone) == len(new) == 1 else None

    def rename(self, table: pl.DataFrame) -> pl.DataFrame:
        """The table with the names of the pair replaced by `old -> new`."""
        if not self.pair:
            return table
        here = pl.col("metric") == self.metric if self.metric else pl.lit(True)
        named = pl.when(here & pl.col(self.column).is_in(self.pair)).then(pl.lit(ARROW.join(self.pair)))
        return table.with_columns(named.otherwise(pl.col(self.column)).alias(self.column))

    def unmatched(self) -> list[str]:
        if self.pair:
            return []
        what = f"{self.column} {{}} of {self.metric}" if self.metric else f"{self.column} {{}}"
        sides = (("first", self.first - self.second), ("second", self.second - self.first))
        return [f"only the {side} run has {what.format(', '.join(sorted(names)))}" for side, names in sides if names]


def _matches(first: FinishedRun, second: FinishedRun) -> list[_Match]:
    def names(run: FinishedRun, column: str, metric: str = "") -> frozenset[str]:
        rows = run.judgments.filter(pl.col("judge") != CODE) if column == "judge" else run.judgments
        rows = rows.filter(pl.col("metric") == metric) if metric else rows
        return frozenset(rows[column].unique().to_list())

    whole = [_Match(column, names(first, column), names(second, column)) for column in ("metric", "judge", "agent")]
    metrics = sorted(names(first, "metric") & names(second, "metric"))
    return whole + [_Match("rubric", names(first, "rubric", one), names(second, "rubric", one), one) for one in metrics]


def _renamed(table: pl.DataFrame, matches: Sequence[_Match]) -> pl.DataFrame:
    for match in matches:
        table = match.rename(table)
    return table


def _score_differences(first: FinishedRun, second: FinishedRun, names: Sequence[_Match]) -> pl.DataFrame:
    """One row per matched primary score, paired by task."""

    def by_task(run: FinishedRun, side: str) -> pl.DataFrame:
        values = _renamed(_primary(run.report_scores), names)
        return values.group_by([*KEYS, "unit", "task"]).agg(pl.col("value").mean().alias(side))

    keys = [*KEYS, "unit", "task"]
    joined = by_task(first, "first").join(by_task(second, "second"), on=keys, how="full", coalesce=True, nulls_equal=True)
    seed = int(read_config(first.folder).get("seed", 0))
    rows = []
    for key, part in joined.sort(keys).group_by([*KEYS, "unit"], maintain_order=True):
        both = part.drop_nulls(["first", "second"])
        if part["first"].is_null().all() or part["second"].is_null().all():
            continue
        result = paired_difference(both["second"], both["first"], seed=seed)
        most = 1.0 if key[-1] == "share" else math.inf
        rows.append(
            {
                **dict(zip([*KEYS, "unit"], key, strict=True)),
                "first": both["first"].mean(),
                "second": both["second"].mean(),
                "difference": result.value,
                "low": None if result.low is None else max(-most, result.low),
                "high": None if result.high is None else min(most, result.high),
                "p": result.p,
                "interval": result.method,
                "n_tasks": both.height,
                "only_first": part["second"].null_count(),
                "only_second": part["first"].null_count(),
                "reason": _reason(result),
            }
        )
    return adjust_column(pl.DataFrame(rows, schema=SCORE_SCHEMA), method="holm")


def _primary(values: pl.DataFrame) -> pl.DataFrame:
    """The primary rows. A report's value of `harmonic` is its own harmonic mean, which is what `per_task` averages."""
    own = (pl.col("variant") == HARMONIC) & (pl.col("variant") == PER_TASK).any().over("metric", "rubric")
    named = pl.when(own).then(pl.lit(PER_TASK)).otherwise(pl.col("variant"))
    return values.with_columns(shown=named).filter("primary").with_columns(variant="shown").drop("shown")


def _notes(scores: pl.DataFrame) -> list[str]:
    renamed = scores.filter(pl.col("variant") == PER_TASK)["metric"].unique().sort()
    return [
        f"{metric} {PER_TASK} is the mean of each task's own harmonic mean: paired differences need one value per task. "
        f"The run's table shows {metric} {HARMONIC}, the harmonic mean of the means over tasks, which is another number"
        for metric in renamed
    ]


def _reason(result: PairedDifference) -> str:
    """Why a difference has no interval."""
    if result.n > 1 and result.low is None:
        return "no task differs" if result.value == 0 else "every task differs by the same"
    return result.reason or ""


def _item_changes(first: FinishedRun, second: FinishedRun, names: Sequence[_Match]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Changed items, and counts per metric. Equal items of one report are matched in the order of the table."""

    def items(run: FinishedRun) -> pl.DataFrame:
        table = _renamed(run.judgments, names)
        table = table.with_columns(occurrence=pl.int_range(pl.len()).over(ITEM_KEYS[:-1]))
        return table.select(*ITEM_KEYS, "label", "value", "status", "report_start", "report_end")

    joined = items(first).join(items(second), on=ITEM_KEYS, how="full", coalesce=True, suffix="_second", nulls_equal=True)
    there, then = pl.col("status").is_not_null(), pl.col("status_second").is_not_null()
    flipped = (pl.col("label") != pl.col("label_second")) | (pl.col("status") != pl.col("status_second"))
    moved = (pl.col("value") - pl.col("value_second")).abs() > 1e-9
    joined = joined.with_columns(both=there & then, flipped=(there & then & flipped).fill_null(False)).with_columns(
        revalued=(pl.col("both") & ~pl.col("flipped") & moved).fill_null(False)
    )
    counts = (
        joined.group_by("metric", "rubric", "judge")
        .agg(
            in_both=pl.col("both").sum(),
            flipped=pl.col("flipped").sum(),
            revalued=pl.col("revalued").sum(),
            only_first=(there & ~then).sum(),
            only_second=(then & ~there).sum(),
        )
        .sort("metric", "rubric", "judge")
    )
    changed = joined.filter(pl.col("flipped") | pl.col("revalued")).rename({"label": "label_first", "value": "value_first"})
    columns = ["label_first", "label_second", "value_first", "value_second", "status", "status_second"]
    shown = changed.select(*ITEM_KEYS[:-1], *columns, "report_start", "report_end", "flipped")
    return shown.rename({"status": "status_first"}).sort(ITEM_KEYS[:-1]), counts
