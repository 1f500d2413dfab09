"""DeepResearch Bench II as a metric: a task's binary items are put to the judge in chunks, each with the whole report.

An answer is an object with a key per item; what it lacks is asked for once more, alone, and what is there is kept. Saved
results of the benchmark's own evaluator are taken as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import NonNegativeInt, PositiveInt

from dreambench.datasets.dataset import Dataset
from dreambench.datasets.demo import demo_file
from dreambench.errors import ConfigError, Problem, nearest
from dreambench.evaluators.workflow import lead_first
from dreambench.judges.judge import Judge
from dreambench.judges.kinds.checklist import Item
from dreambench.judges.kinds.rubric_items import DIMENSIONS
from dreambench.judges.quotes import check_quote
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.asking import Failed, Given, ask_keyed, failed_row
from dreambench.metrics.drb2.rubrics import RubricItem, TaskRubric, read_rubrics
from dreambench.metrics.drb2.saved import Saved, read_saved, saved_rows
from dreambench.metrics.drb2.table import TOTAL, identity, item_row, report_row, rubric_variants
from dreambench.metrics.drb2.traces import leakage_row, read_traces
from dreambench.metrics.judged_metric import SavedMetric
from dreambench.metrics.metric import MissingPolicy, Subject, Variant
from dreambench.records import Judgment, Status

Dimension = Literal["info_recall", "analysis", "presentation"]
ITEMS = "items"
NO_RUBRIC, WRONG_QUOTE, CUT = "no_rubric", "quote_not_found", "report_cut"


class DeepResearchBench2(SavedMetric[Saved]):
    """Share of satisfied items: in all, by dimension, and how many are satisfied only through the forbidden source."""

    id: ClassVar[str] = "drb2"
    axes: ClassVar[tuple[str, ...]] = ("rubric", "chunk")
    primary: ClassVar[str] = TOTAL
    saved_variant: ClassVar[str] = ""

    def __init__(
        self,
        *,
        name: str,
        shelf: RubricShelf,
        rubrics: str | None = None,
        chunk: NonNegativeInt = 50,
        dimensions: list[Dimension] | None = None,
        report_limit: PositiveInt = 150_000,
        traces: str | None = None,
        rubric: str = "default",
        saved: str | None = None,
        repeats: int = 1,
        missing_policy: MissingPolicy = MissingPolicy.EXCLUDE,
    ) -> None:
        """Raises DatasetError for files that cannot be used, ConfigError where there is nothing to judge by."""
        self._chunk, self._limit = chunk, report_limit
        self._dimensions = [each for each in DIMENSIONS if dimensions is None or each in dimensions]
        asked = {ITEMS: f"drb2/{'items' if 'presentation' in self._dimensions else 'content'}"}
        results = read_saved(saved, f"metric.{name}.saved") if saved else None
        super().__init__(
            name=name, shelf=shelf, asked=asked, rubric=rubric, repeats=repeats, missing_policy=missing_policy, saved=results
        )
        self._rubrics = read_rubrics(str(demo_file(rubrics, "drb2.jsonl")), f"metric.{name}.rubrics") if rubrics else None
        self._traces = read_traces(traces, f"metric.{name}.traces") if traces else None
        if self._saved is None and self._rubrics is None:
            fix = "dataset=drb2 dataset.queries=tasks_and_rubrics.jsonl"
            raise ConfigError(Problem(f"metric.{name}.rubrics", "is required: the items to judge", type=fix))
        if not self._dimensions:
            raise ConfigError(Problem(f"metric.{name}.dimensions", "is an empty list", DIMENSIONS))

    def distinctions(self) -> Sequence[str]:
        """`chunk=25`, `info_recall+analysis`: chunks of another size, and where not all dimensions are judged."""
        chunk = [f"chunk={self._chunk}"] if self._chunk != 50 else []
        return chunk + (["+".join(self._dimensions)] if len(self._dimensions) < len(DIMENSIONS) else [])

    def identity(self) -> Mapping[str, Any]:
        shared = {
            **super().identity(),
            "dimensions": self._dimensions,
            "rubrics": self._rubrics.sha256 if self._rubrics else None,
            "traces": self._traces.sha256 if self._traces else None,
        }
        if self._saved:
            return shared
        return {**shared, "rubric": self.asked[ITEMS].sha256, "chunk": self._chunk, "report_limit": self._limit}

    def prepare(self, dataset: Dataset) -> list[Problem]:
        where = f"metric.{self.name}"
        if self._saved:
            return [
                Problem(
                    f"{where}.saved", f"holds no result of {agent}", self._saved.agents, _renamed(agent, self._saved.agents)
                )
                for agent in dataset.agents
                if agent not in self._saved.agents
            ]
        assert self._rubrics is not None
        without = [task.id for task in dataset.tasks if task.id not in self._rubrics.by_task]
        if not without:
            return []
        what = f"has no rubric for {len(without)} of {len(dataset.tasks)} tasks: {', '.join(without[:5])}"
        return [Problem(f"{where}.rubrics", what, ["a rubric for every task"])]

    async def measure(self, subject: Subject, judge: Judge | None, repeat: int) -> list[Judgment]:
        """One row per item of the task, and one on leakage where traces are given."""
        rubric = self._rubrics.by_task.get(subject.task.id) if self._rubrics else None
        audited = self._audit(subject, rubric)
        if self._saved:
            return saved_rows(subject.task, subject.report.agent, self._saved, rubric) + audited
        assert judge is not None
        items = [item for item in rubric.items if item.dimension in self._dimensions] if rubric else []
        if rubric is None or not items:
            return [report_row(subject.task, Status.NOT_APPLICABLE, NO_RUBRIC), *audited]
        given = await self._all(subject, judge, repeat, rubric, items)
        return [self._row(subject, item, *given[item.id]) for item in items] + audited

    async def _all(
        self, subject: Subject, judge: Judge, repeat: int, rubric: TaskRubric, items: Sequence[RubricItem]
    ) -> dict[str, Given]:
        """Every chunk's verdicts; the first chunk goes ahead, so that the report is in the provider's prompt cache."""
        size = self._chunk or len(items)
        chunks = [items[start : start + size] for start in range(0, len(items), size)]
        parts = await lead_first(judge, lambda chunk: self._one(subject, judge, repeat, rubric, chunk), chunks)
        return {name: given for part in parts for name, given in part.items()}

    async def _one(
        self, subject: Subject, judge: Judge, repeat: int, rubric: TaskRubric, chunk: Sequence[RubricItem]
    ) -> dict[str, Given]:
        return await ask_keyed(
            judge,
            self.asked[ITEMS],
            {item.id: item.text for item in chunk},
            repeat=repeat,
            question=subject.task.query,
            as_of=subject.as_of,
            report=subject.report.text[: self._limit],
            cut=len(subject.report.text) > self._limit,
            blocked=rubric.blocked.model_dump() if rubric.blocked else None,
        )

    def _row(self, subject: Subject, item: RubricItem, answer: Item | Failed, cost: float | None) -> Judgment:
        if isinstance(answer, Failed):
            return failed_row(identity(subject.task, item), item.dimension, "", answer)
        text = subject.report.text
        quoted = answer.quote.strip()
        place = check_quote(answer.quote, text) if quoted else None
        code = WRONG_QUOTE if quoted and place is None else CUT if len(text) > self._limit else ""
        return item_row(
            subject.task,
            item,
            answer.answer,
            reason=answer.reason,
            quote=answer.quote,
            place=(place.start, place.end) if place else None,
            reason_code=code,
            cost=cost,
        )

    def _audit(self, subject: Subject, rubric: TaskRubric | None) -> list[Judgment]:
        if self._traces is None:
            return []
        return [leakage_row(subject.report, subject.document, rubric.blocked if rubric else None, self._traces)]

    def variants(self) -> Sequence[Variant]:
        return rubric_variants(self._dimensions, traced=self._traces is not None)


def _renamed(agent: str, known: Sequence[str]) -> str | None:
    near = nearest(agent, known)
    return f"mv {agent} {near}" if near else None
