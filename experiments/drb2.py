"""DeepResearch Bench II: does the order of systems depend on what is done with missing runs, blocked items and pooling?

Reads a finished run with metric=drb2 and, through `study_inputs`, results that need no reports: `matrix` (a folder with the
benchmark's agg_scores_*.csv and item_counts.csv), `results` (saved {"model", "idx", "result"} lines), `exclude` (idx that the
policy `without_withdrawn` leaves out; default 112 and 114). Writes `policies`, `ranks`, `order_changes`, `agreement`, `tests`,
`leakage` (where traces were given), a figure, and `findings.md`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.errors import InputError, Problem, nearest
from dreambench.metrics.drb2.matrix import matrix_items, recorded_values, saved_items
from dreambench.metrics.drb2.saved import read_saved
from dreambench.metrics.drb2.table import BLOCKED, TOTAL, WITHOUT_BLOCKED
from dreambench.metrics.drb2.traces import LEAKAGE
from dreambench.reporting.finished import FinishedRun
from dreambench.runs.assembly import CLEAN
from dreambench.stats.intervals import mean_interval
from dreambench.stats.multiple import adjust_column
from dreambench.stats.ranks import pairwise_correlations, wilcoxon
from dreambench.stats.results import to_table
from dreambench.studies.findings import write_findings
from dreambench.studies.outputs import new_figure, write_figure, write_table

INPUTS = ("matrix", "results", "exclude")
WITHDRAWN = (112, 114)
"""Tasks that the official leaderboard leaves out since August 2026."""
SOURCE = ["source", "judge"]
POLICIES = ("macro", "missing_zero", "micro", "without_withdrawn", "without_blocked", "minus_blocked")
DIMENSIONS = ("info_recall", "analysis", "presentation")


def check(inputs: Mapping[str, Any]) -> None:
    """Raises InputError for a key that is not read, DatasetError for files that cannot be used."""
    for key in inputs:
        if key not in INPUTS:
            near = nearest(key, INPUTS)
            what = "the study drb2 does not read it" + (f"; did you mean {near}?" if near else "")
            raise InputError(Problem(f"study_inputs.{key}", what, INPUTS))
    for _ in _recorded(inputs):
        pass


def make(run: FinishedRun) -> Sequence[Path]:
    """All files of the study, in the order in which they are written."""
    values = all_values(run)
    withdrawn = [str(idx) for idx in run.inputs.get("exclude") or WITHDRAWN]
    policies = policy_table(values, withdrawn)
    ranks, changes = rank_table(policies), order_changes(policies)
    agreement, tests, leaks = agreement_table(values), leader_tests(values), leakage_table(values)
    tables = {"policies": policies, "ranks": ranks, "order_changes": changes, "agreement": agreement, "tests": tests}
    written = [path for name, table in tables.items() for path in write_table(_rounded(table), run.output, name)]
    if not leaks.is_empty():
        written += write_table(_rounded(leaks), run.output, "leakage")
    return [*written, *_draw(policies, run.output), _write_findings(policies, changes, agreement, tests, leaks, run)]


def all_values(run: FinishedRun) -> pl.DataFrame:
    """One row per source, judge, agent, task and variant (repeats averaged): of the run, and of what the inputs name."""
    own = run.report_scores.filter(pl.col("metric") == "drb2", pl.col("perturbation") == CLEAN)
    label = pl.when(pl.col("rubric").is_in(["", "default"])).then(pl.lit("run")).otherwise(pl.format("run[{}]", "rubric"))
    frames = [own.with_columns(source=label)]
    frames += [recorded_values(items).with_columns(source=pl.lit(name)) for name, items in _recorded(run.inputs)]
    keys = [*SOURCE, "agent", "task", "variant"]
    means = [pl.col(name).mean() for name in ("value", "numerator", "denominator")]
    return pl.concat([frame.group_by(keys, maintain_order=True).agg(means) for frame in frames])


def _recorded(inputs: Mapping[str, Any]) -> Iterator[tuple[str, pl.DataFrame]]:
    """The item tables of the inputs, by their name."""
    if folder := inputs.get("matrix"):
        yield "matrix", matrix_items(str(folder), "study_inputs.matrix")
    if name := inputs.get("results"):
        yield "results", saved_items(read_saved(str(name), "study_inputs.results"), {})


def policy_table(values: pl.DataFrame, withdrawn: Sequence[str] = ()) -> pl.DataFrame:
    """Per system: the score under each policy, its interval over tasks, the blocked rate, dimensions, and what is missing.

    `missing_zero` counts tasks without a score as 0; `minus_blocked` takes the blocked rate off: the benchmark never does.
    """
    rows = []
    for source, part in values.group_by(SOURCE, maintain_order=True):
        tasks = part["task"].n_unique()
        for (agent,), own in part.group_by("agent", maintain_order=True):
            total = own.filter(pl.col("variant") == TOTAL, pl.col("value").is_not_null())
            mean = {name: _mean(own, name) for name in (BLOCKED, WITHOUT_BLOCKED, *DIMENSIONS)}
            interval = mean_interval(total["value"], seed=0, bounds=(0.0, 1.0))
            pooled = float(total["denominator"].sum())
            macro, blocked = interval.value, mean[BLOCKED]
            rows.append(
                dict(zip(SOURCE, source, strict=True))
                | {"agent": agent, "macro": macro, "low": interval.low, "high": interval.high}
                | {"missing_zero": float(total["value"].sum()) / tasks}
                | {"micro": float(total["numerator"].sum()) / pooled if pooled else None}
                | {"without_withdrawn": _mean(own.filter(~pl.col("task").is_in(list(withdrawn))), TOTAL)}
                | {"without_blocked": mean[WITHOUT_BLOCKED]}
                | {"minus_blocked": macro - blocked if macro is not None and blocked is not None else None}
                | {"blocked": blocked, **{name: mean[name] for name in DIMENSIONS}}
                | {"tasks": total.height, "missing": tasks - total.height, "interval": interval.method}
            )
    table = pl.DataFrame(rows, infer_schema_length=None)
    return table.sort(*SOURCE, "macro", descending=[False, False, True], nulls_last=True) if rows else table


def rank_table(policies: pl.DataFrame) -> pl.DataFrame:
    """The rank of each system under each policy, 1 the best; ties share the better rank."""
    ranks = [pl.col(name).rank("min", descending=True).over(SOURCE).cast(pl.Int64) for name in POLICIES]
    return policies.select(*SOURCE, "agent", *ranks)


def order_changes(policies: pl.DataFrame) -> pl.DataFrame:
    """Pairs of systems whose order is not the same under every policy, with the policies that put each first."""
    rows = []
    for source, part in policies.group_by(SOURCE, maintain_order=True):
        systems = part.rows(named=True)
        for one, other in itertools.combinations(systems, 2):
            ahead = [name for name in POLICIES if _ahead(one[name], other[name])]
            behind = [name for name in POLICIES if _ahead(other[name], one[name])]
            if ahead and behind:
                named = {"a": one["agent"], "b": other["agent"], "a_first": ", ".join(ahead), "b_first": ", ".join(behind)}
                rows.append(dict(zip(SOURCE, source, strict=True)) | named)
    return pl.DataFrame(rows, schema=[*SOURCE, "a", "b", "a_first", "b_first"] if not rows else None)


def agreement_table(values: pl.DataFrame) -> pl.DataFrame:
    """Spearman's rho and Kendall's tau-b of every pair of systems over the tasks that both have."""
    frames = []
    for source, wide, systems in _wide(values):
        for kind in ("spearman", "kendall"):
            if len(systems) > 1:
                found = pairwise_correlations(wide, systems, kind=kind)
                frames.append(found.select(*_named(source), "a", "b", "effect", "low", "high", "p", "n", "method", "reason"))
    return pl.concat(frames, how="vertical_relaxed") if frames else pl.DataFrame()


def leader_tests(values: pl.DataFrame) -> pl.DataFrame:
    """Wilcoxon signed-rank of the leader (by macro mean) against every other system, Bonferroni over the systems."""
    frames = []
    for source, wide, systems in _wide(values):
        leader, *others = sorted(systems, key=lambda name: -_as_float(wide[name].mean()))
        found = to_table(({"a": leader, "b": other}, wilcoxon(wide[leader], wide[other])) for other in others)
        if others:
            adjusted = adjust_column(found.with_columns(pl.col("p").cast(pl.Float64)), method="bonferroni")
            frames.append(adjusted.select(*_named(source), "a", "b", "effect", "p", "p_adjusted", "n", "method", "reason"))
    return pl.concat(frames, how="vertical_relaxed") if frames else pl.DataFrame()


def leakage_table(values: pl.DataFrame) -> pl.DataFrame:
    """Per system the shares of audited reports that are clean, viewed the forbidden source without citing it, or cited it."""
    states = values.filter(pl.col("variant").str.starts_with(f"{LEAKAGE}_"), pl.col("value").is_not_null())
    keys = [*SOURCE, "agent", pl.col("variant").str.strip_prefix(f"{LEAKAGE}_").alias("state")]
    return states.group_by(keys, maintain_order=True).agg(pl.col("value").mean().alias("share"), pl.len().alias("reports"))


def _wide(values: pl.DataFrame) -> Iterator[tuple[tuple[Any, ...], pl.DataFrame, list[str]]]:
    """Per source: one row per task, one column per system, with at least one value each."""
    for source, part in values.filter(pl.col("variant") == TOTAL).group_by(SOURCE, maintain_order=True):
        wide = part.pivot(on="agent", index="task", values="value", maintain_order=True)
        yield source, wide, [name for name in wide.columns if name != "task" and wide[name].null_count() < wide.height]


def _named(source: tuple[Any, ...]) -> list[pl.Expr]:
    return [pl.lit(value).alias(name) for name, value in zip(SOURCE, source, strict=True)]


def _mean(own: pl.DataFrame, variant: str) -> float | None:
    found = own.filter(pl.col("variant") == variant)["value"].drop_nulls()
    return _as_float(found.mean()) if len(found) else None


def _as_float(value: Any) -> float:
    return float(value)


def _ahead(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and one > other + 1e-12


def _rounded(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.col(pl.Float64).round(6)) if table.columns else table


def _draw(policies: pl.DataFrame, folder: Path) -> list[Path]:
    """One panel per source: systems down the side, one mark per policy."""
    panels = list(policies.group_by(SOURCE, maintain_order=True))
    figure = new_figure(1, len(panels), width=1.6 + 4.2 * len(panels), height=1.6 + 0.42 * policies["agent"].n_unique())
    for axes, (source, part) in zip(figure.axes, panels, strict=True):
        agents = part["agent"].to_list()[::-1]
        for place, name in enumerate(POLICIES):
            shown = part.filter(pl.col(name).is_not_null())
            at = [agents.index(agent) for agent in shown["agent"]]
            axes.plot((100 * shown[name]).to_list(), at, "osD^vP"[place], markersize=5, label=name)
        axes.set_yticks(range(len(agents)), agents)
        axes.set_title(", ".join(str(each) for each in source))
        axes.set_xlabel("score x100")
        axes.grid(axis="x", linewidth=0.4)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize="small", loc="outside lower center", ncols=3)
    return write_figure(figure, folder, "policies")


def _write_findings(
    policies: pl.DataFrame,
    changes: pl.DataFrame,
    agreement: pl.DataFrame,
    tests: pl.DataFrame,
    leaks: pl.DataFrame,
    run: FinishedRun,
) -> Path:
    lines = []
    for source, part in policies.group_by(SOURCE, maintain_order=True):
        where = " by ".join(str(each) for each in source)
        for name in POLICIES:
            ranked = part.drop_nulls(name).sort(name, descending=True)
            order = " > ".join(f"{row['agent']} ({100 * row[name]:.2f})" for row in ranked.iter_rows(named=True))
            lines.append(f"- {where}, {name}: {order}")
    lines.append("")
    lines += [
        f"- {row['source']}: {row['a']} is before {row['b']} by {row['a_first']}, behind by {row['b_first']}."
        for row in changes.iter_rows(named=True)
    ] or ["- No two systems change places between policies."]
    if not agreement.is_empty():
        for (source, method), part in agreement.group_by("source", "method", maintain_order=True):
            effects = part["effect"].drop_nulls()
            if len(effects):
                lines.append(f"- {source}: mean {method} over {len(effects)} pairs of systems {_as_float(effects.mean()):.4f}.")
    lines += [
        f"- {row['source']}: {row['a']} against {row['b']}, Wilcoxon p = {row['p_adjusted']:.2g} (Bonferroni, n = {row['n']})."
        for row in (tests.drop_nulls("p_adjusted") if not tests.is_empty() else tests).iter_rows(named=True)
    ]
    lines += [
        f"- leakage of {row['agent']}: {row['state']} {100 * row['share']:.1f} % of {row['reports']} audited reports."
        for row in leaks.iter_rows(named=True)
    ]
    return write_findings(run, "DeepResearch Bench II", lines)
