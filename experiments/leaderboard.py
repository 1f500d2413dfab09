"""Leaderboard: agents x metrics per data set, and task-weighted over data sets (DREAM's Table 10).

Reads a finished run and, with `study_inputs.runs`, further finished runs of other data sets. Writes `leaderboard` (one row
per data set, metric, judge and agent), `table10` (the same as agents x metrics), `ranks` (how an agent's rank holds when
tasks are drawn again), `differences` (all pairs of agents, Holm-adjusted), a figure and `findings.md`.

Task-weighted: sum of n_d x score_d over sum of n_d, where n_d counts the tasks of data set d that have a value.
"""

# Annotations stay real objects: studies are loaded from their file, where pydantic could not look names up.

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.errors import InputError, Problem
from dreambench.reporting.finished import FinishedRun
from dreambench.reporting.tables import format_cell, metric_label
from dreambench.stats.paired import compare_pairs
from dreambench.stats.ranking import rank_stability
from dreambench.stats.stratified import stratified_mean, weighted_mean
from dreambench.studies.findings import bounded, write_findings
from dreambench.studies.inputs import StudySettings, finished_runs, read_settings
from dreambench.studies.outputs import rounded, write_table
from dreambench.studies.panels import interval_panels
from dreambench.studies.scored_twice import judged

ALL = "all, task-weighted"
KEYS = ["metric", "judge", "agent"]


class Inputs(StudySettings):
    """`runs`: folders of further finished runs, each of another data set."""

    runs: tuple[Path, ...] = ()


def check(inputs: Mapping[str, Any]) -> None:
    """Raises InputError for an unknown key or a folder that is no finished run."""
    finished_runs(read_settings(Inputs, inputs).runs, "runs")


def make(run: FinishedRun) -> Sequence[Path]:
    """All files of the study, in the order in which they are written."""
    runs = [run, *finished_runs(read_settings(Inputs, run.inputs).runs, "runs")]
    scores = pl.concat([data_set_scores(one.scores) for one in runs])
    values = pl.concat([judged(one.report_scores).with_columns(metric=metric_label()) for one in runs], how="diagonal_relaxed")
    refuse_twins(scores)
    board = pl.concat([scores, task_weighted(scores, values)], how="diagonal_relaxed")
    ranks, differences = stability(values)
    folder = run.output
    return [
        *write_table(rounded(board, 6), folder, "leaderboard"),
        *write_table(wide(board), folder, "table10"),
        *write_table(rounded(ranks), folder, "ranks"),
        *write_table(rounded(differences), folder, "differences"),
        *interval_panels(
            board, folder, "leaderboard", panel="metric", row="agent", series="series", label="score x100", scale=100
        ),
        write_findings(run, "Leaderboard", _findings(board, ranks, differences)),
    ]


def data_set_scores(scores: pl.DataFrame) -> pl.DataFrame:
    """The primary macro means of one run, with the columns that the board shows."""
    rows = judged(scores).filter(pl.col("aggregation") == "macro").with_columns(metric=metric_label())
    shown = ["n_tasks", "n_excluded", "excluded_why", "unit", "value", "low", "high", "interval"]
    return rows.select(["dataset", *KEYS, *shown]).with_columns(series=pl.format("{} by {}", "dataset", "judge"))


def refuse_twins(scores: pl.DataFrame) -> None:
    """Raises InputError when two runs score the same agent on the same data set by the same judge."""
    twins = scores.filter(pl.struct("dataset", *KEYS).is_duplicated())
    if twins.height:
        row = twins.row(0, named=True)
        what = f"{row['dataset']} / {row['agent']} / {row['metric']} / {row['judge']} is scored by more than one run"
        raise InputError(Problem("study_inputs.runs", what, ["one run per data set"]))


def task_weighted(scores: pl.DataFrame, values: pl.DataFrame) -> pl.DataFrame:
    """One row per metric, judge and agent over several data sets; nothing where there is one only.

    An agent without a value in one of them has no row: means over other data sets are no fair comparison.
    `values` are report scores with the same names: they give the interval (stratified by data set, t). A metric whose
    data-set score is no mean over tasks (CI is the harmonic mean of two means) has none.
    """
    rows = [
        _weighted(dict(zip(KEYS, keys, strict=True)), part, values)
        for keys, part in scores.group_by(KEYS, maintain_order=True)
        if 1 < scores["dataset"].n_unique() == part.drop_nulls("value").height
    ]
    return pl.DataFrame(rows, schema={**scores.schema, "datasets": pl.Int64})


