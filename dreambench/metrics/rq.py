"""Reasoning Quality (DREAM, METRICS 1.6): whether a report's reasoning holds where it is checked.

For each reasoning question of the task's protocol an agent follows the validation plan with tools and lists deductions.
The arithmetic is code: R = 10 minus the points of the deductions, at least 0; RQ = mean of R / 10. A deduction whose quoted
words cannot be verified was sent back once and is then dropped; it stands in the item table, without weight, as is every
deduction that counts (family `deduction`, value = its points / 10). A question of which rules could check nothing is
`unanswered` and no score: "nothing found" would be no finding.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import polars as pl

from dreambench.datasets.dataset import Dataset
from dreambench.engine.scope import current_cell
from dreambench.errors import CacheMissError, ConfigError, Problem, ProviderError, TransientError
from dreambench.evaluators.agent import AgentEvaluator, AgentLimits, AgentRun, Job, ToolTroubleError
from dreambench.evaluators.agent_trajectory import Trajectories
from dreambench.judges.judge import Judge
from dreambench.judges.kinds.deductions import DEDUCTION_KINDS, Answer, Deduction, unverified
from dreambench.judges.quotes import check_quote
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.asking import Failed, failed_row
from dreambench.metrics.judged_metric import JudgedMetric
from dreambench.metrics.kic import not_applicable
from dreambench.metrics.metric import MissingPolicy, Subject, Variant
from dreambench.protocols.model import RqItem
from dreambench.protocols.source import NoProtocols
from dreambench.records import Evidence, Judgment, Status, Task, item_id
from dreambench.tools.toolset import NoTools

HIGHEST = 10
POINTS: Mapping[str, float] = {
    "refuted_step": 3,
    "missing_step": 3,
    "unsupported_inference": 2,
    "ignored_counter_evidence": 2,
    "minor_gap": 1,
}
OPENING, CLOSING = "investigate", "deductions"
"""The rubrics that open and close an investigation."""
QUESTION, DEDUCTION = "question", "deduction"
NOTHING_CHECKED = "nothing_to_check"
"""Reason code of a question of which rules could check nothing."""


class ReasoningQuality(JudgedMetric):
    """RQ over the reasoning questions of the task's protocol."""

    id: ClassVar[str] = "rq"
    evaluator: ClassVar[str] = "agent"
    reads_document: ClassVar[bool] = False
    primary: ClassVar[str] = "mean"

    def __init__(
        self,
        *,
        name: str,
        shelf: RubricShelf,
        tools: NoTools,
        protocols: NoProtocols,
        trajectories: Trajectories,
        rubric: str = "default",
        points: dict[str, float] | None = None,
        limits: AgentLimits | None = None,
        repeats: int = 1,
        missing_policy: MissingPolicy = MissingPolicy.EXCLUDE,
    ) -> None:
        """Raises ConfigError: tools that cannot search, points for unknown deductions or below 0."""
        asked = {step: f"rq/{step}" for step in (OPENING, CLOSING)}
        super().__init__(name=name, shelf=shelf, asked=asked, rubric=rubric, repeats=repeats, missing_policy=missing_policy)
        self.tools = tools
        self.protocols = protocols
        protocols.want("rq")
        self._trajectories = trajectories
        self._points = {**POINTS, **(points or {})}
        self._agent = AgentEvaluator(tools=tools, limits=limits or AgentLimits())
        problems = _wrong_points(name, self._points)
        if not tools.searches:
            what = f"follows its plans with tools that search, and tools={tools.name} cannot"
            problems.append(Problem(f"metric.{name}", what, type="tools=corpus tools.path=PAGES"))
        if problems:
            raise ConfigError(*problems)

    def identity(self) -> Mapping[str, Any]:
        assert self.protocols is not None
        return {
            **super().identity(),
            "rubrics": self.rubric_hashes(),
            "points": self._points,
            **self._agent.identity(),
            **self.protocols.identity(),
        }

    def prepare(self, dataset: Dataset) -> list[Problem]:
        return undated(f"metric.{self.name}", dataset.tasks)

    async def measure(self, subject: Subject, judge: Judge | None, repeat: int) -> list[Judgment]:
        """One judgment per question and one per deduction; one row that says why where there is no protocol."""
        assert judge is not None and self.protocols is not None
        protocol = await self.protocols.get(subject.task, judge)
        trouble = protocol.rq_trouble() if protocol else "no_protocol"
        if protocol is None or trouble:
            return [not_applicable(subject, self.id, trouble or "")]
        work = (self._judge_one(subject, judge, repeat, item) for item in protocol.rq)
        results = await asyncio.gather(*work, return_exceptions=True)
        if failed := next((result for result in results if isinstance(result, BaseException)), None):
            raise failed
        return [row for rows in results if not isinstance(rows, BaseException) for row in rows]

    async def _judge_one(self, subject: Subject, judge: Judge, repeat: int, item: RqItem) -> list[Judgment]:
        plan = item.plan.model_dump()
        about = {"report": subject.report.text, "item": item.question, "plan": plan}
        job = Job(self.asked[OPENING], self.asked[CLOSING], subject.task.query, subject.task.as_of, about, about)
        try:
            run = await self._agent.run(judge, job, repeat=repeat)
        except CacheMissError:
            raise
        except TransientError as error:
            if isinstance(error, ProviderError) and error.fatal:
                raise
            status = Status.TOOL_ERROR if isinstance(error, ToolTroubleError) else Status.JUDGE_ERROR
            failed = Failed(status, getattr(error, "code", type(error).__name__), str(error))
            return [failed_row(item_id(subject.task.id, item.question), QUESTION, "", failed)]
        kept = self._trajectories.keep(f"{current_cell().id or subject.report.id}-{item.id}", run.trajectory)
        return self._rows(subject, item, run, kept)

    def _rows(self, subject: Subject, item: RqItem, run: AgentRun, kept: Evidence) -> list[Judgment]:
        assert isinstance(run.answer, Answer)
        checked = [(one, unverified(one, subject.report.text, run.trajectory.steps) or "") for one in run.answer.deductions]
        counted = [one for one, why in checked if not why]
        grade = max(0.0, HIGHEST - sum(self._points[one.kind] for one in counted))
        dropped = len(checked) - len(counted)
        listed = ", ".join(f"-{self._points[one.kind]:g} {one.kind}" for one in counted) or "no deduction"
        note = f"; {dropped} dropped, their words could not be verified" if dropped else ""
        blind = run.answer.checked == 0 and not counted
        early = "" if run.trajectory.ended == "finished" else f"budget_{run.trajectory.ended}"
        question = Judgment(
            item_id(subject.task.id, item.question),
            QUESTION,
            "" if blind else f"{grade:g}",
            None if blind else grade / HIGHEST,
            Status.UNANSWERED if blind else Status.SCORED,
            reason_code=NOTHING_CHECKED if blind else early,
            rationale=f"{item.question} {listed}{note}. {run.answer.chain}",
            evidence=(kept,),
            cost=run.trajectory.money,
        )
        return [question, *(self._deduction_row(subject, item, one, why) for one, why in checked)]

    def _deduction_row(self, subject: Subject, item: RqItem, deduction: Deduction, why: str) -> Judgment:
        place = check_quote(deduction.quote, subject.report.text)
        start, end = (place.start, place.end) if place else (None, None)
        evidence = (Evidence(url=deduction.url, quote=deduction.evidence),) if deduction.url or deduction.evidence else ()
        return Judgment(
            item_id(subject.task.id, f"{item.question} {deduction.kind} {deduction.quote}", start, end),
            DEDUCTION,
            deduction.kind,
            None if why else min(1.0, self._points[deduction.kind] / HIGHEST),
            Status.UNANSWERED if why else Status.SCORED,
            weight=0.0,
            reason_code=why,
            rationale=f"{item.question} {deduction.reason}",
            report_start=start,
            report_end=end,
            evidence=evidence,
        )

    def variants(self) -> Sequence[Variant]:
        """The mean grade of the questions."""
        only = pl.col("family") == QUESTION
        return [Variant(self.primary, pl.col("value").sum(), pl.len(), micro=True, only=only)]


def undated(where: str, tasks: Sequence[Task]) -> list[Problem]:
    """A problem where tasks have no date: what searches must know up to when."""
    without = [task.id for task in tasks if task.as_of is None]
    if not without:
        return []
    more = f" and {len(without) - 1} more" if len(without) > 1 else ""
    what = f"searches, and task {without[0]}{more} has no date to search up to"
    return [Problem(where, what, ["a date of the tasks, or of the run"], "as_of=2025-01-01")]


def _wrong_points(name: str, points: Mapping[str, float]) -> list[Problem]:
    return [
        Problem(f"metric.{name}.points.{kind}", "is no kind of deduction", DEDUCTION_KINDS)
        if kind not in DEDUCTION_KINDS
        else Problem(f"metric.{name}.points.{kind}", f"{value:g} is below 0", ["0 to 10"])
        for kind, value in points.items()
        if kind not in DEDUCTION_KINDS or value < 0
    ]
