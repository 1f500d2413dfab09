"""Scores that the benchmark's own evaluator wrote: JSON lines `{"model", "idx", "result"}`, appended at each of its runs.

`result` is `{"scores": {dimension: {item: {"score", "reason", "evidence"}}}}` or `{"error": ...}`, as an object or as JSON
text (older files call it `new_content`). As in the original, several lines of one report are averaged; an error is no score.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.judges.kinds.rubric_items import DIMENSIONS
from dreambench.metrics.drb2.rubrics import RubricItem, TaskRubric
from dreambench.metrics.drb2.table import LABELS, identity, item_row, report_row
from dreambench.metrics.records_file import ReportRecords, read_records
from dreambench.records import Judgment, Status, Task

NOT_SAVED, FAILED, NO_SCORE = "not_in_saved", "evaluation_failed", "no_score"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One judged item; `label` is empty where the line holds no score for it."""

    item: RubricItem
    label: str
    reason: str
    evidence: str


Saved = ReportRecords[list[Sequence[Verdict]]]
"""The usable lines of each (model, idx) of a file, none where every line is an error."""


def read_saved(name: str, key: str) -> Saved:
    """Reads a file of saved lines; `key` is the config key that named it. Raises DatasetError with every problem."""
    path = Path(name).expanduser()
    return ReportRecords(path, *read_records(path, key, "results", _add))


def _add(row: Row, found: dict[tuple[str, str], list[Sequence[Verdict]]], problems: Problems) -> None:
    model, idx = row.text("model", problems), row.identifier("idx", problems)
    result = _result(row, problems)
    if model is None or idx is None or result is None:
        return
    lines = found.setdefault((model, idx), [])
    if "error" not in result:
        lines.append(list(_verdicts(row, result, problems)))


def saved_rows(task: Task, agent: str, saved: Saved, rubric: TaskRubric | None) -> list[Judgment]:
    """One row per item and line; without a usable line, every item of the `rubric` (or the report) is a missing run."""
    lines = saved.by_report.get((agent, task.id))
    if not lines:
        code = NOT_SAVED if lines is None else FAILED
        return missing_rows(task, code, f"{saved.path.name} has no scores of {agent} for task {task.id}", rubric)
    return [_row(task, verdict, number, len(lines)) for number, line in enumerate(lines) for verdict in line]


def missing_rows(task: Task, code: str, why: str, rubric: TaskRubric | None) -> list[Judgment]:
    """What stands for a report that was never judged: as many rows as its task has items, where that is known."""
    if rubric is None:
        return [report_row(task, Status.MISSING_RUN, code, why)]
    return [
        Judgment(identity(task, item), item.dimension, "", None, Status.MISSING_RUN, reason_code=code, rationale=why)
        for item in rubric.items
    ]


def _row(task: Task, verdict: Verdict, line: int, lines: int) -> Judgment:
    item, share = verdict.item, 1 / lines
    if verdict.label:
        return item_row(task, item, verdict.label, reason=verdict.reason, quote=verdict.evidence, weight=share, line=line)
    where = identity(task, item, line)
    return Judgment(where, item.dimension, "", None, Status.UNANSWERED, share, NO_SCORE, item.text)


def _result(row: Row, problems: Problems) -> Mapping[str, Any] | None:
    result = row.values.get("result", row.values.get("new_content"))
    if isinstance(result, str):
        try:
            result = json.loads(result)
        except json.JSONDecodeError:
            result = None
    if not isinstance(result, Mapping) or not (isinstance(result.get("scores"), Mapping) or "error" in result):
        problems.add(row.path, row.line, "has no result", ['{"scores": {...}}', '{"error": "..."}'])
        return None
    return result


def _verdicts(row: Row, result: Mapping[str, Any], problems: Problems) -> Iterator[Verdict]:
    number = 0
    for dimension, items in result["scores"].items():
        if dimension not in DIMENSIONS or not isinstance(items, Mapping):
            problems.add(row.path, row.line, f"scores: {dimension!r} is no dimension with its items", DIMENSIONS)
            continue
        for text, verdict in items.items():
            number += 1
            item = RubricItem(f"i{number}", dimension, text)
            score = verdict.get("score") if isinstance(verdict, Mapping) else None
            label = _label(score)
            if score is not None and label not in LABELS:
                problems.add(row.path, row.line, f"{dimension}: the score {score!r} is none of 1, 0, -1", LABELS)
            elif label:
                yield Verdict(item, label, str(verdict.get("reason") or ""), str(verdict.get("evidence") or ""))
            else:
                yield Verdict(item, "", "", "")


def _label(score: Any) -> str:
    """The label of a score; empty for none and for what is no whole number."""
    whole = isinstance(score, int | float) and not isinstance(score, bool) and float(score).is_integer()
    return str(int(score)) if whole else ""
