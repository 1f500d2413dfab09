"""Task packages as the metric reads them: type, verifiers, and what experts know of the task."""

from __future__ import annotations

from dataclasses import dataclass

from dreambench.datasets.demo import demo_file
from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.datasets.vrs import package_row
from dreambench.metrics.records_file import TaskRecords, read_records
from dreambench.metrics.vrs.verifier import Verifier, parse_verifiers


@dataclass(frozen=True, slots=True)
class Package:
    """One task: its prompt type (`CRP`, `SCP/FSP`, ... or empty), checks, and the experts' solution and trap (or empty)."""

    type: str
    verifiers: tuple[Verifier, ...]
    material: str


def read_packages(name: str, key: str) -> TaskRecords[Package]:
    """Reads a package file, or the `demo`'s; `key` is the config key that named it. Raises DatasetError with every problem."""
    path = demo_file(name, "vrs.jsonl")
    return TaskRecords(path, *read_records(path, key, "packages", _add))


def _add(given: Row, found: dict[str, Package], problems: Problems) -> None:
    row = package_row(given)
    task_id, package = row.identifier("id", problems), _read(row, problems)
    if task_id is not None and package is not None:
        found.setdefault(task_id, package)


def _read(row: Row, problems: Problems) -> Package | None:
    given = row.values.get("verifiers")
    lines = given.splitlines() if isinstance(given, str) else given
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        problems.add(
            row.path, row.line, "field 'verifiers' is no list of checks", ['["V1: unit cost = 103"]', "a check a line"]
        )
        return None
    verifiers = parse_verifiers(lines)
    if not verifiers:
        problems.add(row.path, row.line, "field 'verifiers' holds no check")
        return None
    parts = [("Solution", row.label("solution")), ("Trap", row.label("trap"))]
    return Package(row.label("type"), verifiers, "\n\n".join(f"{name}:\n{text}" for name, text in parts if text))
