"""Expert consulting: VRS and its gates by system and prompt type, paired tests, and how much the weights decide.

Reads a finished run with metric=vrs and, through `study_inputs.tasks`, the prompt types of its package file. Writes `systems`,
`by_type`, `effects`, `paired`, `mcnemar`, `weights`, `sole_cause`, `criteria`, `wins`, `accept_counts`, a figure, and
`findings.md`; with `study_inputs.published=true` also `published` and `versions`: the paper's own numbers against each other.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.errors import InputError, Problem, nearest
from dreambench.metrics.vrs.package import read_packages
from dreambench.metrics.vrs.published import published_checks, version_table
from dreambench.metrics.vrs.table import ACCEPT, AUTO_REJECT, CRITERIA, HIGHEST, PASSING, RELAXED, SLACK, VERIFIER, VRS
from dreambench.records import Status
from dreambench.reporting.finished import FinishedRun
from dreambench.runs.assembly import CLEAN
from dreambench.stats.binary import mcnemar
from dreambench.stats.effects import cohens_d
from dreambench.stats.intervals import mean_interval
from dreambench.stats.multiple import adjust_column
from dreambench.stats.ranking import fractional_wins
from dreambench.stats.ranks import correlation, wilcoxon
from dreambench.stats.results import to_table
from dreambench.studies.findings import bounded, write_findings
from dreambench.studies.outputs import new_figure, write_figure, write_table

INPUTS = ("tasks", "published")
SOURCE = ["rubric", "judge"]
KEYS = [*SOURCE, "agent", "task", "repeat"]
GRADES = list(CRITERIA)
WEIGHTS = (0.25, 0.35, 0.4, 0.5, 0.6, 0.65, 0.75)
"""Weights of V: the source names 35/65, 40/60 and 25/75 without saying which side is V, so both readings are computed."""
PROPORTIONAL = "proportional"
MEASURES = (VRS, RELAXED, "mean_grade", "v")


def check(inputs: Mapping[str, Any]) -> None:
    """Raises InputError for a key that is not read, DatasetError for a package file that cannot be used."""
    for key in inputs:
        if key not in INPUTS:
            near = nearest(key, INPUTS)
            what = "the study vrs does not read it" + (f"; did you mean {near}?" if near else "")
            raise InputError(Problem(f"study_inputs.{key}", what, INPUTS))
    if not isinstance(wanted := inputs.get("published", False), bool):
        raise InputError(Problem("study_inputs.published", f"{wanted!r} is neither true nor false", ["true", "false"]))
    _types(inputs)


def make(run: FinishedRun) -> Sequence[Path]:
    """All files of the study, in the order in which they are written."""
    grades = report_grades(run, _types(run.inputs))
    means = task_means(grades)
    tables = {
        "systems": system_table(grades, means),
        "by_type": type_table(means),
        "effects": effect_table(means),
        "paired": paired_table(means),
        "mcnemar": mcnemar_table(grades),
        "weights": weight_table(grades),
        "sole_cause": sole_causes(grades),
        "criteria": criteria_table(grades),
        "wins": win_table(means),
        "accept_counts": accept_counts(grades),
        **({"published": published_checks(), "versions": version_table()} if run.inputs.get("published") else {}),
    }
    written = [path for name, table in tables.items() for path in write_table(_rounded(table), run.output, name)]
    return [*written, *_draw(tables["by_type"], run.output), _write_findings(tables, run)]


def report_grades(run: FinishedRun, types: Mapping[str, str]) -> pl.DataFrame:
    """One row per graded report: KEYS, type, v (share of verifiers), a grade (0-3) per criterion, mean_grade, and the scores.

    Only reports that are graded whole; the scores are those of the run.
    """
    items = run.judgments.filter(pl.col("metric") == "vrs", pl.col("perturbation") == CLEAN)
    scored = items.filter(pl.col("status") == Status.SCORED.value)
    of = [(HIGHEST * pl.col("value").filter(pl.col("family") == name).mean()).alias(name) for name in GRADES]
    v = pl.col("value").filter(pl.col("family") == VERIFIER).mean().alias("v")
    parts = scored.group_by(KEYS, maintain_order=True).agg(v, *of)
    values = run.report_scores.filter(pl.col("metric") == "vrs", pl.col("perturbation") == CLEAN)
    wanted = [VRS, RELAXED, ACCEPT, AUTO_REJECT]
    wide = values.filter(pl.col("variant").is_in(wanted)).pivot(on="variant", index=KEYS, values="value")
    named = pl.col("task").replace_strict(dict(types), default="", return_dtype=pl.String).alias("type")
    whole = parts.join(wide, on=KEYS, how="inner", maintain_order="left").drop_nulls([*wanted, "v", *GRADES])
    return whole.with_columns(named, mean_grade=pl.mean_horizontal(GRADES))


def task_means(grades: pl.DataFrame) -> pl.DataFrame:
    """The scores of each system and task, repeats averaged."""
    names = [*MEASURES, ACCEPT, AUTO_REJECT, *GRADES]
    return grades.group_by([*SOURCE, "agent", "task", "type"], maintain_order=True).agg(pl.col(name).mean() for name in names)


def system_table(grades: pl.DataFrame, means: pl.DataFrame) -> pl.DataFrame:
    """Per system: mean grade, V, strict and relaxed VRS with intervals, the gates, and how many grades are 0."""
    rows = []
    for keys, part in means.group_by([*SOURCE, "agent"], maintain_order=True):
        named = dict(zip([*SOURCE, "agent"], keys, strict=True))
        own = grades.filter(pl.all_horizontal(pl.col(name) == value for name, value in named.items()))
        row: dict[str, Any] = {**named, "tasks": part.height}
        for name in (*MEASURES, ACCEPT, AUTO_REJECT):
            bounds = (0.0, float(HIGHEST)) if name == "mean_grade" else (0.0, 1.0)
            found = mean_interval(part[name], seed=0, bounds=bounds)
            row |= {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}
        zeros = int(own.select(pl.sum_horizontal(pl.col(name) == 0 for name in GRADES).sum()).item())
        row |= {"zeros": zeros, "grades": len(GRADES) * own.height}
        row |= {"verifiers_80": own.select((pl.col("v") >= 0.8 - SLACK).mean()).item()}
        row |= {"verifiers_all": own.select((pl.col("v") == 1).mean()).item()}
        row |= {name: part[name].mean() for name in GRADES}
        row |= {f"{name}_passed": own.select((pl.col(name) >= PASSING).mean()).item() for name in GRADES}
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def type_table(means: pl.DataFrame) -> pl.DataFrame:
    """Mean scores by prompt type and system; a task of two types counts in both."""
    aggregated = [pl.len().alias("tasks"), *(pl.col(name).mean() for name in (*MEASURES, ACCEPT, AUTO_REJECT))]
    return (
        _by_type(means).group_by([*SOURCE, "type", "agent"], maintain_order=True).agg(aggregated).sort(*SOURCE, "type", "agent")
    )


def effect_table(means: pl.DataFrame) -> pl.DataFrame:
    """Cohen's d (pooled sd) of strict VRS between every two systems, by prompt type; .2 small, .5 medium, .8 large."""
    rows = []
    for keys, part in _by_type(means).group_by([*SOURCE, "type"], maintain_order=True):
        for one, other in itertools.combinations(sorted(part["agent"].unique()), 2):
            a, b = (part.filter(pl.col("agent") == name)[VRS] for name in (one, other))
            named = dict(zip([*SOURCE, "type"], keys, strict=True)) | {"a": one, "b": other}
            rows.append((named, cohens_d(a, b)))
    return to_table(rows)


