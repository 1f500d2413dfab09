"""DR3-Eval: `query.jsonl` beside the task folders, and reports under `<model>/<task>/final_report.md`.

The task folders (user files, sandbox pages) and the gold files are read by `metric=dr3` and `tools=sandbox`, not here.
"""

# No `from __future__ import annotations`, for the reason given in `loader`.

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from dreambench.datasets.files import check_exists, rows
from dreambench.datasets.folders import read_text
from dreambench.datasets.loader import Loader
from dreambench.datasets.material import Material
from dreambench.datasets.problems import Problems
from dreambench.datasets.sources import Paths, existing, required

REPORT = "final_report.md"
ID_FIELDS = ("task", "number", "id")


@dataclass(frozen=True, kw_only=True)
class Dr3Dataset(Loader):
    """`reports` is a folder of models as a run leaves it (`result/<batch>/<dataset>/<size>`), or a list of them."""

    title: ClassVar[str] = "dr3"

    reports: Paths = None
    queries: str | None = None

    def read(self, problems: Problems) -> Material:
        material = Material(self.title)
        query_file = existing(self.queries, "dataset.queries", problems)
        if query_file:
            _read_queries(query_file, material, problems)
        if self.reports is None and self.tasks == "all" and query_file:
            return material
        for name in required(self.reports, "dataset.reports", problems):
            path = Path(name).expanduser()
            if check_exists(path, "dataset.reports", problems):
                _read_models(path, material, problems)
        return material


def _read_queries(path: Path, material: Material, problems: Problems) -> None:
    material.listed = str(path)
    language = "zh" if path.parent.name.endswith("_zh") else ""
    for row in rows(path, problems):
        name = next((field for field in ID_FIELDS if row.present(field)), ID_FIELDS[0])
        task_id, query = row.identifier(name, problems), row.text("query", problems)
        if task_id is not None and query is not None:
            material.add_task(task_id, query, row.place, language=language)


def _read_models(base: Path, material: Material, problems: Problems) -> None:
    found = sorted(base.glob(f"*/*/{REPORT}")) if base.is_dir() else []
    if not found:
        problems.add(base, None, f"holds no <model>/<task>/{REPORT}")
    for path in found:
        task_id, model = path.parent.name, path.parent.parent.name
        joined = material.join(task_id, None, str(path))
        content = read_text(path, task_id, material) if joined is not None else None
        if joined is not None and content is not None:
            material.add_report(joined, model, content, str(path))
