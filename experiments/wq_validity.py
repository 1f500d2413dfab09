"""Validity of WQ: are agents ranked by Writing Quality as they are by RACE readability? (DREAM, section 4.5.)

Reads a finished run with WQ, and RACE either from the same run or from the benchmark's saved results; where there is neither,
another metric of the run stands in for RACE, named in every table and line. Writes `wq_validity`
(Kendall's tau-b between the two orders of agents, mean over queries, for readability and RACE's other dimensions), `by_agent`
(Spearman's rho over the queries of one agent), a figure and `findings.md`. Writing quality that is what it says agrees with
readability more than with the dimensions that are not about writing.
"""

# Annotations stay real objects: studies are loaded from their file, where pydantic could not look names up.

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.errors import InputError, Problem
from dreambench.metrics.race.formula import DIMENSIONS
from dreambench.metrics.race.saved import OVERALL, read_saved
from dreambench.reporting.finished import FinishedRun
from dreambench.reporting.tables import metric_label
from dreambench.runs.assembly import CLEAN
from dreambench.stats.ranks import correlation
from dreambench.studies.findings import bounded, write_findings
from dreambench.studies.inputs import WHERE, StudySettings, read_settings
from dreambench.studies.outputs import rounded, write_table
from dreambench.studies.panels import interval_panels
from dreambench.studies.scored_twice import judged, ranking_agreement

READABILITY = "readability"
SHOWN = (READABILITY, *(name for name in DIMENSIONS if name != READABILITY), OVERALL)
NO_RACE = (
    "No RACE score was read: another metric stands in its place to show the tables. "
    "What follows compares WQ with that metric and says nothing of WQ's validity."
)
SCHEMA = {"task": pl.String, "agent": pl.String, "race": pl.String, "by": pl.String, "other": pl.Float64}


class Inputs(StudySettings):
    """`saved`: the benchmark's raw_results.jsonl of each agent; `from_run`: RACE is a metric of the run itself.

    `stand_in`: the metric of the run whose scores take RACE's place where neither is given.
    """

    saved: dict[str, Path] | None = None
    from_run: bool = False
    stand_in: str | None = None


def check(inputs: Mapping[str, Any]) -> None:
    """Raises InputError unless RACE scores come from exactly one place that can be read."""
    given = read_settings(Inputs, inputs)
    if bool(given.saved) == given.from_run and (given.saved or not given.stand_in):
        what = "are wanted from two places" if given.saved else "of the same reports are needed"
        fix = f"'{WHERE}.saved={{AGENT: raw_results.jsonl}}', or metric=[wq,race] {WHERE}.from_run=true judge=..."
        raise InputError(Problem(WHERE, f"RACE scores {what}", ["saved", "from_run"], fix))
    _read(given)


