"""What a benchmark's file says about tasks: several records a task, found by task id, else by the text of the query.

A record that says the same again (a rerun that appended) is taken once; one that says something else is refused.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from dreambench.datasets.dataset import Dataset
from dreambench.datasets.files import check_exists, rows
from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.errors import Problem, nearest
from dreambench.records import Task


class Keyed(Protocol):
    """What a record gives: `key` tells the items of one task apart."""

    @property
    def key(self) -> str:
        """Unlike that of any other item of its task."""


T = TypeVar("T", bound=Keyed)


@dataclass
class Gold(Generic[T]):
    """The items of a file by task. `sha256` is of the file's bytes."""

    path: Path
    sha256: str
    by_id: dict[str, dict[str, T]] = field(default_factory=dict)
    by_query: dict[str, dict[str, T]] = field(default_factory=dict)

    def of(self, task: Task) -> list[T]:
        """The items of `task` in the order of the file; empty when the file has none."""
        found = self.by_id.get(task.id) or self.by_query.get(task.query.strip()) or {}
        return list(found.values())

    def all(self) -> list[T]:
        """Every item of every task."""
        groups = {id(group): group for group in (*self.by_id.values(), *self.by_query.values())}
        return [item for group in groups.values() for item in group.values()]


def read_gold(
    path: Path,
    key: str,
    read: Callable[[Row, Problems], Iterable[T]],
    *,
    id_field: str = "",
    query_field: str = "",
) -> Gold[T]:
    """The items of every record of a JSON lines or CSV file. Raises DatasetError with all problems.

    `read` adds what is wrong with a record to the problems; `key` is the config key that named the file. Records are of the
    task whose id stands in `id_field`, or whose query stands in `query_field`.
    """
    problems = Problems()
    check_exists(path, key, problems)
    problems.check()
    found: Gold[T] = Gold(path, hashlib.sha256(path.read_bytes()).hexdigest())
    for row in rows(path, problems):
        task_id = row.identifier(id_field, problems) if id_field and (not query_field or row.present(id_field)) else None
        query = (row.text(query_field, problems) or "").strip() if query_field and row.present(query_field) else ""
        if task_id is None and not query:
            if not problems.concern(path):
                problems.add(path, row.line, "names no task", [name for name in (id_field, query_field) if name])
            continue
        group = _group(found, task_id, query)
        for item in read(row, problems):
            known = group.setdefault(item.key, item)
            if known != item:
                problems.add(path, row.line, f"says other things about {item.key!r} than an earlier record")
    if not found.by_id and not found.by_query and not problems.concern(path):
        problems.add(path, None, "holds no records")
    problems.check()
    return found


def _group(found: Gold[T], task_id: str | None, query: str) -> dict[str, T]:
    known = found.by_id.get(task_id) if task_id is not None else found.by_query.get(query)
    group: dict[str, T] = known if known is not None else {}
    if task_id is not None:
        found.by_id[task_id] = group
    if query:
        found.by_query.setdefault(query, group)
    return group


def covers(gold: Gold[T], dataset: Dataset, where: str, what: str) -> list[Problem]:
    """A problem when the file says nothing about any task of the data set; tasks that it lacks are not applicable."""
    if any(gold.of(task) for task in dataset.tasks):
        return []
    known = [*gold.by_id, *gold.by_query]
    return [Problem(where, f"{gold.path.name} has no {what} for any task of the data set", known[:10])]


def one_agent(where: str, dataset: Dataset, saved: str = "verdicts") -> list[Problem]:
    """What is `saved` is one agent's: with several agents it would be given to all of them."""
    if len(dataset.agents) == 1:
        return []
    return [Problem(where, f"holds the {saved} of one agent, the data set has several", dataset.agents, "dataset.agents=AGENT")]


def no_report_by(agent: str, dataset: Dataset, where: str) -> Problem:
    """That the agent which `where` names as the one to compare with has no report; with the nearest that has."""
    near = nearest(agent, dataset.agents)
    what = f"no report is by {agent}" + (f"; did you mean {near}?" if near else "")
    return Problem(where, what, dataset.agents, f"{where}={near or dataset.agents[0]}")
