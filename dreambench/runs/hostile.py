"""Passages addressed to the judge, and hidden text, of a run's reports: a table, and a line for each report that has some.

They are findings about a report and never change a score by themselves: what is scored is the text without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from dreambench.documents.hostile import Kind, Passage, read_hostile
from dreambench.records import Report

HOSTILE_SCHEMA: dict[str, Any] = {
    "task": pl.String,
    "report": pl.String,
    "agent": pl.String,
    "source": pl.String,
    "kind": pl.String,
    "rule": pl.String,
    "line": pl.Int64,
    "report_start": pl.Int64,
    "report_end": pl.Int64,
    "words": pl.String,
}
"""Columns of `hostile.parquet`: one row per passage; places are character offsets into the report as it was handed in."""
_SHOWN = 3


def hostile_table(reports: Iterable[Report], known: Mapping[str, Sequence[Passage]]) -> pl.DataFrame:
    """One row per passage of the reports, in their order; `known` are passages of reports, by id, read before."""
    return pl.DataFrame(list(_rows(reports, known)), schema=HOSTILE_SCHEMA, orient="row")


def _rows(reports: Iterable[Report], known: Mapping[str, Sequence[Passage]]) -> Iterator[tuple[Any, ...]]:
    for report in reports:
        passages = known.get(report.id)
        for passage in read_hostile(report.text).passages if passages is None else passages:
            what = (passage.kind.value, passage.rule, passage.line, passage.span.start, passage.span.end, passage.words)
            yield (report.task_id, report.id, report.agent, report.source, *what)


def hostile_lines(table: pl.DataFrame) -> list[str]:
    """One line per report with passages, with the first places; reports that only have invisible characters share one line."""
    told = table.filter(pl.col("kind") != Kind.INVISIBLE.value)
    lines = []
    for (task, agent), rows in told.group_by("task", "agent", maintain_order=True):
        places = [_place(row) for row in rows.head(_SHOWN).iter_rows(named=True)]
        more = f"; and {rows.height - _SHOWN} more in hostile.parquet" if rows.height > _SHOWN else ""
        lines.append(f"report {agent} / {task} addresses its judge or hides text (not judged): {'; '.join(places)}{more}")
    unseen = table.filter(pl.col("kind") == Kind.INVISIBLE.value)
    if unseen.height:
        count = unseen.select("task", "agent").n_unique()
        lines.append(
            f"{count} reports hold characters without a shape, in {unseen.height} places (hostile.parquet); they are not judged"
        )
    return lines


def _place(row: Mapping[str, Any]) -> str:
    where = f"line {row['line']}, characters {row['report_start']}-{row['report_end']}"
    return f"{where}: {row['kind']} ({row['rule']}): {row['words']}"
