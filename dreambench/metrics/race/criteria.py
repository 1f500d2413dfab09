"""RACE's criteria: read from the benchmark's `criteria.jsonl`, or written by the judge for a new query.

Generated criteria are asked for by question alone, so every report to a task is scored by the same ones; weights of the
dimensions are sampled several times and averaged, then each dimension gets its criteria. All are stored like any answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field, ValidationError, field_validator

from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.judges.judge import Judge
from dreambench.judges.rubric import Rubric
from dreambench.metrics.asking import Failed, ask
from dreambench.metrics.race.formula import DIMENSIONS, Criteria, Criterion, averaged_weights
from dreambench.metrics.race.lookup import ByTask, read_by_task
from dreambench.records import Task

SUM_TOLERANCE = 0.01
ROLE = "criteria"
"""Under which the ledger lists the calls that write criteria."""


class _Listed(BaseModel):
    criterion: str = Field(min_length=1)
    explanation: str = ""
    weight: float = Field(gt=0, le=1)


class _Record(BaseModel):
    dimension_weight: dict[str, float]
    criterions: dict[str, list[_Listed]]

    @field_validator("dimension_weight", "criterions")
    @classmethod
    def _has_the_dimensions(cls, given: dict[str, Any]) -> dict[str, Any]:
        if set(given) != set(DIMENSIONS):
            raise ValueError(f"has {', '.join(sorted(given))}; needed are {', '.join(DIMENSIONS)}")
        return given

    @field_validator("dimension_weight")
    @classmethod
    def _weights_sum_to_one(cls, weights: dict[str, float]) -> dict[str, float]:
        _check_sum(list(weights.values()))
        return weights

    @field_validator("criterions")
    @classmethod
    def _lists_sum_to_one(cls, lists: dict[str, list[_Listed]]) -> dict[str, list[_Listed]]:
        for listed in lists.values():
            _check_sum([criterion.weight for criterion in listed])
        return lists


def _check_sum(weights: list[float]) -> None:
    if min(weights, default=0) < 0 or abs(sum(weights) - 1) > SUM_TOLERANCE:
        raise ValueError(f"weights sum to {sum(weights):g}, 1 is needed")


def read_criteria(name: str, key: str) -> ByTask[Criteria]:
    """The criteria of a file of {id, prompt, dimension_weight, criterions}. Raises DatasetError with all problems."""
    return read_by_task(name, key, _read_record)


def _read_record(row: Row, problems: Problems) -> Criteria | None:
    try:
        record = _Record.model_validate(row.values)
    except ValidationError as error:
        for item in error.errors(include_url=False, include_input=False):
            where = ".".join(str(part) for part in item["loc"])
            problems.add(row.path, row.line, f"field {where!r}: {item['msg'].removeprefix('Value error, ')}")
        return None
    lists = {
        dimension: tuple(Criterion(c.criterion.strip(), c.weight, c.explanation.strip()) for c in record.criterions[dimension])
        for dimension in DIMENSIONS
    }
    return Criteria(record.dimension_weight, lists)


@dataclass(frozen=True, slots=True)
class CriteriaWriter:
    """Has a judge write criteria: `samples` calls for the weights, one call per dimension for its criteria."""

    weights: Rubric
    criteria: Rubric
    samples: int

    async def write(self, judge: Judge, task: Task) -> Criteria | Failed:
        """The criteria of a task; the same call for every report, so it is made once per judge."""
        asked = {"question": task.query, "as_of": task.as_of.isoformat() if task.as_of else None, "role": ROLE}
        answers = await asyncio.gather(
            *(ask(judge, self.weights, repeat=sample, **asked) for sample in range(self.samples)),
            *(ask(judge, self.criteria, repeat=0, dimension=dimension, **asked) for dimension in DIMENSIONS),
        )
        given: list[Any] = []
        for answer in answers:
            if isinstance(answer, Failed):
                return answer
            given.append(answer)
        samples = [{d: getattr(answer, d) for d in DIMENSIONS} for answer in given[: self.samples]]
        lists = {d: _scaled(answer) for d, answer in zip(DIMENSIONS, given[self.samples :], strict=True)}
        return Criteria(averaged_weights(samples), lists)


def _scaled(answer: Any) -> tuple[Criterion, ...]:
    """An answer's criteria with weights that sum to 1 exactly."""
    total = sum(criterion.weight for criterion in answer.criteria)
    return tuple(Criterion(c.criterion.strip(), c.weight / total, c.explanation.strip()) for c in answer.criteria)


def as_json(criteria: Criteria) -> list[Mapping[str, str]]:
    """The criteria as a judge is shown them: ids, texts and explanations, without weights."""
    return [
        {"id": name, "dimension": dimension, "criterion": criterion.text, "explanation": criterion.explanation}
        for name, (dimension, criterion) in criteria.by_id().items()
    ]
