"""LiveResearchBench: report folders `<base>/<model>/qid_<qid>_report.md`, or the `reports_<time>.json` that lists them.

The lists hold absolute paths of the machine that made them. They are never opened as they stand: the tail of the path
is looked up under `root` (the list's own folder by default), so that a list cannot point outside of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from dreambench.datasets.fields import Fields
from dreambench.datasets.files import check_exists, rows, text
from dreambench.datasets.folders import SUFFIXES, read_text
from dreambench.datasets.loader import Loader
from dreambench.datasets.material import Material
from dreambench.datasets.problems import Problems
from dreambench.datasets.sources import Paths, existing, required
from dreambench.records import Task

_FILE = re.compile(r"qid_(?P<qid>.+)_report")
_PLACEHOLDER = re.compile(r"\{\{\s*(current_year|last_year|current_date|date)\s*\}\}")
_QUESTION = Fields(id="qid", query="question_no_placeholder")


@dataclass(frozen=True, kw_only=True)
class LiveResearchBenchDataset(Loader):
    """`reports` is a base folder, a list file or several; `queries` the questions, one row per question or checklist item.

    `{{current_year}}` and its like in a question are filled from the task's date; without one they stay and are a finding.
    """

    title: ClassVar[str] = "liveresearchbench"

    reports: Paths = None
    queries: str | None = None
    root: str | None = None

    def read(self, problems: Problems) -> Material:
        material = Material(self.title)
        queries = existing(self.queries, "dataset.queries", problems)
        root = existing(self.root, "dataset.root", problems)
        if not (self.reports is None and self.tasks == "all" and queries):
            for name in required(self.reports, "dataset.reports", problems):
                path = Path(name).expanduser()
                if check_exists(path, "dataset.reports", problems):
                    read = _read_base if path.is_dir() else _read_list
                    read(path, root or path.parent, material, problems)
        if queries:
            _read_questions(queries, material, problems)
        return material

    def complete(self, material: Material) -> None:
        for task in list(material.tasks.values()):
            filled = fill_placeholders(task)
            material.tasks[task.id] = filled
            if left := sorted(set(_PLACEHOLDER.findall(filled.query))):
                said = ", ".join(f"{{{{{name}}}}}" for name in left)
                material.find("placeholder", "", f"the query of task {task.id} holds {said}; set as_of to fill it", task.id)


def fill_placeholders(task: Task) -> Task:
    """The task with the date placeholders of its query filled from its date, if it has one."""
    day = task.as_of
    if day is None:
        return task
    values = {"current_year": str(day.year), "last_year": str(day.year - 1)}
    return replace(task, query=_PLACEHOLDER.sub(lambda found: values.get(found[1], day.isoformat()), task.query))


def _read_base(base: Path, _root: Path, material: Material, problems: Problems) -> None:
    before = len(material.reports)
    for model in sorted(entry for entry in base.iterdir() if entry.is_dir() and not entry.name.startswith(".")):
        for path in sorted(model.iterdir()):
            name = _FILE.fullmatch(path.stem)
            if name and path.suffix.lower() in SUFFIXES:
                _add(name["qid"], "", model.name, path, None, material)
            elif not path.name.startswith("."):
                material.find("skipped_file", str(path), "is not named qid_<qid>_report.md; left out")
    if len(material.reports) == before:
        problems.add(base, None, "holds no <model>/qid_<qid>_report.md")


def _read_list(path: Path, root: Path, material: Material, problems: Problems) -> None:
    content = text(path, problems)
    if content is None:
        return
    try:
        listed = json.loads(content)
    except json.JSONDecodeError as error:
        problems.add(path, error.lineno, f"is not JSON: {error.msg[0].lower()}{error.msg[1:]} at column {error.colno}")
        return
    entries = listed.get("reports") if isinstance(listed, dict) else None
    if not isinstance(entries, list):
        problems.add(path, None, "is no list of reports", ['{"metadata": {...}, "reports": [...]}'])
        return
    day = _run_date(listed.get("metadata"))
    for number, entry in enumerate(entries):
        place = f"reports[{number}]"
        keys = ("model_name", "query_id", "report_file_path")
        if not isinstance(entry, dict) or any(not isinstance(entry.get(key), str) for key in keys):
            problems.add(path, None, f"{place} needs the texts {', '.join(keys)}")
            continue
        found = remapped(entry["report_file_path"], root)
        if found is None:
            tail = "/".join(PurePosixPath(entry["report_file_path"].replace("\\", "/")).parts[-2:])
            what = f"{place} names {entry['report_file_path']}, and there is no {tail} in or below {root}"
            problems.add(path, None, what, fix="dataset.root=folder/that/holds/the/model/folders")
            continue
        query = entry.get("query")
        _add(entry["query_id"], query if isinstance(query, str) else "", entry["model_name"], found, day, material)


def remapped(recorded: str, root: Path) -> Path | None:
    """The file under `root` that ends in the longest tail of a recorded path; at least its folder and name must agree."""
    parts = PurePosixPath(recorded.replace("\\", "/")).parts
    inside = root.resolve()
    for tail in _tails(parts):
        candidate = root.joinpath(*tail)
        if candidate.is_file() and candidate.resolve().is_relative_to(inside):
            return candidate
    return None


def _tails(parts: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for start in range(1 if parts and parts[0] == "/" else 0, len(parts) - 1):
        yield parts[start:]


def _run_date(metadata: Any) -> date | None:
    """The day of a run whose questions were asked in real time; other questions have no date of their own."""
    if not isinstance(metadata, dict) or not metadata.get("use_realtime"):
        return None
    found = re.match(r"(\d{4})-?(\d{2})-?(\d{2})", str(metadata.get("timestamp", "")))
    try:
        return date(int(found[1]), int(found[2]), int(found[3])) if found else None
    except ValueError:
        return None


def _add(qid: str, query: str, model: str, path: Path, day: date | None, material: Material) -> None:
    if qid not in material.tasks:
        material.add_task(qid, query, str(path), as_of=day)
    content = read_text(path, qid, material)
    if content is not None:
        material.add_report(qid, model, content, str(path))


def _read_questions(path: Path, material: Material, problems: Problems) -> None:
    """Gives tasks their questions, unless a list of reports said what was really asked; adds the tasks nobody answered."""
    material.listed = str(path)
    seen: set[str] = set()
    for row in rows(path, problems):
        qid = row.identifier(_QUESTION.id, problems)
        name = _QUESTION.query if row.present(_QUESTION.query) else "question"
        if qid is None or qid in seen or (question := row.text(name, problems)) is None:
            continue
        seen.add(qid)
        task = material.tasks.get(qid)
        if task is None or not task.query:
            day = task.as_of if task else None
            material.tasks.pop(qid, None)
            material.add_task(qid, question, row.place, as_of=day)
    for qid in set(material.tasks) - seen:
        if not material.tasks[qid].query:
            del material.tasks[qid]
