"""Key points of DeepResearchGym (`<id>_aggregated.json`), and the labels that its own evaluator saved.

Saved files spell a rate `ommitted_rate` or `omitted_rate`; rates are computed from the labels here, so neither is read.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dreambench.datasets.files import check_exists, text
from dreambench.datasets.problems import Problems
from dreambench.metrics.gold import Gold

AGGREGATED = "_aggregated"
LABELS = {"supported": "supported", "omitted": "omitted", "ommitted": "omitted", "contradicted": "contradicted"}


@dataclass(frozen=True, slots=True)
class Point:
    """A key point; of a saved verdict also its label and why."""

    key: str
    text: str
    label: str = ""
    reason: str = ""


@dataclass
class Points(Gold[Point]):
    """Points by task; a task that is listed without any point is in `empty`."""

    empty: frozenset[str] = frozenset()


def read_points(folder: Path, key: str) -> Points:
    """The aggregated key points of a folder, found by the id in a file's name. Raises DatasetError with every problem."""
    problems = Problems()
    check_exists(folder, key, problems)
    problems.check()
    files = sorted(folder.glob(f"*{AGGREGATED}.json")) if folder.is_dir() else []
    if not files:
        problems.add(key, None, f"{folder} holds no <id>{AGGREGATED}.json")
    digest = hashlib.sha256()
    found = Points(folder, "")
    empty = set()
    for path in files:
        task_id = path.stem.removesuffix(AGGREGATED)
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
        content = _json(path, problems)
        if content is None:
            continue
        points = _points(path, content, problems)
        found.by_id[task_id] = {point.key: point for point in points}
        question = str(content.get("question") or "").strip()
        if question:
            found.by_query.setdefault(question, found.by_id[task_id])
        if not points:
            empty.add(task_id)
    problems.check()
    found.sha256, found.empty = digest.hexdigest(), frozenset(empty)
    return found


def read_labels(path: Path, key: str) -> Points:
    """The labels of `evaluation_results_kpr_<judge>.json`: {id: {labels: {number: [label, why]}}}. Raises DatasetError."""
    problems = Problems()
    check_exists(path, key, problems)
    problems.check()
    found = Points(path, hashlib.sha256(path.read_bytes()).hexdigest())
    empty = set()
    for task_id, result in (_json(path, problems) or {}).items():
        labels = result.get("labels") if isinstance(result, dict) else None
        if not isinstance(labels, dict):
            problems.add(path, None, f"{task_id} has no object 'labels'")
            continue
        found.by_id[task_id] = {}
        for number, given in labels.items():
            said = given if isinstance(given, list) else [given]
            label = LABELS.get(str(said[0]).strip().lower()) if said else None
            if label is None:
                problems.add(path, None, f"{task_id}: point {number} is {given!r}", ["Supported", "Omitted", "Contradicted"])
                continue
            reason = str(said[1]) if len(said) > 1 else ""
            found.by_id[task_id][number] = Point(number, f"point {number}", label, reason)
        if not labels:
            empty.add(task_id)
    problems.check()
    found.empty = frozenset(empty)
    return found


def _points(path: Path, content: dict[str, Any], problems: Problems) -> list[Point]:
    listed = content.get("key_points")
    if not isinstance(listed, list):
        problems.add(path, None, "field 'key_points' is no list; the aggregated file of the query is needed")
        return []
    points = []
    for place, entry in enumerate(listed):
        said = entry.get("point_content") if isinstance(entry, dict) else None
        if isinstance(said, str) and said.strip():
            points.append(Point(str(entry.get("point_number", place + 1)), said.strip()))
        else:
            problems.add(path, None, f"key_points[{place}] has no text 'point_content'")
    return points


def _json(path: Path, problems: Problems) -> dict[str, Any] | None:
    content = text(path, problems)
    if content is None:
        return None
    try:
        value = json.loads(content)
    except json.JSONDecodeError as error:
        problems.add(path, error.lineno, f"is not JSON: {error.msg[0].lower()}{error.msg[1:]} at column {error.colno}")
        return None
    if not isinstance(value, dict):
        problems.add(path, None, "is no JSON object")
        return None
    return value
