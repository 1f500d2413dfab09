"""Files of LiveResearchBench: checklists, one row per item, and the gradings that its own evaluator saved, line by line.

Gradings are found by query and model together. The original's resume looks them up by query alone, so a second model is given
the first one's scores. A criterion that was graded again is appended; its last line counts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dreambench.datasets.files import check_exists, rows
from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.metrics.gold import Gold, read_gold
from dreambench.metrics.liveresearchbench.table import CHECKLISTS, DEPTH, EVEN, LOSE, PARTS, WIN, Part

SUFFIX = "_grading_results"
NAMES: Mapping[str, Part] = {**{part: part for part in PARTS}, "citation": "citation_association"}
WINNERS = {"evaluated_model": WIN, "reference_model": LOSE, "tie": EVEN}


@dataclass(frozen=True, slots=True)
class ChecklistItem:
    """One thing that a report has to cover, with the placeholders of its dates where it has any."""

    text: str

    @property
    def key(self) -> str:
        """What tells the items of a task apart: their text."""
        return self.text


def read_checklists(path: Path, key: str) -> Gold[ChecklistItem]:
    """Items by `qid`. Raises DatasetError with every problem."""
    return read_gold(path, key, _item, id_field="qid")


def _item(row: Row, problems: Problems) -> Iterator[ChecklistItem]:
    name = "checklist_no_placeholder" if row.present("checklist_no_placeholder") else "checklist"
    text = row.text(name, problems)
    if text and text.strip():
        yield ChecklistItem(text.strip())


@dataclass
class Gradings:
    """Raw grading results by (query, model) and part. `sha256` is over the files' names and bytes."""

    path: Path
    sha256: str
    found: dict[tuple[str, str], dict[Part, dict[str, Any]]] = field(default_factory=dict)

    @property
    def models(self) -> list[str]:
        """The models whose reports were graded, sorted."""
        return sorted({model for _, model in self.found})

    def of(self, query: str, model: str) -> dict[Part, dict[str, Any]]:
        """What was graded of a model's report, by part."""
        return self.found.get((query, model), {})


def read_gradings(path: Path, key: str) -> Gradings:
    """The lines of `incremental/<criterion>_results.jsonl`, of one file or a folder of them. Raises DatasetError."""
    problems = Problems()
    check_exists(path, key, problems)
    problems.check()
    files = sorted(path.glob("*_results.jsonl")) if path.is_dir() else [path]
    if not files:
        problems.add(key, None, f"{path} holds no <criterion>_results.jsonl")
    digest = hashlib.sha256()
    gradings = Gradings(path, "")
    for file in files:
        digest.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
        for row in rows(file, problems):
            _read_line(row, gradings, problems)
    problems.check()
    gradings.sha256 = digest.hexdigest()
    return gradings


def _read_line(row: Row, gradings: Gradings, problems: Problems) -> None:
    query, model = row.identifier("query_id", problems), row.text("model_name", problems)
    named = [name for name in row.values if name.endswith(SUFFIX)]
    if not named:
        problems.add(row.path, row.line, f"has no field <criterion>{SUFFIX}", sorted(row.values))
    for name in named:
        part, result = NAMES.get(name.removesuffix(SUFFIX)), row.values[name]
        trouble = _trouble(part, result) if part else f"{name} is of no known criterion"
        if trouble:
            problems.add(row.path, row.line, trouble, sorted(NAMES) if not part else ())
        elif part and query is not None and model is not None:
            gradings.found.setdefault((query, model), {})[part] = result


def _trouble(part: Part, result: Any) -> str:
    """What keeps a grading from being used; empty when nothing does."""
    if not isinstance(result, dict):
        return f"{part}{SUFFIX} is no object"
    if part in CHECKLISTS:
        given = result.get("evaluations")
        fits = isinstance(given, dict) and all(isinstance(one, dict) and one.get("score") in (0, 1) for one in given.values())
        return "" if fits else f"{part}: evaluations need an object of {{score: 0 or 1}} per item"
    if part == DEPTH:
        winners = [result.get(f"winner_comparison_{number}") for number in (1, 2)]
        return "" if all(winner in WINNERS for winner in winners) else f"{part}: the winners are {winners}"
    score, total = result.get("score"), result.get("total_issues")
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (score, total))
    fits = numbers and isinstance(result.get("specific_issues"), list)
    return "" if fits else f"{part}: needs specific_issues, total_issues and score"


def issue_text(issue: Any) -> str:
    """A saved fault as a sentence: texts as they are, objects as JSON."""
    return issue if isinstance(issue, str) else json.dumps(issue, ensure_ascii=False, sort_keys=True)
