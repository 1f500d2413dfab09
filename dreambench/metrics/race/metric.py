"""RACE as a metric: criteria, a reference report, one call that scores both reports on everything, and the item table.

`strict` asks for an object with one required key per criterion: what is missing or out of range is sent back once, and an
answer that stays wrong is a judge_error. `compatible` asks for the original's free lists and handles what is odd in them
as DeepResearch Bench's scorer does (see `compatible`); scores are then not held to 0-10.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Literal

from pydantic import PositiveInt

from dreambench.datasets.dataset import Dataset
from dreambench.documents import parse_document
from dreambench.engine.compute import compute
from dreambench.errors import ConfigError, Problem
from dreambench.judges.judge import Judge
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.asking import Failed, ask, failed_row
from dreambench.metrics.gold import no_report_by, one_agent
from dreambench.metrics.judged_metric import SavedMetric
from dreambench.metrics.metric import MissingPolicy, Subject, Variant
from dreambench.metrics.race.article import without_citations
from dreambench.metrics.race.compatible import compatible_points
from dreambench.metrics.race.criteria import CriteriaWriter, as_json, read_criteria
from dreambench.metrics.race.formula import DIMENSIONS, Criteria, Point, strict_points
from dreambench.metrics.race.lookup import ByTask, read_by_task
from dreambench.metrics.race.saved import OVERALL, read_saved, saved_rows
from dreambench.metrics.race.table import TARGET, Side, empty_rows, point_rows, point_variants, saved_variants
from dreambench.records import Judgment, Status, Task, item_id

Mode = Literal["strict", "compatible"]
Order = Literal["target_first", "reference_first", "both"]
SIDES: Mapping[Order, tuple[Side, ...]] = {
    "target_first": ("first",),
    "reference_first": ("second",),
    "both": ("first", "second"),
}
"""Where the report under test is shown, one call each."""
SCORES, WEIGHTS, CRITERIA = "scores", "weights", "criteria"
NO_REFERENCE = "no_reference"
IS_REFERENCE = "is_the_reference"


class Race(SavedMetric[ByTask[Mapping[str, float]]]):
    """Overall and dimension shares of a report against a reference; .5 says that both are equally good."""

    id: ClassVar[str] = "race"
    axes: ClassVar[tuple[str, ...]] = ("rubric", "mode", "order")
    primary: ClassVar[str] = OVERALL
    saved_variant: ClassVar[str] = ""

    def __init__(
        self,
        *,
        name: str,
        shelf: RubricShelf,
        criteria: str | None = None,
        reference: str | None = None,
        reference_agent: str | None = None,
        order: Order = "target_first",
        mode: Mode = "strict",
        citations: Literal["strip", "keep"] = "strip",
        weight_samples: PositiveInt = 3,
        rubric: str = "default",
        saved: str | None = None,
        repeats: int = 1,
        missing_policy: MissingPolicy = MissingPolicy.EXCLUDE,
    ) -> None:
        """Raises DatasetError for a file that cannot be used, ConfigError for a reference that is missing or named twice."""
        asked = {SCORES: f"race/{'scores' if mode == 'strict' else 'lists'}"}
        asked |= {} if saved or criteria else {part: f"race/{part}" for part in (WEIGHTS, CRITERIA)}
        results = read_saved(saved, f"metric.{name}.saved") if saved else None
        super().__init__(
            name=name, shelf=shelf, asked=asked, rubric=rubric, repeats=repeats, missing_policy=missing_policy, saved=results
        )
        self.order, self.mode, self._strips = order, mode, citations == "strip"
        self._agent = reference_agent
        self._by_agent: dict[str, str] = {}
        self._writer: CriteriaWriter | None = None
        self._reference = self._criteria = None
        if self._saved:
            return
        if (reference is None) == (reference_agent is None):
            what = "is named twice: by file and by agent" if reference else "has no reference report to compare with"
            keys = [f"metric.{name}.reference=reports.jsonl", f"metric.{name}.reference_agent=AGENT"]
            raise ConfigError(Problem(f"metric.{name}", what, ["one of reference, reference_agent"], " or ".join(keys)))
        if reference:
            self._reference = read_by_task(
                reference, f"metric.{name}.reference", lambda row, problems: row.text("article", problems)
            )
        if criteria:
            self._criteria = read_criteria(criteria, f"metric.{name}.criteria")
        else:
            self._writer = CriteriaWriter(self.asked[WEIGHTS], self.asked[CRITERIA], weight_samples)

    def distinctions(self) -> Sequence[str]:
        """`both`, `compatible`: another order or mode than the usual."""
        return [self.order] * (self.order != "target_first") + [self.mode] * (self.mode != "strict")

    def identity(self) -> Mapping[str, Any]:
        if self._saved:
            return super().identity()
        return {
            **super().identity(),
            "rubrics": self.rubric_hashes(),
            "criteria": self._criteria.sha256 if self._criteria else None,
            "weight_samples": self._writer.samples if self._writer else None,
            "reference": self._reference.sha256 if self._reference else self._agent,
            "order": self.order,
            "mode": self.mode,
            "strips_citations": self._strips,
        }

    def prepare(self, dataset: Dataset) -> list[Problem]:
        where = f"metric.{self.name}"
        if self._saved:
            return one_agent(f"{where}.saved", dataset, "scores")
        problems = []
        if self._agent is not None:
            self._by_agent = {report.task_id: report.text for report in dataset.reports if report.agent == self._agent}
            if not self._by_agent:
                problems.append(no_report_by(self._agent, dataset, f"{where}.reference_agent"))
        elif not any(self._reference_of(task) for task in dataset.tasks):
            problems.append(Problem(f"{where}.reference", "holds no report to any task of the data set"))
        if self._criteria and (without := [task.id for task in dataset.tasks if not self._criteria.of(task)]):
            what = f"has no criteria for {len(without)} of {len(dataset.tasks)} tasks: {', '.join(without[:5])}"
            fix = f"{where}.criteria=null (the judge writes them)"
            problems.append(Problem(f"{where}.criteria", what, ["criteria for every task"], fix))
        return problems

    async def measure(self, subject: Subject, judge: Judge | None, repeat: int) -> list[Judgment]:
        """Two rows per criterion and call; one row that says so when there is nothing to compare or no usable answer."""
        if self._saved:
            return saved_rows(subject.task, self._saved)
        assert judge is not None
        reference = self._reference_of(subject.task)
        if reference is None or subject.report.agent == self._agent:
            return [_not_applicable(subject.task, NO_REFERENCE if reference is None else IS_REFERENCE)]
        criteria = await self._criteria_for(subject.task, judge)
        if isinstance(criteria, Failed):
            return [failed_row(item_id(subject.task.id, self.id), "report", TARGET, criteria)]
        target = without_citations(subject.document) if self._strips else subject.report.text
        other = await compute(_stripped, reference) if self._strips else reference
        sides = SIDES[self.order]
        answers = await asyncio.gather(
            *(self._compare(subject.task, judge, repeat, criteria, target, other, side) for side in sides)
        )
        rows: list[Judgment] = []
        for side, answer in zip(sides, answers, strict=True):
            if isinstance(answer, Failed):
                return [failed_row(item_id(subject.task.id, self.id), "report", TARGET, answer)]
            points, cost = answer
            rows += point_rows(subject.task.id, points, side, 1 / len(sides), cost)
        every = [point for answer in answers if not isinstance(answer, Failed) for point in answer[0]]
        return rows + empty_rows(subject.task.id, criteria, every)

    async def _compare(
        self, task: Task, judge: Judge, repeat: int, criteria: Criteria, target: str, reference: str, side: Side
    ) -> tuple[list[Point], float | None] | Failed:
        """One call: the points with `first` and `second` as the reports were shown, and what it cost."""
        answer = await ask(
            judge,
            self.asked[SCORES],
            repeat=repeat,
            question=task.query,
            as_of=task.as_of.isoformat() if task.as_of else None,
            first=target if side == "first" else reference,
            second=reference if side == "first" else target,
            criteria=as_json(criteria),
        )
        if isinstance(answer, Failed):
            return answer
        if self.mode == "compatible":
            return compatible_points(criteria, {d: getattr(answer, d) for d in DIMENSIONS}), answer.cost
        scores = {name: (c.first, c.second, c.reason) for name, c in answer.by_id().items()}  # type: ignore[attr-defined]
        return strict_points(criteria, scores), answer.cost

    async def _criteria_for(self, task: Task, judge: Judge) -> Criteria | Failed:
        found = self._criteria.of(task) if self._criteria else None
        if found is not None:
            return found
        assert self._writer is not None
        return await self._writer.write(judge, task)

    def _reference_of(self, task: Task) -> str | None:
        return self._reference.of(task) if self._reference else self._by_agent.get(task.id)

    def variants(self) -> Sequence[Variant]:
        if self._saved:
            return saved_variants()
        return point_variants(zero=self.mode == "compatible" or self.missing_policy is MissingPolicy.ZERO)


@lru_cache(maxsize=64)
def _stripped(text: str) -> str:
    return without_citations(parse_document(text))


def _not_applicable(task: Task, code: str) -> Judgment:
    return Judgment(item_id(task.id, code), "report", TARGET, None, Status.NOT_APPLICABLE, reason_code=code)
