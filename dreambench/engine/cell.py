"""Cells: judge x rubric variant x metric x arm x report x repeat, the unit of work, of resuming and of the journal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dreambench.engine.call import canonical_json
from dreambench.records import short_hash


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell. `metric` and `judge` are node names; `columns` are what all its rows of the item table share (the
    protocol's hash is filled in when it is known).

    `id` is a hash of what the cell asks (metric and judge identity, report, arm, repeat): two runs that ask the same
    have the same cell.
    """

    id: str
    metric: str
    judge: str
    task: str
    report: str
    repeat: int
    columns: dict[str, Any]
    arm: str = ""
    """Node name of the perturbation; empty for the clean arm."""


def cell_id(
    metric: Mapping[str, Any],
    judge: Mapping[str, Any] | None,
    task: Mapping[str, Any],
    arm: Mapping[str, Any] | None,
    report: str,
    repeat: int,
) -> str:
    """Content address of a cell; `metric`, `judge`, `task` and `arm` are identities, `report` is a report's id."""
    return short_hash("cell", canonical_json([metric, judge, task, arm]), report, str(repeat))