def paired_table(means: pl.DataFrame) -> pl.DataFrame:
    """Wilcoxon signed-rank between every two systems by task, Bonferroni over the pairs of one measure."""
    rows = []
    for source, part in means.group_by(SOURCE, maintain_order=True):
        for measure in MEASURES:
            wide, agents = _wide(part, measure)
            for one, other in itertools.combinations(agents, 2):
                named = dict(zip(SOURCE, source, strict=True)) | {"measure": measure, "a": one, "b": other}
                difference = wide.select((pl.col(one) - pl.col(other)).mean()).item()
                rows.append((named | {"mean_difference": difference}, wilcoxon(wide[one], wide[other])))
    table = to_table(rows)
    if table.is_empty():
        return table
    return adjust_column(table.cast({"p": pl.Float64}), method="bonferroni", by=[*SOURCE, "measure"])


def mcnemar_table(grades: pl.DataFrame) -> pl.DataFrame:
    """Exact McNemar test of ACCEPT between every two systems by task, with the discordant counts (first repeat)."""
    rows = []
    for source, part in grades.filter(pl.col("repeat") == 0).group_by(SOURCE, maintain_order=True):
        wide, agents = _wide(part, ACCEPT)
        for one, other in itertools.combinations(agents, 2):
            both = wide.drop_nulls([one, other])
            only_one = int(((both[one] == 1) & (both[other] == 0)).sum())
            only_other = int(((both[one] == 0) & (both[other] == 1)).sum())
            named = dict(zip(SOURCE, source, strict=True)) | {"a": one, "b": other}
            rows.append((named | {"only_a": only_one, "only_b": only_other}, mcnemar(both[one], both[other])))
    return to_table(rows)


