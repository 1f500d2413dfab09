"""The rubrics of `tasks_and_rubrics.jsonl`: per task its items by dimension, each once, and the source that is forbidden."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dreambench.datasets.files import check_exists, rows
from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.judges.kinds.rubric_items import DIMENSIONS, Source

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


@dataclass(frozen=True)
class Rubrics:
    """The rubrics of a file by task id (`idx`); `sha256` is of the file's bytes."""

    path: Path
    sha256: str
    by_task: Mapping[str, TaskRubric]


def read_rubrics(name: str, key: str) -> Rubrics:
    """Reads a task file; `key` is the config key that named it. Raises DatasetError with every problem."""
    problems = Problems()
    path = Path(name).expanduser()
    check_exists(path, key, problems)
    problems.check()
    found: dict[str, TaskRubric] = {}
    for row in rows(path, problems):
        idx = row.identifier("idx", problems)
        rubric = _read(row, problems)
        if idx is not None and rubric is not None:
            found.setdefault(idx, rubric)
    if not found and not problems.concern(path):
        problems.add(path, None, "holds no rubrics")
    problems.check()
    return Rubrics(path, hashlib.sha256(path.read_bytes()).hexdigest(), found)


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
