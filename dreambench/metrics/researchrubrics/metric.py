"""ResearchRubrics as a metric: sum(w v) / sum of the positive w over a task's criteria; the benchmark is the mean over tasks.

v is 1 (satisfied), .5 (partly) or 0; a satisfied criterion of negative weight takes points away, so a report can fall below 0.
The original scores a call that failed as 0; here it is an error, and its report has no value until it is judged
(`missing_policy=zero` gives the original's number).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import PositiveInt

from dreambench.datasets.dataset import Dataset
from dreambench.datasets.demo import demo_file
from dreambench.errors import ConfigError, Problem
from dreambench.judges.judge import Judge
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.gold import Gold, covers, one_agent
from dreambench.metrics.graded import ask_items, check_labels, item_row, missing_run, not_applicable
from dreambench.metrics.judged_metric import SavedMetric
from dreambench.metrics.metric import MissingPolicy, Subject, Unit, Variant
from dreambench.metrics.researchrubrics.files import Saved, read_results, read_rubrics
from dreambench.records import Judgment, Status, item_id

VALUES: Mapping[str, float | None] = {"satisfied": 1.0, "partly": 0.5, "not_satisfied": 0.0}
CRITERION, SAVED = "criterion", "saved"


class ResearchRubrics(SavedMetric[Gold[Saved]]):
    """Compliance with weighted criteria, overall and by axis."""

    id: ClassVar[str] = "researchrubrics"
    axes: ClassVar[tuple[str, ...]] = ("rubric", "scale")
    primary: ClassVar[str] = "compliance"
    reads_document: ClassVar[bool] = False

    def __init__(
        self,
        *,
        name: str,
        shelf: RubricShelf,
        rubrics: str | None = None,
        scale: Literal["ternary", "binary"] = "ternary",
        batch: PositiveInt | None = 1,
        values: dict[str, float | None] | None = None,
        rubric: str = "default",
        saved: str | None = None,
        repeats: int = 1,
        missing_policy: MissingPolicy = MissingPolicy.EXCLUDE,
    ) -> None:
        """Raises DatasetError for a file that cannot be used, ConfigError without one or for values of other labels."""
        self._batch = batch
        self._scale = scale
        where = f"metric.{name}"
        if (rubrics is None) == (saved is None):
            what = "has neither criteria to judge by nor saved verdicts" if rubrics is None else "has both rubrics and saved"
            fix = f"{where}.rubrics=processed_data.jsonl or {where}.saved=results.jsonl"
            raise ConfigError(Problem(where, what, ["one of rubrics, saved"], fix))
        asked = {CRITERION: f"researchrubrics/{'criterion' if scale == 'ternary' else 'binary'}"}
        results = read_results(demo_file(saved, "researchrubrics_results.jsonl"), f"{where}.saved") if saved else None
        super().__init__(
            name=name, shelf=shelf, asked=asked, rubric=rubric, repeats=repeats, missing_policy=missing_policy, saved=results
        )
        labels = self.asked[CRITERION].settings["answers"]
        self._values = {label: VALUES[label] for label in labels} | (values or {})
        check_labels(f"{where}.values", self._values, self.asked[CRITERION])
        self._gold = read_rubrics(demo_file(rubrics, "researchrubrics.jsonl"), f"{where}.rubrics") if rubrics else None

    def distinctions(self) -> Sequence[str]:
        """Whether criteria are met or not, with nothing between."""
        return [self._scale] if self._scale == "binary" else []

    def identity(self) -> Mapping[str, Any]:
        if self._saved:
            return super().identity()
        assert self._gold is not None
        asked = {"rubric": self.asked[CRITERION].sha256, "criteria": self._gold.sha256}
        return {**super().identity(), **asked, "batch": self._batch, "values": self._values}

    def prepare(self, dataset: Dataset) -> list[Problem]:
        where = f"metric.{self.name}"
        if self._saved:
            return [*one_agent(f"{where}.saved", dataset), *covers(self._saved, dataset, f"{where}.saved", "verdicts")]
        assert self._gold is not None
        return covers(self._gold, dataset, f"{where}.rubrics", "criteria")

    async def measure(self, subject: Subject, judge: Judge | None, repeat: int) -> list[Judgment]:
        """One row per criterion; one row that says so for a task without criteria."""
        if self._saved:
            found = [_saved_row(subject, line) for line in self._saved.of(subject.task)]
            return found or [missing_run(subject, self._saved.path.name)]
        assert judge is not None and self._gold is not None
        criteria = self._gold.of(subject.task)
        if not criteria:
            return [not_applicable(subject, "no_rubrics")]
        texts = [criterion.text for criterion in criteria]
        given = await ask_items(judge, self.asked[CRITERION], subject, texts, repeat=repeat, batch=self._batch)
        return [
            item_row(subject, criterion.text, criterion.axis, answer, self._values, criterion.weight)
            for criterion, answer in zip(criteria, given, strict=True)
        ]

    def variants(self) -> Sequence[Variant]:
        """Compliance over all criteria first, then over those of each axis, then the share of points lost to penalties."""
        value, weight = pl.col("value"), pl.col("weight")
        earned, wanted = (value * weight).sum(), weight.filter(weight > 0).sum()
        axes = sorted({criterion.axis for criterion in self._gold.all()}) if self._gold else []
        lost = -(value * weight).filter(weight < 0).sum()
        return [
            Variant(self.primary, earned, wanted, unit=Unit.SIGNED, complete=True),
            Variant("penalties", lost, wanted, unit=Unit.COUNT, complete=True),
            *(
                Variant(axis, earned, wanted, unit=Unit.SIGNED, complete=True, only=pl.col("family") == axis)
                for axis in axes
                if axis not in (self.primary, "penalties")
            ),
        ]


def _saved_row(subject: Subject, line: Saved) -> Judgment:
    identity = item_id(subject.task.id, f"{SAVED} {line.text}")
    rationale = f"{line.text} ({line.reason})" if line.reason else line.text
    if line.score is None:
        status, code = Status.JUDGE_ERROR, "call_failed"
        return Judgment(identity, SAVED, "", None, status, weight=line.weight, reason_code=code, rationale=rationale)
    return Judgment(identity, SAVED, line.label, line.score, weight=line.weight, rationale=rationale)