def weight_table(grades: pl.DataFrame) -> pl.DataFrame:
    """Mean strict VRS and rank of each system under other weights, and the shift against equal halves.

    `proportional` keeps the halves and weighs the criteria by their Spearman correlation with ACCEPT (our reading).
    """
    frames = []
    for _, part in grades.group_by(SOURCE, maintain_order=True):
        equal = pl.mean_horizontal(pl.col(name) / HIGHEST for name in GRADES)
        schemes: list[tuple[str, float, pl.Expr]] = [(f"{100 * w:.0f}/{100 * (1 - w):.0f}", w, equal) for w in WEIGHTS]
        if (weighted := _proportional(part)) is not None:
            schemes.append((PROPORTIONAL, 0.5, weighted))
        alive = pl.min_horizontal(GRADES) > 0
        half = pl.when(alive).then(0.5 * pl.col("v") + 0.5 * equal).otherwise(0.0)
        for name, weight, rubric in schemes:
            score = pl.when(alive).then(weight * pl.col("v") + (1 - weight) * rubric).otherwise(0.0)
            found = part.group_by([*SOURCE, "agent"], maintain_order=True).agg(
                vrs=score.mean(), shift=score.mean() - half.mean()
            )
            rank = pl.col("vrs").rank("min", descending=True).cast(pl.Int64)
            frames.append(found.with_columns(pl.lit(name).alias("v_to_criteria"), rank=rank))
    return pl.concat(frames) if frames else pl.DataFrame()


def _proportional(part: pl.DataFrame) -> pl.Expr | None:
    effects = {name: correlation(part[name], part[ACCEPT], kind="spearman").effect for name in GRADES}
    weights = {name: max(effect or 0.0, 0.0) for name, effect in effects.items()}
    total = sum(weights.values())
    return pl.sum_horizontal(pl.col(n) / HIGHEST * (w / total) for n, w in weights.items()) if total > 0 else None


def sole_causes(grades: pl.DataFrame) -> pl.DataFrame:
    """Reports with V >= 80 that fail exactly one criterion (grade below 2), by that criterion: what alone kept them out."""
    below = pl.sum_horizontal(pl.col(name) < PASSING for name in GRADES)
    cases = grades.filter(pl.col("v") >= 0.8 - SLACK, below == 1)
    counts = [(pl.col(name) < PASSING).sum().alias(name) for name in GRADES]
    return cases.group_by([*SOURCE, "agent"], maintain_order=True).agg(pl.len().alias("cases"), *counts)


def criteria_table(grades: pl.DataFrame) -> pl.DataFrame:
    """How criteria go together: Pearson of every two, Spearman of mean grade with V, Spearman of each with ACCEPT."""
    pairs = [(one, other, "pearson") for one, other in itertools.combinations(GRADES, 2)]
    pairs += [("mean_grade", "v", "spearman"), *((name, ACCEPT, "spearman") for name in GRADES)]
    return to_table(
        (dict(zip(SOURCE, source, strict=True)) | {"a": one, "b": other}, correlation(part[one], part[other], kind=kind))
        for source, part in grades.group_by(SOURCE, maintain_order=True)
        for one, other, kind in pairs
    )


def win_table(means: pl.DataFrame) -> pl.DataFrame:
    """Tasks that each system wins by strict VRS; ties are split evenly."""
    frames = []
    for source, part in means.group_by(SOURCE, maintain_order=True):
        wide, agents = _wide(part, VRS)
        named = [pl.lit(value).alias(name) for name, value in zip(SOURCE, source, strict=True)]
        frames.append(fractional_wins(wide, agents).select(*named, pl.all()))
    return pl.concat(frames, how="vertical_relaxed") if frames else pl.DataFrame()


def accept_counts(grades: pl.DataFrame) -> pl.DataFrame:
    """How many tasks have 0, 1, 2, ... accepted systems (first repeat)."""
    first = grades.filter(pl.col("repeat") == 0)
    accepted = first.group_by([*SOURCE, "task"], maintain_order=True).agg(pl.col(ACCEPT).sum().cast(pl.Int64).alias("accepted"))
    return accepted.group_by([*SOURCE, "accepted"]).agg(pl.len().alias("tasks")).sort(*SOURCE, "accepted")


