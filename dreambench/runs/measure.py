"""What becomes of one cell, in whichever process it is judged."""

from __future__ import annotations

from collections.abc import Sequence

from dreambench.engine.cell import Cell
from dreambench.records import Judgment
from dreambench.runs.assembly import Parts
from dreambench.runs.subjects import Subjects


async def measure(parts: Parts, subjects: Subjects, cell: Cell) -> Sequence[Judgment]:
    """The judgments of the cell's metric, placed in the text that was handed in."""
    metric = parts.metrics[cell.metric]
    judge = parts.judges.get(cell.judge)
    subject = await subjects.get(cell)
    judgments = subject.placed(await metric.measure(subject, judge, cell.repeat))
    if metric.protocols:  # one that was made just now is not in the plan yet
        cell.columns["protocol"] = metric.protocols.hash_of(subject.task, judge)
    return judgments
