"""Grades that people (or another judge) gave, one JSON line a report.

`{"agent": "a", "task_id": "t", "verifiers": {"V1": true, "V2": false}, "criteria": {"DI": 3, "AR": 2, "RF": 3, "EP": 3,
"FD": 2}}`; verifiers may also be a list of true and false, or the counts `{"passed": 12, "total": 15}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dreambench.datasets.demo import demo_file
from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.metrics.records_file import ReportRecords, read_records
from dreambench.metrics.vrs.package import Package
from dreambench.metrics.vrs.table import CRITERIA, HIGHEST, criterion_row, report_row, verifier_row
from dreambench.records import Judgment, Status, Task

NOT_SAVED = "not_in_saved"


@dataclass(frozen=True, slots=True)
class Grades:
    """One report's grades: verifier -> passed, criterion -> 0 to 3."""

    verifiers: Mapping[str, bool]
    criteria: Mapping[str, int]


Saved = ReportRecords[Grades]
"""The grades of a file by (agent, task id)."""


def read_saved(name: str, key: str) -> Saved:
    """Reads grades, or the `demo`'s; `key` is the config key that named the file. Raises DatasetError with every problem."""
    path = demo_file(name, "vrs_grades.jsonl")
    return ReportRecords(path, *read_records(path, key, "grades", _add))


def _add(row: Row, found: dict[tuple[str, str], Grades], problems: Problems) -> None:
    agent = row.text("agent", problems)
    task_id = row.identifier("task_id" if row.present("task_id") or not row.present("id") else "id", problems)
    grades = Grades(_verifiers(row, problems), _criteria(row, problems))
    if agent is None or task_id is None:
        return
    if found.setdefault((agent, task_id), grades) != grades:
        problems.add(row.path, row.line, f"grades {agent} for task {task_id} again, and otherwise")


def saved_rows(task: Task, agent: str, saved: Saved, package: Package | None) -> list[Judgment]:
    """One row per verifier and criterion; a report that is not in the file is a missing run."""
    grades = saved.by_report.get((agent, task.id))
    if grades is None:
        why = f"{saved.path.name} has no grades of {agent} for task {task.id}"
        return [report_row(task, Status.MISSING_RUN, NOT_SAVED, why)]
    texts = {verifier.id: verifier.text for verifier in package.verifiers} if package else {}
    rows_ = [verifier_row(task, name, texts.get(name, name), passed) for name, passed in grades.verifiers.items()]
    return rows_ + [criterion_row(task, name, grade) for name, grade in grades.criteria.items()]


def _verifiers(row: Row, problems: Problems) -> Mapping[str, bool]:
    given: Any = row.values.get("verifiers")
    if isinstance(given, list):
        given = {f"V{number}": passed for number, passed in enumerate(given, 1)}
    if isinstance(given, Mapping) and set(given) == {"passed", "total"}:
        passed, total = given["passed"], given["total"]
        if type(passed) is int and type(total) is int and 0 <= passed <= total:
            return {f"V{number}": number <= passed for number in range(1, total + 1)}
    elif isinstance(given, Mapping) and given and all(type(passed) is bool for passed in given.values()):
        return {str(name): passed for name, passed in given.items()}
    allowed = ['{"V1": true, "V2": false}', "[true, false]", '{"passed": 12, "total": 15}']
    problems.add(row.path, row.line, f"field 'verifiers' is {given!r}", allowed)
    return {}


def _criteria(row: Row, problems: Problems) -> Mapping[str, int]:
    given: Any = row.values.get("criteria")
    whole = isinstance(given, Mapping) and set(given) == set(CRITERIA)
    if whole and all(type(grade) is int and 0 <= grade <= HIGHEST for grade in given.values()):
        return {name: given[name] for name in CRITERIA}
    problems.add(row.path, row.line, f"field 'criteria' is {given!r}, a grade from 0 to 3 each is needed", list(CRITERIA))
    return {}
