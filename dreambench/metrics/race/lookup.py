"""Per-task records of a JSON lines file, found by task id, else by the exact text of the query."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from dreambench.datasets.files import check_exists, rows
from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.records import Task

T = TypeVar("T")


@dataclass
class ByTask(Generic[T]):
    """What a file says about tasks. `sha256` is of the file's bytes."""

    path: Path
    sha256: str
    by_id: dict[str, T] = field(default_factory=dict)
    by_query: dict[str, T] = field(default_factory=dict)

    def of(self, task: Task) -> T | None:
        """What the file says about `task`, None when it says nothing."""
        found = self.by_id.get(task.id)
        return self.by_query.get(task.query.strip()) if found is None else found


def read_by_task(name: str, key: str, read: Callable[[Row, Problems], T | None]) -> ByTask[T]:
    """Reads every record with `read`, which adds what is wrong to the problems.

    A task may be there twice when both records say the same (a rerun that wrote it again). Raises DatasetError with all
    problems; `key` is the config key that named the file.
    """
    problems = Problems()
    path = Path(name).expanduser()
    check_exists(path, key, problems)
    problems.check()
    found: ByTask[T] = ByTask(path, hashlib.sha256(path.read_bytes()).hexdigest())
    places: dict[str, str] = {}
    for row in rows(path, problems):
        task_id = row.identifier("id", problems) if row.present("id") else None
        query = row.label("prompt")
        if task_id is None and not query:
            problems.add(path, row.line, "names no task", ["id", "prompt"])
        value = read(row, problems)
        if value is None or (task_id is None and not query):
            continue
        known = found.by_id.get(task_id) if task_id is not None else found.by_query.get(query)
        first = places.setdefault(task_id or query, row.place)
        if known is not None and known != value:
            problems.add(path, row.line, f"says other things about task {task_id or query!r} than {first}")
        if task_id is not None:
            found.by_id[task_id] = value
        if query:
            found.by_query[query] = value
    if not found.by_id and not found.by_query:
        problems.add(path, None, "holds no records")
    problems.check()
    return found
