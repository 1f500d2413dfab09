"""Expert consulting tasks (VRS): a file of task packages and `<folder>/<agent>/<task id>.md` reports.

A package is a JSON object a line, `{"id", "prompt", "domain", "type", "verifiers", "solution", "trap"}`, or a row of a CSV
whose headers are those of the benchmark's own sheet (`task_id`, `Primary Prompt Type`, `Solution Logic`, `Sanity Check`,
`Verifiers`); header case does not matter. `verifiers` is a list of texts or one text with a check a line.
"""

# No `from __future__ import annotations`, for the reason given in `loader`.

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from dreambench.datasets.files import check_exists, rows
from dreambench.datasets.folders import SUFFIXES, read_file, read_folder
from dreambench.datasets.loader import Loader
from dreambench.datasets.material import Material
from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.datasets.sources import Paths, existing, required

NAMES: Mapping[str, Sequence[str]] = {
    "id": ("id", "task_id"),
    "prompt": ("prompt", "query"),
    "domain": ("domain",),
    "type": ("type", "primary prompt type"),
    "language": ("language",),
    "as_of": ("as_of",),
    "verifiers": ("verifiers",),
    "solution": ("solution", "solution logic"),
    "trap": ("trap", "sanity check"),
}
"""What a field of a package may be called, in lower case."""


def package_row(row: Row) -> Row:
    """The record under the names of NAMES, whatever its headers are called; other fields are left out."""
    lowered = {str(name).strip().casefold(): value for name, value in row.values.items()}
    found: dict[str, Any] = {}
    for name, known in NAMES.items():
        given = next((each for each in known if each in lowered), None)
        if given is not None:
            found[name] = lowered[given]
    return Row(row.path, row.line, found)


@dataclass(frozen=True, kw_only=True)
class VrsDataset(Loader):
    """`queries` is the file of task packages; `reports` holds a folder per agent, or the files of one `agent`."""

    title: ClassVar[str] = "vrs"

    reports: Paths = None
    queries: str | None = None
    agent: str | None = None

    def read(self, problems: Problems) -> Material:
        material = Material(self.title)
        queries = existing(self.queries, "dataset.queries", problems)
        if self.queries is None:
            problems.add("dataset.queries", None, "is required: the task packages", fix="dataset.queries=packages.jsonl")
        if queries:
            _read_tasks(queries, material, problems)
        if not (self.reports is None and self.tasks == "all"):
            for name in required(self.reports, "dataset.reports", problems):
                self._read_path(Path(name).expanduser(), material, problems)
        return material

    def _read_path(self, path: Path, material: Material, problems: Problems) -> None:
        if not check_exists(path, "dataset.reports", problems):
            return
        if path.is_dir():
            read_folder(path, self.agent, material, problems)
        elif path.suffix.lower() in SUFFIXES:
            read_file(path, self.agent or path.resolve().parent.name, material)
        else:
            problems.add(path, None, f"is no report: its name ends in {path.suffix or 'nothing'}", SUFFIXES)


def _read_tasks(path: Path, material: Material, problems: Problems) -> None:
    material.listed = str(path)
    count = 0
    for given in rows(path, problems):
        count += 1
        row = package_row(given)
        task_id, query = row.identifier("id", problems), row.text("prompt", problems)
        day = row.day("as_of", problems)
        if task_id is not None and query is not None:
            domain, language = row.label("domain"), row.label("language")
            material.add_task(task_id, query, row.place, domain=domain, language=language, as_of=day)
    if not count and not problems.concern(path):
        problems.add(path, None, "holds no tasks")
