"""Labels of listed items: criteria sorted into classes, protocol items rated on a scale. Needs no Python to extend.

The "report" is a list of items (see `datasets.listed`): what is judged here is the material of an evaluation, not an answer to
a query. A question is a rubric `<folder>/<question>.<rubric>` of kind `classify_items`; all items of a list are one call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import polars as pl

from dreambench.datasets.dataset import Dataset
from dreambench.datasets.listed import ListedItem, read_items
from dreambench.errors import ConfigError, Problem
from dreambench.evaluators.workflow import together
from dreambench.judges.judge import Judge
from dreambench.judges.kinds import classify_items
from dreambench.judges.rubric import Rubric, RubricShelf
from dreambench.metrics.asking import Failed, ask, failed_row
from dreambench.metrics.judged_metric import JudgedMetric
from dreambench.metrics.metric import MissingPolicy, Subject, Variant
from dreambench.records import Judgment, Status, item_id

NO_LABEL = "none"


class ItemLabels(JudgedMetric):
    """With `values`, the mean of the labels' values; without, the share of every label (`none` is a label like any other)."""

    evaluator: ClassVar[str] = "llm"
    reads_document: ClassVar[bool] = False

    def __init__(
        self,
        *,
        name: str,
        shelf: RubricShelf,
        id: str,  # noqa: A002  (the key that people type)
        folder: str,
        questions: list[str],
        values: dict[str, float] | None = None,
        rubric: str = "default",
        repeats: int = 1,
        missing_policy: MissingPolicy = MissingPolicy.EXCLUDE,
    ) -> None:
        """Raises ConfigError for a rubric of another kind, or a label without a value."""
        asked = {question: f"{folder}/{question}" for question in questions}
        super().__init__(name=name, shelf=shelf, asked=asked, rubric=rubric, repeats=repeats, missing_policy=missing_policy)
        self.id = id  # type: ignore[misc]
        self.primary = "mean" if values else "placed"  # type: ignore[misc]
        self._values = values
        _check(name, self.asked, values)

    def identity(self) -> Mapping[str, Any]:
        return {
            **super().identity(),
            "rubrics": {question: rubric.sha256 for question, rubric in self.asked.items()},
            "values": self._values,
        }

    def prepare(self, dataset: Dataset) -> list[Problem]:
        if all(read_items(report.text) is not None for report in dataset.reports):
            return []
        what = "labels lists of items, and the data set holds reports"
        return [Problem(f"metric.{self.name}", what, ["dataset=criteria", "dataset=protocol_items"], "dataset=criteria")]

    async def measure(self, subject: Subject, judge: Judge | None, repeat: int) -> list[Judgment]:
        """One judgment per item and question."""
        assert judge is not None
        items = read_items(subject.report.text)
        assert items is not None
        asked = await together(self._ask(subject, judge, repeat, question, items) for question in self.asked)
        return [row for rows in asked for row in rows]

    async def _ask(
        self, subject: Subject, judge: Judge, repeat: int, question: str, items: Sequence[ListedItem]
    ) -> list[Judgment]:
        task = subject.task
        asked = {"question": task.query, "as_of": subject.as_of, "items": {item.id: item.text for item in items}}
        answer = await ask(judge, self.asked[question], repeat=repeat, **asked)
        if isinstance(answer, Failed):
            return [failed_row(item_id(task.id, item.text), question, "", answer) for item in items]
        assert isinstance(answer, classify_items.Answer)
        given = answer.by_id()
        share = None if answer.cost is None else answer.cost / len(items)
        return [self._row(task.id, question, item, given[item.id], share) for item in items]

    def _row(self, task: str, question: str, item: ListedItem, given: classify_items.Item, cost: float | None) -> Judgment:
        value = self._values[given.label] if self._values else 1.0
        said = f"{item.text.splitlines()[0]}\n{given.reason}"  # the heading, then the reason: studies show both
        return Judgment(
            item_id(task, item.text), question, given.label, value, Status.SCORED, item.weight, rationale=said, cost=cost
        )

    def variants(self) -> Sequence[Variant]:
        """`mean` and one mean per question; or `placed` (any label but `none`), then every label's share of items."""
        if self._values:
            parts = [(question, pl.col("family") == question) for question in self.asked]
            own = [Variant(question, pl.col("value").sum(), pl.len(), micro=True, only=only) for question, only in parts]
            return [Variant("mean", pl.col("value").sum(), pl.len(), micro=True), *own]
        labels = dict.fromkeys(label for rubric in self.asked.values() for label in classify_items.labels_of(rubric.settings))
        shares = [Variant(label, (pl.col("label") == label).sum(), pl.len(), micro=True) for label in labels]
        return [Variant("placed", (pl.col("label") != NO_LABEL).sum(), pl.len(), micro=True), *shares]


def _check(name: str, rubrics: Mapping[str, Rubric], values: Mapping[str, float] | None) -> None:
    problems = []
    for rubric in rubrics.values():
        if rubric.kind.name != classify_items.KIND.name:
            problems.append(
                Problem(f"metric.{name}", f"cannot ask {rubric.id} ({rubric.kind.name})", [classify_items.KIND.name])
            )
        elif values and (without := [label for label in classify_items.labels_of(rubric.settings) if label not in values]):
            problems.append(Problem(f"metric.{name}.values", f"has no value for the label {without[0]} of {rubric.id}"))
    if problems or not rubrics:
        raise ConfigError(*(problems or [Problem(f"metric.{name}.questions", "is empty")]))
