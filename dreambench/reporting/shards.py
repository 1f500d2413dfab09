"""A finished run as sharded Parquet on any file system that fsspec knows (`s3://`, `gs://`, `hdfs://`, `memory://`, a folder).

`judgments/part-00000.parquet` and so on hold the item table in parts of whole cells, written from the journal one part at a
time; the other tables, the summary and the configuration lie beside them as in the run's folder. Runs themselves need a local
disk: a journal is appended to, locked and mapped, which object stores cannot do.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from dreambench.engine.journal import read_lines
from dreambench.errors import ConfigError, Problem
from dreambench.metrics.aggregation import report_values
from dreambench.metrics.metric import Metric
from dreambench.records import short_hash
from dreambench.reporting.taken import taken
from dreambench.runs.folder import RunFolder
from dreambench.runs.tables import ITEM_ORDER, ITEM_SCHEMA, write_parquet

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

ROWS = 100_000
"""Judgments of a part, at least; the cell that reaches it is whole."""
PARTS = "judgments"
REST = ("calls.parquet", "report_scores.parquet", "scores.parquet", "reports.parquet", "hostile.parquet")
TEXTS = ("config.yaml", "summary.json")
FETCHED = Path(".dreambench/fetched")
_CELL = ["metric", "rubric", "task", "agent", "report", "judge", "repeat", "perturbation", "dose", "perturbation_seed"]
"""What orders report values that come part by part: tasks in their order within every score."""


def is_address(where: str) -> bool:
    """Whether `where` names a place on some file system by its protocol, rather than a path."""
    return "://" in where


def is_exported(folder: Path) -> bool:
    """Whether a run was exported to `folder`, whole: the summary is written last."""
    return (folder / PARTS).is_dir() and all((folder / name).is_file() for name in TEXTS)


def file_system(where: str) -> tuple[AbstractFileSystem, str]:
    """The file system of `where` and the path in it. Raises ConfigError for a protocol that is not known or not installed."""
    from fsspec.core import url_to_fs

    try:
        found: tuple[AbstractFileSystem, str] = url_to_fs(where)
    except (ImportError, ValueError) as error:
        allowed = ["a folder", "file://", "memory://", "s3:// (pip install s3fs)", "gs:// (pip install gcsfs)"]
        raise ConfigError(Problem(where, f"no such file system: {error}", allowed)) from error
    return found


def write_run(run: RunFolder, run_id: str, where: str, rows: int = ROWS, *, replace: bool = False) -> list[str]:
    """Writes the run below `where` and returns the paths. Raises ConfigError where something lies there already, OSError.

    With `replace` an earlier export is deleted first; a place that holds anything else is refused all the same.

    The summary is written last: a copy without it is not whole, and is not read.
    """
    if not run.journal.is_file():
        raise ConfigError(Problem(str(run.root), "has no journal: it is a copy", ["the run's own folder"]))
    system, root = file_system(where)
    there = system.find(root) if system.exists(root) else []
    if there and not (replace and all(_of_export(path.removeprefix(root).lstrip("/")) for path in there)):
        raise taken(where)
    for path in sorted(there, key=lambda path: not path.endswith(TEXTS)):  # the summary early: the rest is read as no run
        system.rm_file(path)
    written = []
    for number, part in enumerate(parts(run.journal, run_id, rows)):
        path = f"{root}/{PARTS}/part-{number:05}.parquet"
        system.makedirs(f"{root}/{PARTS}", exist_ok=True)
        with system.open(path, "wb") as file:
            part.write_parquet(file)
        written.append(path)
    for name in (*REST, *TEXTS):
        if (source := run.root / name).is_file():
            system.put_file(str(source), f"{root}/{name}")
            written.append(f"{root}/{name}")
    return written


def _of_export(name: str) -> bool:
    """Whether a file below an export's place, by its relative name, is part of an export."""
    return name in (*TEXTS, *REST) or (name.startswith(f"{PARTS}/part-") and name.endswith(".parquet"))


def parts(journal: Path, run_id: str, rows: int = ROWS) -> Iterator[pl.DataFrame]:
    """The item table of a journal in parts of `rows` rows and more, each of whole cells and sorted like the whole table.

    Needs memory for one part and for the ids of the cells.
    """
    last = {line["cell"]: number for number, line in enumerate(read_lines(journal, "cell"))}
    waiting: list[dict[str, Any]] = []
    for number, line in enumerate(read_lines(journal, "cell")):
        if last[line["cell"]] != number:
            continue
        shared = {"run": run_id, "cell": line["cell"], **line["columns"]}
        waiting += ({**shared, **judgment} for judgment in line["judgments"])
        if len(waiting) >= rows:
            yield _part(waiting)
            waiting = []
    if waiting or not last:
        yield _part(waiting)


def _part(rows: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=ITEM_SCHEMA).sort(*ITEM_ORDER, maintain_order=True)


def read_parts(where: str, columns: list[str] | None = None) -> Iterator[pl.DataFrame]:
    """The parts of the item table below `where`, one after the other. Raises ConfigError where there is none."""
    system, root = file_system(where)
    paths = sorted(system.glob(f"{root}/{PARTS}/part-*.parquet"))
    if not paths:
        what = f"holds no {PARTS}/part-*.parquet"
        raise ConfigError(Problem(where, what, type="python -m dreambench export RUN --to parquet"))
    for path in paths:
        with system.open(path, "rb") as file:
            yield pl.read_parquet(file, columns=columns)


def values_of_parts(items: Iterable[pl.DataFrame], metrics: Iterable[Metric]) -> pl.DataFrame:
    """`report_values` of an item table that comes in parts of whole cells, in memory for one part and the values."""
    known = list(metrics)
    return pl.concat([report_values(part, known) for part in items]).sort(*_CELL, maintain_order=True)


def fetch_run(where: str) -> RunFolder:
    """A local copy of the run below `where`, for verbs that read. Raises ConfigError where no whole run lies there."""
    system, root = file_system(where)
    if missing := [name for name in TEXTS if not system.isfile(f"{root}/{name}")]:
        raise ConfigError(Problem(where, f"is no exported run ({', '.join(missing)} not there)", ["export RUN --to parquet"]))
    run = RunFolder(FETCHED / f"{root.rstrip('/').rpartition('/')[2]}-{short_hash('fetched', where)[:8]}")
    run.root.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in (*REST, *TEXTS):
        if system.isfile(f"{root}/{name}"):
            system.get_file(f"{root}/{name}", str(run.root / name))
    with tempfile.TemporaryDirectory(dir=run.root) as folder:
        for number, part in enumerate(read_parts(where)):
            part.write_parquet(Path(folder, f"{number:05}.parquet"))
        whole = pl.scan_parquet(Path(folder, "*.parquet")).sort(*ITEM_ORDER, maintain_order=True)
        write_parquet(whole.collect(), run.judgments)
    return run
