"""DeepResearchGym: a folder per system with `<id>.a` (the report), `<id>.q` (the query) and optional `<id>.u` (usage)."""

# No `from __future__ import annotations`, for the reason given in `loader`.

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from dreambench.datasets.fields import USUAL, read_tasks
from dreambench.datasets.files import check_exists, text
from dreambench.datasets.loader import Loader
from dreambench.datasets.material import Material
from dreambench.datasets.problems import Problems
from dreambench.datasets.sources import Paths, existing, required

REPORT, QUERY = ".a", ".q"
KNOWN = (REPORT, QUERY, ".u")


@dataclass(frozen=True, kw_only=True)
class DeepResearchGymDataset(Loader):
    """`reports` is a system's folder, a folder of such folders, or a list; `agent` names the only system of a flat folder.

    `queries` is an optional JSON lines file of {id, query}; without it the `.q` files say what was asked.
    """

    title: ClassVar[str] = "deepresearchgym"

    reports: Paths = None
    queries: str | None = None
    agent: str | None = None

    def read(self, problems: Problems) -> Material:
        material = Material(self.title)
        query_file = existing(self.queries, "dataset.queries", problems)
        if query_file:
            read_tasks(query_file, USUAL, material, problems)
        if self.reports is None and self.tasks == "all" and query_file:
            return material
        for name in required(self.reports, "dataset.reports", problems):
            path = Path(name).expanduser()
            if check_exists(path, "dataset.reports", problems):
                _read_base(path, self.agent, material, problems)
        return material


def _read_base(base: Path, agent: str | None, material: Material, problems: Problems) -> None:
    inside = sorted(base.iterdir()) if base.is_dir() else []
    systems = [entry for entry in inside if entry.is_dir() and any(entry.glob(f"*{REPORT}"))]
    if any(entry.suffix == REPORT for entry in inside):
        _read_system(base, agent or base.resolve().name, material, problems)
    elif systems:
        for system in systems:
            _read_system(system, system.name, material, problems)
    else:
        problems.add(base, None, f"holds no <id>{REPORT}, nor does any folder in it")


def _read_system(folder: Path, agent: str, material: Material, problems: Problems) -> None:
    for path in sorted(folder.iterdir()):
        if path.suffix == REPORT:
            asked = path.with_suffix(QUERY)
            query = text(asked, problems) if asked.is_file() else None
            content = text(path, problems)
            joined = material.join(path.stem, (query or "").strip() or None, str(path))
            if joined is not None and content is not None:
                material.add_report(joined, agent, content, str(path))
        elif path.suffix not in KNOWN and not path.name.startswith("."):
            material.find("skipped_file", str(path), f"is none of {', '.join(f'<id>{suffix}' for suffix in KNOWN)}; left out")
