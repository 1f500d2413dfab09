"""Task packages as the metric reads them: type, verifiers, and what experts know of the task."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dreambench.datasets.demo import demo_file
from dreambench.datasets.files import check_exists, rows
from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.datasets.vrs import package_row
from dreambench.metrics.vrs.verifier import Verifier, parse_verifiers


@dataclass(frozen=True, slots=True)
class Package:
    """One task: its prompt type (`CRP`, `SCP/FSP`, ... or empty), checks, and the experts' solution and trap (or empty)."""

    type: str
    verifiers: tuple[Verifier, ...]
    material: str


@dataclass(frozen=True)
class Packages:
    """The packages of a file by task id; `sha256` is of the file's bytes."""

    path: Path
    sha256: str
    by_task: Mapping[str, Package]


def read_packages(name: str, key: str) -> Packages:
    """Reads a package file, or the `demo`'s; `key` is the config key that named it. Raises DatasetError with every problem."""
    problems = Problems()
    path = demo_file(name, "vrs.jsonl")
    check_exists(path, key, problems)
    problems.check()
    found: dict[str, Package] = {}
    for given in rows(path, problems):
        row = package_row(given)
        task_id = row.identifier("id", problems)
        package = _read(row, problems)
        if task_id is not None and package is not None:
            found.setdefault(task_id, package)
    if not found and not problems.concern(path):
        problems.add(path, None, "holds no packages")
    problems.check()
    return Packages(path, hashlib.sha256(path.read_bytes()).hexdigest(), found)


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