def _read(given: Inputs) -> pl.DataFrame:
    rows = [
        {"task": task, "agent": agent, "race": family, "by": "saved results", "other": value}
        for agent, path in (given.saved or {}).items()
        for task, scores in read_saved(str(path), f"{WHERE}.saved.{agent}").by_id.items()
        for family, value in scores.items()
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def make(run: FinishedRun) -> Sequence[Path]:
    """All files of the study. Raises InputError when the run has no WQ, or no report that both sides scored."""
    given = read_settings(Inputs, run.inputs)
    race = _read(given) if given.saved else race_scores(run.report_scores, "race" if given.from_run else given.stand_in)
    pairs = paired(wq_scores(run.report_scores), race)
    if pairs.is_empty():
        what = "no report has both WQ and RACE scores: names of agents and ids of tasks must be those of the run"
        raise InputError(Problem(WHERE, what, sorted(run.report_scores["agent"].unique())))
    between, by_agent = between_agents(pairs), within_agents(pairs)
    folder = run.output
    return [
        *write_table(rounded(between), folder, "wq_validity"),
        *write_table(rounded(by_agent), folder, "by_agent"),
        *_draw(between, by_agent, folder),
        write_findings(run, "Validity of Writing Quality", _findings(between, by_agent)),
    ]


def wq_scores(values: pl.DataFrame) -> pl.DataFrame:
    """WQ per report: task, agent, wq (judge and rubric), one. Means over repeats."""
    rows = judged(values).filter(pl.col("metric") == "wq").with_columns(wq=pl.format("{} by {}", metric_label(), "judge"))
    return rows.group_by("task", "agent", "wq", maintain_order=True).agg(one=pl.col("value").mean()).drop_nulls("one")


def race_scores(values: pl.DataFrame, metric: str | None = "race") -> pl.DataFrame:
    """RACE's overall and dimension scores per report of the run; of a metric that stands in for it, the primary score."""
    rows = values.filter(pl.col("metric") == metric, pl.col("perturbation") == CLEAN).drop_nulls("value")
    if metric != "race":
        rows = rows.filter("primary").with_columns(variant=pl.format("not RACE: {}", "metric"))
    return rows.group_by("task", "agent", race="variant", by="judge", maintain_order=True).agg(other=pl.col("value").mean())


def paired(wq: pl.DataFrame, race: pl.DataFrame) -> pl.DataFrame:
    """One row per report and RACE dimension that both sides scored."""
    return wq.join(race, on=["task", "agent"], how="inner").sort("wq", "by", "race", "task", "agent")


def between_agents(pairs: pl.DataFrame) -> pl.DataFrame:
    """Mean over queries of tau-b between the agents' two orders; queries that rank nothing are counted."""
    rows = [
        {**_keys(keys), **ranking_agreement(part), "agents": part["agent"].n_unique(), "reports": part.height}
        for keys, part in pairs.group_by("wq", "by", "race", maintain_order=True)
    ]
    table = pl.DataFrame(rows, infer_schema_length=None)
    return table.rename({"tasks": "queries"}).sort("wq", "by", pl.col("race").replace_strict(_ORDER, default=len(_ORDER)))


def within_agents(pairs: pl.DataFrame) -> pl.DataFrame:
    """Spearman's rho over one agent's queries: are its better written reports its more readable ones?"""
    rows = []
    for (*keys, agent), part in pairs.group_by("wq", "by", "race", "agent", maintain_order=True):
        rho = correlation(part["one"], part["other"])
        shown = {"rho": rho.effect, "low": rho.low, "high": rho.high, "p": rho.p, "queries": rho.n, "reason": rho.reason}
        rows.append({**_keys(tuple(keys)), "agent": agent, **shown})
    return pl.DataFrame(rows, infer_schema_length=None)


_ORDER = {name: place for place, name in enumerate(SHOWN)}


def _keys(keys: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(("wq", "by", "race"), keys, strict=True))


def _draw(between: pl.DataFrame, by_agent: pl.DataFrame, folder: Path) -> list[Path]:
    columns = [pl.col("race").alias("row"), *(pl.col(name).cast(pl.Float64) for name in ("value", "low", "high"))]
    orders = between.with_columns(value="tau").select(
        pl.lit("agents: tau-b").alias("panel"), pl.col("wq").alias("series"), *columns
    )
    own = by_agent.with_columns(value="rho").select(
        pl.lit("queries of one agent: rho").alias("panel"), pl.format("{}, {}", "agent", "wq").alias("series"), *columns
    )
    table = pl.concat([orders, own]).filter(pl.col("value").is_not_null())
    if table.is_empty():
        return []
    return interval_panels(table, folder, "wq_validity", panel="panel", row="row", series="series", label="-1 to 1")


def _findings(between: pl.DataFrame, by_agent: pl.DataFrame) -> list[str]:
    shown = [row for row in between.iter_rows(named=True) if row["race"] in (READABILITY, OVERALL) or row["race"] not in SHOWN]
    lines = [NO_RACE, ""] if any(row["race"] not in SHOWN for row in shown) else []
    lines += [_between_line(row) for row in shown]
    for row in by_agent.filter(pl.col("race") == READABILITY).iter_rows(named=True):
        value = bounded(row["rho"], row["low"], row["high"], n=row["queries"])
        why = f" ({row['reason']})" if row["reason"] else ""
        lines.append(f"- {row['agent']}, {row['wq']}: rho with RACE readability {value} over {row['queries']} queries{why}.")
    for (wq,), part in by_agent.filter(pl.col("race").is_in(DIMENSIONS)).group_by("wq", maintain_order=True):
        best = part.group_by("race").agg(pl.col("rho").mean()).drop_nulls().sort("rho", "race", descending=True)
        if best.height > 1:
            lines.append(f"- {wq}: of RACE's dimensions it goes most with {best['race'][0]} (mean rho {best['rho'][0]:.2f}).")
    return lines


def _between_line(row: Mapping[str, Any]) -> str:
    other = f"RACE {row['race']}" if row["race"] in SHOWN else row["race"]
    who = f"- {row['wq']} against {other} ({row['by']})"
    if row["tau"] is None:
        return f"{who}: no query ranks {row['agents']} agents; three agents or more are needed."
    tau = bounded(row["tau"], row["low"], row["high"], n=row["queries"])
    return (
        f"{who}: mean tau-b {tau} over {row['queries']} queries of {row['agents']} agents ({row['no_ranking']} rank nothing)."
    )
