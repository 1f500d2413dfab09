"""DeepWeb-Bench: who leads under both policies on missing runs, what each capability scores, and what the cases tell.

Reads a finished run of the metric `deepweb`. Writes `leaderboard` (one row per agent, judge and rubric), `families`, `verdict`
counts in it, `domains`, `cases` (difficulty and winners), `wins`, `usage`, `correlations` (Spearman between agents over cases),
`failures` (shares of modes, where the judge was asked), `sample.csv` for people to label, `kappa` where a labelled `sheet` is
given, `leaderboard.svg/.png`, and `findings.md`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.errors import ConfigError, Problem
from dreambench.judges.kinds.failure_modes import MODES
from dreambench.metrics.deepweb import analysis, people
from dreambench.reporting.finished import FinishedRun
from dreambench.studies.findings import bounded, write_findings
from dreambench.studies.outputs import new_figure, write_figure, write_table

INPUTS = ("sheet", "sample")


def check(inputs: Mapping[str, Any]) -> None:
    """Raises ConfigError for unknown inputs, DatasetError for a sheet that cannot be used."""
    if strange := sorted(set(inputs) - set(INPUTS)):
        raise ConfigError(Problem(f"study_inputs.{strange[0]}", "is nothing that deepweb reads", INPUTS))
    sample = inputs.get("sample")
    if sample is not None and (not isinstance(sample, int) or isinstance(sample, bool) or sample < 1):
        raise ConfigError(Problem("study_inputs.sample", f"is {sample!r}, a whole number from 1 is needed"))
    if inputs.get("sheet"):
        people.read_sheet(Path(inputs["sheet"]))


def make(run: FinishedRun) -> Sequence[Path]:
    """All files of the study, in the order in which they are written."""
    nodes = run.report_scores.filter(pl.col("metric") == "deepweb").select("judge", "rubric").unique(maintain_order=True).rows()
    boards = {node: analysis.leaderboard(_scores(run, node)) for node in nodes}
    first = _scores(run, nodes[0])
    board = pl.concat(
        [table.with_columns(judge=pl.lit(judge), rubric=pl.lit(rubric)) for (judge, rubric), table in boards.items()]
    )
    correlations, taus = analysis.model_correlations(first), analysis.case_taus(first)
    own = run.report_scores.filter(pl.col("judge") == nodes[0][0], pl.col("rubric") == nodes[0][1])
    cells = people.typed_cells(run.judgments.filter(pl.col("judge") == nodes[0][0], pl.col("rubric") == nodes[0][1]))
    tables = {
        "leaderboard": board,
        "families": analysis.families_of(own),
        "domains": analysis.domains(first),
        "cases": analysis.difficulty(first),
        "wins": analysis.wins(first),
        "usage": analysis.usage(first),
        "correlations": correlations,
        "failures": failure_shares(own),
        "kappa": _kappas(run),
    }
    written = [
        path for name, table in tables.items() if table.height for path in write_table(_rounded(table), run.output, name)
    ]
    sample = people.draw_sample(cells, int(run.inputs.get("sample") or 200))
    sheet = people.write_sheet(sample, run.output / "sample.csv")
    lines = _findings(boards, tables, taus, cells)
    return [*written, sheet, *_draw(boards[nodes[0]], run.output), write_findings(run, "DeepWeb-Bench", lines)]


def _scores(run: FinishedRun, node: tuple[str, str]) -> pl.DataFrame:
    table = analysis.case_scores(run.report_scores, run.judgments)
    return table.filter(pl.col("judge") == node[0], pl.col("rubric") == node[1])


def failure_shares(report_scores: pl.DataFrame) -> pl.DataFrame:
    """Share of each mode among the classified failing cells of an agent; empty when nobody was asked."""
    own = report_scores.filter(pl.col("variant").is_in(MODES), pl.col("perturbation") == "clean", pl.col("denominator") > 0)
    sums = own.group_by("agent", "variant").agg(pl.col("numerator").sum(), pl.col("denominator").sum())
    shares = sums.with_columns(share=pl.col("numerator") / pl.col("denominator"))
    if shares.is_empty():
        return pl.DataFrame()
    wide = shares.pivot(on="variant", index=["agent", "denominator"], values="share").rename({"denominator": "failing"})
    table = wide.select("agent", pl.col("failing").cast(pl.Int64), *(mode for mode in MODES if mode in wide.columns)).sort(
        "agent"
    )
    return table.with_columns(deep=pl.sum_horizontal(mode for mode in analysis.DEEP if mode in table.columns))


def _kappas(run: FinishedRun) -> pl.DataFrame:
    sheet = run.inputs.get("sheet")
    return pl.DataFrame(people.agreement(people.read_sheet(Path(sheet)))) if sheet else pl.DataFrame()


def _rounded(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.selectors.float().round(6))


def _draw(board: pl.DataFrame, folder: Path) -> list[Path]:
    """Mean case score per agent with its interval, and a hollow mark for missing runs counted as 0."""
    shown = board.drop_nulls("excluded").reverse()
    figure = new_figure(1, 1, width=6, height=1.2 + 0.4 * max(shown.height, 1))
    (axes,) = figure.axes
    at = list(range(shown.height))
    values = [100 * value for value in shown["excluded"]]
    low, high = (
        [
            abs(100 * (bound if bound is not None else value) - 100 * value)
            for bound, value in zip(shown[side], shown["excluded"], strict=True)
        ]
        for side in ("low", "high")
    )
    axes.errorbar(values, at, xerr=[low, high], fmt="o", capsize=2, label="missing runs left out")
    axes.plot([100 * value for value in shown["zero"]], at, "o", fillstyle="none", label="missing runs as 0")
    axes.set_yticks(at, shown["agent"].to_list())
    axes.set_xlabel("mean of cell tiers x100, 95 % interval over cases")
    axes.grid(axis="x", linewidth=0.4)
    axes.legend(fontsize="small")
    return write_figure(figure, folder, "leaderboard")


def _findings(
    boards: Mapping[tuple[str, str], pl.DataFrame],
    tables: Mapping[str, pl.DataFrame],
    taus: Mapping[str, float | int | None],
    cells: pl.DataFrame,
) -> list[str]:
    lines = []
    for (judge, rubric), board in boards.items():
        for row in board.iter_rows(named=True):
            mean, low, high = (None if row[key] is None else 100 * row[key] for key in ("excluded", "low", "high"))
            zero = "none" if row["zero"] is None else f"{100 * row['zero']:.2f}"
            lines.append(
                f"- {row['agent']} by {judge} ({rubric}): {bounded(mean, low, high, n=row['scored'])} "
                f"over {row['scored']} cases, "
                f"rank {row['rank_excluded']}; with its {row['missing']} missing runs as 0 {zero}, rank {row['rank_zero']}. "
                f"Cases: {row['too_easy']} too easy, {row['pass']} pass, {row['too_hard']} too hard."
            )
    if rhos := [rho for rho in tables["correlations"]["rho"].to_list() if rho is not None]:
        mean = sum(rhos) / len(rhos)
        lines.append(f"- Spearman's rho between agents over cases: mean {mean:.2f}, {min(rhos):.2f} to {max(rhos):.2f}.")
    if taus["mean"] is not None:
        lines.append(
            f"- Kendall's tau-b between case rankings: mean {taus['mean']:.2f}, {100 * (taus['below_zero'] or 0):.0f} % "
            f"below 0, {taus['pairs']} pairs ({taus['no_ranking']} without a ranking)."
        )
    for row in tables["failures"].iter_rows(named=True) if tables["failures"].height else ():
        lines.append(
            f"- {row['agent']}: {100 * row['deep']:.0f} % of {row['failing']} failing cells fail in derivation or calibration."
        )
    if cells.height:
        settled = cells.filter(~pl.col("reason_code").str.starts_with("judged_")).height
        lines.append(f"- Code settled {settled} of {cells.height} scored cells; a judge the rest.")
    return lines