def _weighted(keys: dict[str, Any], part: pl.DataFrame, values: pl.DataFrame) -> dict[str, Any]:
    scored = part.filter(pl.col("value").is_not_null())
    tasks = values.filter(*(pl.col(name) == value for name, value in keys.items())) if values.width else values
    interval = _interval(scored, tasks) if values.width else None
    return {
        "dataset": ALL,
        **keys,
        "n_tasks": part["n_tasks"].sum(),
        "n_excluded": part["n_excluded"].sum(),
        "excluded_why": ", ".join(sorted({why for why in part["excluded_why"] if why})),
        "unit": part["unit"][0],
        "value": weighted_mean(scored["value"], scored["n_tasks"].cast(pl.Float64)).value,
        "low": interval[0] if interval else None,
        "high": interval[1] if interval else None,
        "interval": "t, stratified by data set" if interval else "none",
        "series": f"{ALL} by {keys['judge']}",
        "datasets": scored.height,
    }


def _interval(scored: pl.DataFrame, tasks: pl.DataFrame) -> tuple[float, float] | None:
    means = tasks.group_by("dataset", "task").agg(pl.col("value").mean()).drop_nulls("value").sort("dataset", "task")
    own = means.group_by("dataset").agg(mean=pl.col("value").mean())
    together = scored.join(own, on="dataset", how="left")
    if together["mean"].null_count() or (together["mean"] - together["value"]).abs().max() > 1e-9:  # type: ignore[operator]
        return None
    sizes = dict(scored.select("dataset", "n_tasks").iter_rows())
    found = stratified_mean(means, sizes, stratum="dataset", finite=False)
    return (found.low, found.high) if found.low is not None and found.high is not None else None


def wide(board: pl.DataFrame) -> pl.DataFrame:
    """Agents x metrics as people read them: `63.69 [60.10, 67.20] n=50`."""
    cells = board.with_columns(
        cell=pl.Series([format_cell(row) for row in board.iter_rows(named=True)], dtype=pl.String)
    ).select("dataset", "judge", "agent", "metric", "cell")
    return cells.pivot(on="metric", index=["dataset", "judge", "agent"], values="cell", maintain_order=True)


def stability(values: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Ranks under resampled tasks, and all pairs of agents (paired by task, Holm within a metric), per data set and judge."""
    ranks, pairs = [], []
    for keys, table, agents in _tables(values):
        found = rank_stability(table, agents, seed=0)
        named = [pl.lit(value).alias(name) for name, value in keys.items()]
        ranks.append(found.systems.select(*named, pl.all(), tasks=pl.lit(found.n), reason=pl.lit(found.reason, pl.String)))
        pairs.append(compare_pairs(table, agents, seed=0).select(*named, pl.all()))
    return (pl.concat(ranks), pl.concat(pairs)) if ranks else (pl.DataFrame(), pl.DataFrame())


def _tables(values: pl.DataFrame) -> Iterator[tuple[dict[str, str], pl.DataFrame, list[str]]]:
    """One row per task and one column per agent, for each data set, metric and judge."""
    names = ["dataset", "metric", "judge"]
    for keys, part in values.group_by(names, maintain_order=True):
        means = part.group_by("task", "agent").agg(pl.col("value").mean()).sort("task", "agent")
        agents = sorted(means["agent"].unique())
        table = means.pivot(on="agent", index="task", values="value")
        yield dict(zip(names, map(str, keys), strict=True)), table, agents


def _findings(board: pl.DataFrame, ranks: pl.DataFrame, differences: pl.DataFrame) -> list[str]:
    lines = []
    for (dataset, metric, judge), part in board.group_by("dataset", "metric", "judge", maintain_order=True):
        ranked = part.drop_nulls("value").sort("value", descending=True)
        order = " > ".join(
            f"{row['agent']} {bounded(100 * row['value'], _x100(row['low']), _x100(row['high']), n=row['n_tasks'])}"
            for row in ranked.iter_rows(named=True)
        )
        lines.append(f"- {dataset}, {metric} by {judge}: {order or 'no agent has a value'}.")
    first = ranks.filter(pl.col("rank") == 1) if ranks.width else ranks
    lines += [
        f"- {row['dataset']}, {row['metric']} by {row['judge']}: {row['system']} stays first in {100 * row['first']:.0f} % "
        f"of draws of {row['tasks']} tasks."
        for row in first.drop_nulls("first").iter_rows(named=True)
    ]
    if differences.width:
        partial = sorted(set(board["agent"]) - set(board.filter(pl.col("dataset") == ALL)["agent"]))
        if board["dataset"].n_unique() > 1 and partial:
            lines.append(f"- Not in every data set, so without a task-weighted row: {', '.join(partial)}.")
        clear = differences.filter(pl.col("p_adjusted") < 0.05).height
        lines.append(f"- {clear} of {differences.height} differences between two agents are significant (paired t, Holm, 5 %).")
    return lines


def _x100(value: float | None) -> float | None:
    return None if value is None else 100 * value
