"""From a journal to parquet: the item table, the call table, and the scores that aggregate them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.engine.call import CallRecord
from dreambench.engine.journal import read_lines
from dreambench.metrics.aggregation import dataset_scores, report_values
from dreambench.metrics.metric import Metric
from dreambench.runs.folder import RunFolder

EVIDENCE = pl.List(pl.Struct({"url": pl.String, "snapshot": pl.String, "published": pl.String, "quote": pl.String}))

ITEM_SCHEMA: dict[str, Any] = {
    "run": pl.String,
    "dataset": pl.String,
    "task": pl.String,
    "as_of": pl.String,
    "report": pl.String,
    "agent": pl.String,
    "perturbation": pl.String,
    "dose": pl.Float64,
    "perturbation_seed": pl.Int64,
    "protocol": pl.String,
    "metric": pl.String,
    "rubric": pl.String,
    "rubric_version": pl.String,
    "item": pl.String,
    "family": pl.String,
    "evaluator": pl.String,
    "judge": pl.String,
    "tools": pl.String,
    "repeat": pl.Int64,
    "label": pl.String,
    "value": pl.Float64,
    "weight": pl.Float64,
    "status": pl.String,
    "reason_code": pl.String,
    "rationale": pl.String,
    "report_start": pl.Int64,
    "report_end": pl.Int64,
    "evidence": EVIDENCE,
    "cost": pl.Float64,
    "cell": pl.String,
}
"""Columns of `judgments.parquet`, in order: one row per judged item."""

ITEM_ORDER = (
    *("task", "agent", "report", "metric", "rubric", "judge", "repeat", "family", "report_start", "label", "item"),
    *("perturbation", "dose", "perturbation_seed", "cell"),
)
"""What rows are sorted by. Rows of one cell that are equal in all of it stay in their cell's order."""

_LINE = "line"
_CHUNK = 2000
_TYPES: dict[str, Any] = {"str": pl.String, "int": pl.Int64, "float": pl.Float64, "float | None": pl.Float64}
CALL_SCHEMA: dict[str, Any] = {field.name: _TYPES[str(field.type)] for field in fields(CallRecord)}
"""Columns of `calls.parquet`: one row per call that a cell made, cached ones included."""


def item_table(journal: Path, run: str) -> pl.DataFrame:
    """The item table of a journal: the last line of every cell counts. Rows are sorted, so equal runs give equal files."""
    last: dict[str, int] = {}

    def rows() -> Iterator[dict[str, Any]]:
        for number, line in enumerate(read_lines(journal, "cell")):
            last[line["cell"]] = number
            shared = {"run": run, "cell": line["cell"], **line["columns"], _LINE: number}
            yield from ({**shared, **judgment} for judgment in line["judgments"])

    table = _frame(rows(), {**ITEM_SCHEMA, _LINE: pl.Int64})
    return table.filter(pl.col(_LINE).is_in(list(last.values()))).drop(_LINE).sort(*ITEM_ORDER, maintain_order=True)


def call_table(journal: Path) -> pl.DataFrame:
    """The call table of a journal, in the order in which calls ended; a column that an older journal lacks is null there."""
    return _frame(({key: line.get(key) for key in CALL_SCHEMA} for line in read_lines(journal, "call")), CALL_SCHEMA)


def lost_in_flight(journal: Path) -> int:
    """Calls that were in flight when attempts were killed: they may have been charged beside what the call table says."""
    return sum(int(line["calls"]) for line in read_lines(journal, "lost"))


def _frame(rows: Iterator[dict[str, Any]], schema: dict[str, Any]) -> pl.DataFrame:
    """The rows as one table, some thousands at a time: a row takes far more memory before than after."""
    frames = [pl.DataFrame(schema=schema)]
    while chunk := list(islice(rows, _CHUNK)):
        frames.append(pl.DataFrame(chunk, schema=schema))
    return pl.concat(frames)


def write_tables(folder: RunFolder, run: str, metrics: Iterable[Metric], seed: int) -> dict[str, pl.DataFrame]:
    """Writes the four parquet files of a run and returns them by name."""
    items = item_table(folder.journal, run)
    values = report_values(items, list(metrics))
    tables = {
        "judgments": items,
        "calls": call_table(folder.journal),
        "report_scores": values.drop("micro", "spread", "harmonic_of", strict=False),
        "scores": dataset_scores(values, seed=seed),
    }
    for name, table in tables.items():
        write_parquet(table, folder.root / f"{name}.parquet")
    return tables


def write_parquet(table: pl.DataFrame, path: Path) -> None:
    """Writes a table through a temporary file, so that a reader never sees half of it."""
    temporary = path.with_name(f".{path.name}.part")
    table.write_parquet(temporary)
    temporary.replace(path)


def by_role(calls: pl.DataFrame) -> pl.DataFrame:
    """The ledger: what was bought for each role (creation, extraction, judging, tools), cached and reasoning tokens apart.

    Cached tokens are part of the prompt's, reasoning tokens of the answer's. `money` (US dollars) is over calls of known price.
    """
    tokens = ("prompt_tokens", "cached_tokens", "cache_write_tokens", "completion_tokens", "reasoning_tokens")
    return (
        calls.filter(pl.col("source") == "provider")
        .group_by("role")
        .agg(
            calls=pl.len(),
            **{name: pl.col(name).sum() for name in tokens},
            money=pl.col("cost").sum(),
            unpriced_calls=pl.col("cost").is_null().sum(),
        )
        .sort("role")
    )


def spent(calls: pl.DataFrame) -> dict[str, Sequence[Any] | float | int]:
    """Money, tokens and calls by source and by role, and the calls whose price is unknown."""
    bought = calls.filter(pl.col("source") == "provider")
    return {
        "calls": bought.height,
        "cached_calls": calls.filter(pl.col("source") == "cache").height,
        "money": float(bought["cost"].sum()),
        "unpriced_calls": int(bought["cost"].is_null().sum()),
        "prompt_tokens": int(bought["prompt_tokens"].sum()),
        "completion_tokens": int(bought["completion_tokens"].sum()),
        "by_role": by_role(calls).to_dicts(),
    }
