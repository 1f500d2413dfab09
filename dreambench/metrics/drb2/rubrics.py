"""The rubrics of `tasks_and_rubrics.jsonl`: per task its items by dimension, each once, and the source that is forbidden."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.judges.kinds.rubric_items import DIMENSIONS, Source
from dreambench.metrics.records_file import TaskRecords, read_records

_SHAPE = '{"content": {"rubric": {"info_recall": ["..."], "analysis": [], "presentation": []}}}'


@dataclass(frozen=True, slots=True)
class RubricItem:
    """One binary item; `id` is its number in the task's rubric, duplicates not counted (`i1`, `i2`, ...)."""

    id: str
    dimension: str
    text: str


@dataclass(frozen=True, slots=True)
class TaskRubric:
    """What one task asks; `blocked` is None where the task forbids no source."""

    items: tuple[RubricItem, ...]
    blocked: Source | None


def read_rubrics(name: str, key: str) -> TaskRecords[TaskRubric]:
    """The rubrics of a task file by `idx`; `key` is the config key that named it. Raises DatasetError with every problem."""
    path = Path(name).expanduser()
    return TaskRecords(path, *read_records(path, key, "rubrics", _add))


def _add(row: Row, found: dict[str, TaskRubric], problems: Problems) -> None:
    idx, rubric = row.identifier("idx", problems), _read(row, problems)
    if idx is not None and rubric is not None:
        found.setdefault(idx, rubric)


def _read(row: Row, problems: Problems) -> TaskRubric | None:
    content = row.values.get("content")
    rubric = content.get("rubric") if isinstance(content, Mapping) else None
    if not isinstance(content, Mapping) or not isinstance(rubric, Mapping):
        problems.add(row.path, row.line, "has no rubric", [_SHAPE])
        return None
    if strange := sorted(set(rubric) - set(DIMENSIONS)):
        problems.add(row.path, row.line, f"rubric has the dimension {strange[0]!r}", DIMENSIONS)
    texts: dict[tuple[str, str], None] = {}
    for dimension in DIMENSIONS:
        items = rubric.get(dimension, [])
        if not isinstance(items, list) or not all(isinstance(item, str) and item.strip() for item in items):
            problems.add(row.path, row.line, f"rubric.{dimension} is no list of texts", [_SHAPE])
            return None
        texts |= {(dimension, item): None for item in items}
    numbered = enumerate(texts, 1)
    return TaskRubric(tuple(RubricItem(f"i{n}", dimension, text) for n, (dimension, text) in numbered), _blocked(row, content))


def _blocked(row: Row, content: Mapping[str, Any]) -> Source | None:
    """The forbidden source; absent, null and empty fields are all "unknown"."""
    given = content.get("blocked")
    if not isinstance(given, Mapping):
        return None
    lists = {name: given.get(name) or [] for name in ("authors", "urls")}
    texts = {name: [str(each) for each in (found if isinstance(found, list) else [found])] for name, found in lists.items()}
    source = Source(title=str(given.get("title") or ""), **texts)
    return source if source.title or source.urls else None
