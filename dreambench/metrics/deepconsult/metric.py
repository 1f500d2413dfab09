"""DeepConsult as a metric: each report of the data set is a candidate, compared with the baseline's report to the same task.

Both orders, `trials` calls each (3: six calls a report). Links are taken out of both reports first, as in the original; numeric
markers stay. A call that fails leaves its report without a value, where the original drops the call or the whole question.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import PositiveInt

from dreambench.datasets.dataset import Dataset
from dreambench.datasets.demo import demo_file
from dreambench.documents.urls import link_target
from dreambench.errors import Problem
from dreambench.evaluators.workflow import together
from dreambench.judges.judge import Judge
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.asking import Failed, ask, failed_row
from dreambench.metrics.deepconsult.votes import (
    CANDIDATE,
    DIMENSIONS,
    ORDERS,
    SCORE,
    Order,
    Vote,
    read_results,
    vote_row,
    vote_variants,
    winner,
)
from dreambench.metrics.gold import Gold, no_report_by
from dreambench.metrics.graded import missing_run, not_applicable
from dreambench.metrics.judged_metric import SavedMetric
from dreambench.metrics.metric import MissingPolicy, Subject, Variant
from dreambench.records import Judgment, item_id

_LABEL = re.compile(r"!?\[[^\[\]\n]{0,1000}\](?=\()")
PREFERENCE = "preference"


class DeepConsult(SavedMetric[Gold[Vote]]):
    """Score, wins, ties and losses of a candidate against the baseline, overall and on four dimensions."""

    id: ClassVar[str] = "deepconsult"
    axes: ClassVar[tuple[str, ...]] = ("rubric",)
    primary: ClassVar[str] = SCORE
    reads_document: ClassVar[bool] = False

    def __init__(
        self,
        *,
        name: str,
        shelf: RubricShelf,
        baseline: str = "baseline",
        trials: PositiveInt = 3,
        links: Literal["strip", "keep"] = "strip",
        rubric: str = "default",
        saved: str | None = None,
        repeats: int = 1,
        missing_policy: MissingPolicy = MissingPolicy.EXCLUDE,
    ) -> None:
        """Raises DatasetError for a saved file that cannot be used."""
        asked = {PREFERENCE: f"deepconsult/{PREFERENCE}"}
        results = read_results(demo_file(saved, "deepconsult_results.jsonl"), f"metric.{name}.saved") if saved else None
        super().__init__(
            name=name, shelf=shelf, asked=asked, rubric=rubric, repeats=repeats, missing_policy=missing_policy, saved=results
        )
        self._baseline, self._trials, self._strips = baseline, trials, links == "strip"
        self._texts: dict[str, str] = {}

    def identity(self) -> Mapping[str, Any]:
        shared = {**super().identity(), "baseline": self._baseline}
        if self._saved:
            return shared
        return {**shared, "rubric": self.asked[PREFERENCE].sha256, "trials": self._trials, "strips_links": self._strips}

    def prepare(self, dataset: Dataset) -> list[Problem]:
        where = f"metric.{self.name}"
        others = [agent for agent in dataset.agents if agent != self._baseline]
        if self._saved:
            what = "holds the verdicts on one candidate, the data set has others"
            return [] if len(others) == 1 else [Problem(f"{where}.saved", what, others, "dataset.agents=[BASELINE,CANDIDATE]")]
        self._texts = {report.task_id: report.text for report in dataset.reports if report.agent == self._baseline}
        if self._texts:
            return []
        return [no_report_by(self._baseline, dataset, f"{where}.baseline")]

    async def measure(self, subject: Subject, judge: Judge | None, repeat: int) -> list[Judgment]:
        """One row per dimension, order and trial; one row that says so where there is nothing to compare."""
        if subject.report.agent == self._baseline:
            return [not_applicable(subject, "is_the_baseline")]
        if self._saved:
            found = [vote_row(subject.task.id, vote) for vote in self._saved.of(subject.task)]
            return found or [missing_run(subject, self._saved.path.name)]
        assert judge is not None
        baseline = self._texts.get(subject.task.id)
        if baseline is None:
            return [not_applicable(subject, "no_baseline")]
        calls = list(itertools.product(ORDERS, range(self._trials)))
        rows = await together(self._compare(subject, judge, baseline, order, repeat, trial) for order, trial in calls)
        return list(itertools.chain.from_iterable(rows))

    async def _compare(
        self, subject: Subject, judge: Judge, baseline: str, order: Order, repeat: int, trial: int
    ) -> list[Judgment]:
        """The rows of one call. Trials of one repeat are told apart in the cache like repeats."""
        texts = [self._shown(baseline), self._shown(subject.report.text)]
        first, second = texts if order == ORDERS[0] else reversed(texts)
        task = subject.task
        answer = await ask(
            judge,
            self.asked[PREFERENCE],
            repeat=repeat * self._trials + trial,
            question=task.query,
            as_of=subject.as_of,
            first=first,
            second=second,
            criteria=self._criteria(),
        )
        if isinstance(answer, Failed):
            items = {d: item_id(task.id, Vote(d, order, trial + 1, CANDIDATE, 0).key) for d in DIMENSIONS}
            return [failed_row(item, dimension, "", answer) for dimension, item in items.items()]
        rows = []
        for number, (dimension, given) in enumerate(answer.by_id().items()):  # type: ignore[attr-defined]
            preferred = winner(given.preferred, order)
            cost = None if number else answer.cost
            rows.append(vote_row(task.id, Vote(dimension, order, trial + 1, preferred, given.gap, given.reason, cost)))
        return rows

    def _criteria(self) -> list[dict[str, str]]:
        wording = self.asked[PREFERENCE].settings.get("criteria", {})
        return [{"id": d, "dimension": d, "criterion": str(wording.get(d, d.replace("_", " ")))} for d in DIMENSIONS]

    def _shown(self, text: str) -> str:
        return without_links(text) if self._strips else text

    def variants(self) -> Sequence[Variant]:
        return vote_variants()


def without_links(text: str) -> str:
    """The text without its markdown links, their words included; other markers and bare addresses stay."""
    pieces, position = [], 0
    for label in _LABEL.finditer(text):
        target = link_target(text, label.end()) if label.start() >= position else None
        if target is not None:
            pieces.append(text[position : label.start()])
            position = target[1]
    return "".join([*pieces, text[position:]])
