"""Metric audit: metric x perturbation x judge, on flaws that a score should fall for and placebos that it should not notice.

Reads a finished run (and, with `study_inputs.holdout`, a second one over reports that other hands made flawed). Writes
`metric_audit` (every number of every cell), `matrix` (verdicts), `ranking` (what a metric catches for what it costs),
`reliability`, `cost`, `planted`, with a holdout `holdout`, the heat map, and `findings.md`. docs/audit.md says what they mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.audit.cells import audit_cells, matrix
from dreambench.audit.cost import cost_table
from dreambench.audit.heat_map import draw_matrix
from dreambench.audit.holdout import holdout_cells, side_by_side
from dreambench.audit.ranking import FREE, ranking
from dreambench.audit.reliability import reliability
from dreambench.audit.verdicts import FALSE_ALARM, FLAW, SEES, UNDECIDED, WRONG_WAY
from dreambench.errors import ConfigError, InputError, Problem
from dreambench.reporting.finished import FinishedRun
from dreambench.runs.assembly import CLEAN
from dreambench.runs.folder import RunFolder
from dreambench.studies.dose_study import planted_line, points
from dreambench.studies.dose_tables import MARGIN, planted
from dreambench.studies.findings import bounded, write_findings
from dreambench.studies.outputs import rounded, write_table

INPUTS = ("margin", "holdout", "kinds")
SEED = 0


def check(inputs: Mapping[str, Any]) -> None:
    """Raises ConfigError for unknown inputs or a margin outside (0, 1), InputError for a holdout that is no finished run."""
    if unknown := sorted(set(inputs) - set(INPUTS)):
        raise ConfigError(Problem(f"study_inputs.{unknown[0]}", "is no input of this study", INPUTS))
    margin = inputs.get("margin", MARGIN)
    if isinstance(margin, bool) or not isinstance(margin, int | float) or not 0 < margin < 1:
        raise ConfigError(Problem("study_inputs.margin", f"{margin!r} is no share", ["0 to 1"], "study_inputs.margin=0.05"))
    if inputs.get("holdout"):
        _holdout(inputs)


def make(run: FinishedRun) -> Sequence[Path]:
    """All files of the study, in the order in which they are written."""
    margin = float(run.inputs.get("margin", MARGIN))
    cells = audit_cells(run, margin=margin, seed=SEED)
    costs, again, arms = cost_table(run), reliability(run), planted(run.folder.perturbed)
    ranked = ranking(cells, costs)
    held = _held(run, cells, margin) if run.inputs.get("holdout") else None
    folder = run.output
    lines = [
        f"Margin: a shift of fewer than {100 * margin:g} points of 100 is no shift.",
        "",
        *_row_lines(cells),
        "",
        *_unseen_lines(cells),
        *_ranking_lines(ranked),
        "",
        *_reliability_lines(again),
        "",
        *_holdout_lines(held),
        "",
        *(planted_line(row) for row in arms.filter(pl.col("unchanged") > 0).iter_rows(named=True)),
    ]
    return [
        *write_table(rounded(cells), folder, "metric_audit"),
        *write_table(matrix(cells), folder, "matrix"),
        *write_table(rounded(ranked), folder, "ranking"),
        *write_table(rounded(again), folder, "reliability"),
        *write_table(rounded(costs), folder, "cost"),
        *write_table(rounded(arms), folder, "planted"),
        *(write_table(rounded(held), folder, "holdout") if held is not None else []),
        *(write_table(side_by_side(held), folder, "side_by_side") if held is not None else []),
        *draw_matrix(cells, folder, "metric_audit"),
        *(draw_matrix(held.with_columns(perturbation="agent"), folder, "holdout") if held is not None else []),
        write_findings(run, "Metric audit", lines),
    ]


def _held(run: FinishedRun, cells: pl.DataFrame, margin: float) -> pl.DataFrame:
    return holdout_cells(_holdout(run.inputs), cells, margin=margin, seed=SEED, kinds=run.inputs.get("kinds"))


def _holdout(inputs: Mapping[str, Any]) -> FinishedRun:
    """The second run. Raises InputError when the folder holds no finished run with an agent `clean` and others beside it."""
    where, folder = "study_inputs.holdout", RunFolder(Path(str(inputs["holdout"])).expanduser())
    if not folder.report_scores.is_file():
        kind = "the folder of a finished run, with report_scores.parquet"
        raise InputError(Problem(where, f"{folder.root} holds no finished run", [kind]))
    run = FinishedRun(folder)
    agents = sorted(run.report_scores["agent"].unique().to_list())
    if CLEAN not in agents or len(agents) < 2:
        raise InputError(Problem(where, f"{folder.root} has the agents {', '.join(agents)}", [f"{CLEAN} and one per flaw"]))
    return run


def _row_lines(cells: pl.DataFrame) -> Iterator[str]:
    """One sentence per metric and judge: what it sees, what alarms it, what is open."""
    for (metric, judge), part in cells.sort("metric", "judge").group_by("metric", "judge", maintain_order=True):
        told = []
        for verdict in part["verdict"].unique().sort():
            named = part.filter(pl.col("verdict") == verdict).sort("shift", nulls_last=True)
            told.append(f"{verdict}: " + ", ".join(_named(row) for row in named.iter_rows(named=True)))
        yield f"- {metric} by {judge}. " + "; ".join(told) + "."


def _named(row: Mapping[str, Any]) -> str:
    shift = "no score" if row["shift"] is None else f"{100 * row['shift']:+.1f}"
    if row["beyond"] is False:
        shift += ", no more than a placebo does"
    return f"{row['perturbation']} ({shift})"


def _unseen_lines(cells: pl.DataFrame) -> Iterator[str]:
    flaws = cells.filter(pl.col("role") == FLAW)
    seen = set(flaws.filter(pl.col("verdict") == SEES)["perturbation"])
    if unseen := sorted(set(flaws["perturbation"]) - seen):
        yield f"- Flaws that no metric of this run sees: {', '.join(unseen)}."
    losing = flaws.filter(pl.col("lost") > 0, pl.col("lost") >= pl.col("n_reports")).sort("metric")
    for (name,), part in losing.group_by("perturbation", maintain_order=True):
        told = [f"{row['metric']} in {row['lost']} of {row['lost'] + row['n_reports']} reports" for row in part.to_dicts()]
        yield f"- {name} takes the score away from {', '.join(told)}: tables show such gaps, they are no low scores."
    for verdict, what in ((WRONG_WAY, "A flaw raises the score"), (FALSE_ALARM, "A placebo moves the score")):
        for row in cells.filter(pl.col("verdict") == verdict).iter_rows(named=True):
            shift = points(row, "shift", "shift_low", "shift_high")
            yield f"- {what}: {row['metric']} by {row['judge']}, {row['perturbation']}, {shift} points."
    open_cells = cells.filter(pl.col("verdict") == UNDECIDED).height
    yield f"- {open_cells} of {cells.height} cells are undecided: `why` in the table says what these reports could have shown."


def _ranking_lines(ranked: pl.DataFrame) -> Iterator[str]:
    for place, row in enumerate(ranked.iter_rows(named=True), 1):
        more = f" ({row['beyond']} of them more than any placebo)" if row["placebos"] else ""
        caught = f"sees {row['sees']} of {row['flaws']} flaws{more}"
        caught += f", false alarm on {row['false_alarm']} of {row['placebos']} placebos"
        price = "asks nobody" if row["unit"] == FREE else f"{row['cost']:.3g} {row['unit']}s a report"
        rate = "" if row["per_unit"] is None else f", {row['per_unit']:.3g} flaws seen per {row['unit']}"
        yield f"- Place {place}: {row['metric']} by {row['judge']} {caught}; {price}{rate}."


def _reliability_lines(again: pl.DataFrame) -> Iterator[str]:
    for row in again.iter_rows(named=True):
        value = bounded(row["value"], row["low"], row["high"], n=row["n"])
        why = f" ({row['reason']})" if row["reason"] else ""
        yield f"- {row['metric']}, {row['between']}: {row['measure']} {value}, n = {row['n']}{why}."


def _holdout_lines(held: pl.DataFrame | None) -> Iterator[str]:
    if held is None:
        yield "- No second set: study_inputs.holdout names no run over reports that other hands made flawed."
        return
    for row in held.iter_rows(named=True):
        known = f"{row['perturbation']}: {row['perturber_verdict']} {_points(row['perturber_shift'])}"
        beside = known if row["perturber_verdict"] else "no such perturbation"
        what = f"- Second set, {row['metric']} by {row['judge']}, {row['agent']}: {row['verdict']}"
        yield f"{what} ({_points(row['shift'])} points over {row['n_tasks']} tasks; {beside})."
    both = held.drop_nulls("same_verdict")
    if both.height:
        yield f"- Both sets give the same verdict in {both['same_verdict'].sum()} of {both.height} cells that both have."


def _points(value: float | None) -> str:
    return "none" if value is None else f"{100 * value:+.1f}"