def _types(inputs: Mapping[str, Any]) -> dict[str, str]:
    name = inputs.get("tasks")
    packages = read_packages(str(name), "study_inputs.tasks").by_task if name else {}
    return {task: package.type for task, package in packages.items()}


def _by_type(means: pl.DataFrame) -> pl.DataFrame:
    return means.with_columns(pl.col("type").str.split("/")).explode("type").with_columns(pl.col("type").str.strip_chars())


def _wide(part: pl.DataFrame, measure: str) -> tuple[pl.DataFrame, list[str]]:
    wide = part.pivot(on="agent", index="task", values=measure, maintain_order=True)
    return wide, sorted(name for name in wide.columns if name != "task")


def _rounded(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.col(pl.Float64).round(6)) if table.columns else table


def _draw(by_type: pl.DataFrame, folder: Path) -> list[Path]:
    """Strict VRS by prompt type, one mark per system."""
    types = sorted(by_type["type"].unique())
    figure = new_figure(1, 1, width=6.0, height=1.6 + 0.5 * len(types))
    (axes,) = figure.axes
    for place, ((agent,), part) in enumerate(by_type.group_by("agent", maintain_order=True)):
        at = [types.index(name) for name in part["type"]]
        axes.plot((100 * part[VRS]).to_list(), at, "osD^vP"[place % 6], label=str(agent))
    axes.set_yticks(range(len(types)), [name or "no type" for name in types])
    axes.set_xlabel("strict VRS")
    axes.grid(axis="x", linewidth=0.4)
    axes.legend(fontsize="small")
    return write_figure(figure, folder, "by_type")


def _write_findings(tables: Mapping[str, pl.DataFrame], run: FinishedRun) -> Path:
    lines = []
    for row in tables["systems"].sort(*SOURCE, VRS, descending=[False, False, True]).iter_rows(named=True):
        mean, low, high = (None if row[name] is None else 100 * row[name] for name in (VRS, f"{VRS}_low", f"{VRS}_high"))
        gates = f"ACCEPT {100 * row[ACCEPT]:.1f} %, auto-reject {100 * row[AUTO_REJECT]:.1f} %"
        zeros = f"{row['zeros']} of {row['grades']} grades are 0 ({row['tasks']} tasks)"
        scores = f"VRS {bounded(mean, low, high, n=row['tasks'])}, relaxed {100 * row[RELAXED]:.2f}"
        lines.append(f"- {row['agent']} by {row['judge']}: {scores}, {gates}, {zeros}.")
    for row in _given(tables["paired"], "p_adjusted").filter(pl.col("measure") == VRS).iter_rows(named=True):
        apart = f"{100 * row['mean_difference']:+.1f}"
        lines.append(
            f"- {row['a']} - {row['b']}: VRS {apart}, Wilcoxon p = {row['p_adjusted']:.3f} (Bonferroni, n = {row['n']})."
        )
    for row in _given(tables["mcnemar"], "p").iter_rows(named=True):
        counts = f"{row['only_a']} / {row['only_b']}"
        lines.append(f"- ACCEPT of {row['a']} and {row['b']}: discordant {counts}, exact McNemar p = {row['p']:.3f}.")
    moved = tables["weights"].filter(pl.col("rank").n_unique().over([*SOURCE, "agent"]) > 1)["agent"].unique().sort().to_list()
    shift = 100 * max((abs(value) for value in tables["weights"]["shift"]), default=0.0)
    lines.append(
        f"- Other weights move a mean by {shift:.1f} points at most; ranks change for {', '.join(moved) or 'no system'}."
    )
    if "published" in tables:
        lines += _paper_lines(tables["published"])
    return write_findings(run, "Expert consulting (VRS)", lines)


def _paper_lines(checks: pl.DataFrame) -> list[str]:
    """What the paper's own numbers say about each other; nothing of it is about the run."""
    wrong = checks.filter(~pl.col("agrees"))
    of = f"{len(checks)} printed numbers are determined by others of it, {len(wrong)} of them are not in agreement"
    return [
        "",
        "## The paper (arXiv 2605.17554), not this run",
        "",
        f"- Its own numbers against each other: {of}.",
        *(
            f"  {row['version']}, {row['check']}, {row['of']}: printed {row['printed']:g}, recomputed {row['recomputed']:.2f}."
            for row in wrong.iter_rows(named=True)
        ),
    ]


def _given(table: pl.DataFrame, column: str) -> pl.DataFrame:
    """The rows that have a value; an empty table has no columns, so it is given those that are read."""
    if table.is_empty():
        return pl.DataFrame(schema={column: pl.Float64, "measure": pl.String})
    return table.drop_nulls(column)
