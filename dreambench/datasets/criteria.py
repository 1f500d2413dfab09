"""Criteria that reports are scored by (RACE's, per query), as lists per task and dimension; the dimension is the "agent"."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from dreambench.datasets.demo import BUNDLED
from dreambench.datasets.listed import ListedItem, write_items
from dreambench.datasets.loader import Loader
from dreambench.datasets.material import Material
from dreambench.datasets.problems import Problems
from dreambench.metrics.race.criteria import read_criteria
from dreambench.metrics.race.formula import Criteria

DEMO_CRITERIA = BUNDLED / "criteria.jsonl"


@dataclass(frozen=True, kw_only=True)
class CriteriaDataset(Loader):
    """A criteria.jsonl in the benchmark's shape ({id, prompt, dimension_weight, criterions}); null: the demo's own."""

    title: ClassVar[str] = "criteria"

    path: str | None = None

    def read(self, problems: Problems) -> Material:
        file = Path(self.path).expanduser() if self.path else DEMO_CRITERIA
        found = read_criteria(str(file), "dataset.path")
        material = Material(self.title, listed=str(file))
        queries = {id(criteria): query for query, criteria in found.by_query.items()}
        for task_id, criteria in found.by_id.items():
            material.add_task(task_id, queries.get(id(criteria), ""), str(file))
            for dimension in criteria.lists:
                material.add_report(task_id, dimension, write_items(items_of(criteria, dimension)), str(file))
        return material


def items_of(criteria: Criteria, dimension: str) -> list[ListedItem]:
    """The criteria of one dimension; weights are shares of the whole task (dimension weight included)."""
    weight = criteria.weights[dimension]
    return [
        ListedItem(id=f"c{number}", text=f"{one.text}\n{one.explanation}".strip(), weight=round(weight * one.weight, 9))
        for number, one in enumerate(criteria.lists[dimension], 1)
    ]
