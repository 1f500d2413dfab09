"""Whether two runs asked the same questions and scored the same texts: their tables of reports side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from dreambench.reporting.finished import FinishedRun
from dreambench.runs.assembly import CLEAN

PLACE = ["task", "agent", "perturbation", "dose", "perturbation_seed"]
SHOWN = 5


@dataclass(frozen=True, slots=True)
class ReportChanges:
    """Reports of one task, agent and arm in both runs (`compared`), and those with another text (`differ`: PLACE)."""

    compared: int
    differ: pl.DataFrame
    queries: Sequence[str] = ()
    """Tasks of both runs whose query is not the same text."""
    unknown: Sequence[str] = ()
    """Runs that keep no table of their reports."""

    @property
    def queries_said(self) -> str:
        """`queries: 1 of the tasks was asked in other words: ...`; empty when all were asked alike."""
        if not self.queries:
            return ""
        more = f" and {len(self.queries) - SHOWN} more" if len(self.queries) > SHOWN else ""
        what = "tasks have another query text in the second run (scores that depend on the query are about two questions)"
        return f"queries: {len(self.queries)} {what}: {', '.join(self.queries[:SHOWN])}{more}"

    def __str__(self) -> str:
        """`reports: 2 of 8 differ between the runs, ...: common-charger/good, ...`."""
        if self.unknown:
            return f"reports: whether they differ is not known, {' and '.join(self.unknown)} keeps no reports.parquet"
        if not self.compared:
            return "reports: none is of the same task and agent in both runs"
        if self.differ.is_empty():
            return f"reports: {self.compared} of the same task and agent in both runs, all with the same text"
        names = [_name(*place) for place in self.differ.select(PLACE).head(SHOWN).iter_rows()]
        more = f" and {self.differ.height - SHOWN} more" if self.differ.height > SHOWN else ""
        what = "differ between the runs (part of what follows is about other texts)"
        return f"reports: {self.differ.height} of {self.compared} {what}: {', '.join(names)}{more}"


def report_changes(first: FinishedRun, second: FinishedRun) -> ReportChanges:
    """Compares texts as they were scored. Agents and arms that only one run has are not compared."""
    none = pl.DataFrame(schema=dict.fromkeys(PLACE, pl.String))
    unknown = [run.folder.root.name for run in (first, second) if not run.folder.reports.is_file()]
    if unknown:
        return ReportChanges(0, none, unknown=unknown)
    both = _texts(first).join(_texts(second), on=PLACE, how="inner", suffix="_second", nulls_equal=True).sort(PLACE)
    differ = both.filter(pl.col("text") != pl.col("text_second")).select(PLACE)
    return ReportChanges(both.height, differ, _other_queries(first, second))


def _other_queries(first: FinishedRun, second: FinishedRun) -> list[str]:
    one, other = (
        dict(pl.read_parquet(run.folder.reports, columns=["task", "query"]).unique().rows()) for run in (first, second)
    )
    return sorted(task for task in one.keys() & other.keys() if one[task] != other[task])


def _texts(run: FinishedRun) -> pl.DataFrame:
    """One row per place with its texts: in an order of their own where an agent wrote several for a task."""
    table = pl.read_parquet(run.folder.reports, columns=[*PLACE, "text"])
    return table.group_by(PLACE).agg(pl.col("text").sort())


def _name(task: str, agent: str, perturbation: str, dose: float, seed: int | None) -> str:
    return f"{task}/{agent}" + ("" if perturbation == CLEAN else f" ({perturbation} {dose:g} seed {seed})")
