"""What the workflow metrics (Factuality, Citation Integrity, Domain Authoritativeness) have in common.

A `WorkflowMetric` asks a few questions of its own rubric folder, all in one wording, about what the run's tools find. A
`ClaimMetric` asks about the claims of a report: it cuts long reports in parts, extracts the claims of each, sends every
claim through a chain of its own (`ClaimChain`) and gives the labels that come out of it values.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from dreambench.evaluators.claims import Claim, Extracted, extract_claims, failed_extraction
from dreambench.evaluators.evidence import Pages
from dreambench.evaluators.parts import Part, cut_in_parts, shares
from dreambench.evaluators.verdicts import LabelValues, check_values, verdict_row
from dreambench.evaluators.workflow import together, total_cost
from dreambench.judges.judge import Judge
from dreambench.judges.kinds import Answer
from dreambench.judges.rubric import Rubric, RubricShelf
from dreambench.metrics.asking import Failed, ask
from dreambench.metrics.judged_metric import JudgedMetric
from dreambench.metrics.metric import MissingPolicy, Subject
from dreambench.records import Judgment
from dreambench.tools.toolset import NoTools

UNVERIFIABLE = "unverifiable"
"""The label that code gives where nothing could be read or found."""

M = TypeVar("M", bound="ClaimMetric")
T = TypeVar("T")


class WorkflowMetric(JudgedMetric):
    """A metric that asks `questions`, rubrics of the folder named like the metric, about what `tools` find."""

    evaluator: ClassVar[str] = "workflow"

    def __init__(
        self,
        *,
        name: str,
        shelf: RubricShelf,
        tools: NoTools,
        questions: Iterable[str],
        rubric: str,
        repeats: int,
        missing_policy: MissingPolicy,
    ) -> None:
        asked = {question: f"{self.id}/{question}" for question in questions}
        super().__init__(name=name, shelf=shelf, asked=asked, rubric=rubric, repeats=repeats, missing_policy=missing_policy)
        self.tools = self.sources = tools

    def identity(self) -> Mapping[str, Any]:
        return {
            **super().identity(),
            "rubrics": {rubric.name: rubric.sha256 for rubric in self.rubrics()},
            **self.sources.identity(),
        }


@dataclass(frozen=True, slots=True)
class Checked(Generic[T]):
    """One part of a report: how its claims came about, or why they could not, and what each claim's chain gave."""

    extracted: Extracted | Failed
    results: Sequence[T] = ()


class ClaimMetric(WorkflowMetric):
    """A workflow metric over claims. `verdict` is the question whose labels have `values`."""

    def __init__(
        self,
        *,
        verdict: str,
        values: Mapping[str, float | None],
        passages: int,
        passage_chars: int,
        part_chars: int,
        overlap_chars: int,
        **shared: Any,
    ) -> None:
        """Raises ConfigError for values that do not fit the labels of `verdict`."""
        super().__init__(**shared)
        self.values: LabelValues = dict(values)
        check_values(f"metric.{self.name}.values", self.values, self.asked[verdict], UNVERIFIABLE)
        self.passages, self.passage_chars = passages, passage_chars
        self.part_chars, self.overlap_chars = part_chars, overlap_chars

    def identity(self) -> Mapping[str, Any]:
        return {
            **super().identity(),
            "passages": [self.passages, self.passage_chars],
            "parts": [self.part_chars, self.overlap_chars],
            "values": self.values,
        }

    def unextracted(self, task_id: str, parts: Iterable[Checked[T]]) -> list[Judgment]:
        """The one row of a report of which a part could not be extracted; empty when all could."""
        failed = [part.extracted for part in parts if isinstance(part.extracted, Failed)]
        key = f"metric.{self.name}.part_chars"
        return [failed_extraction(task_id, one, key, self.part_chars) for one in failed[:1]]


def extracted(parts: Iterable[Checked[T]]) -> tuple[list[Extracted], float | None]:
    """How the claims of all parts came about, and what that cost."""
    found = [part.extracted for part in parts if isinstance(part.extracted, Extracted)]
    return found, total_cost(part.cost for part in found)


class ClaimChain(Generic[M]):
    """The stages that the claims of one report go through, each claim at its own pace."""

    def __init__(self, metric: M, subject: Subject, judge: Judge, repeat: int) -> None:
        self.metric = metric
        self.subject = subject
        self.task = subject.task
        self.pages = Pages(metric.sources, subject.task.as_of, metric.passage_chars)
        self._judge = judge
        self._repeat = repeat

    async def check_parts(self, rubric: Rubric, limit: int | None, check: Callable[[Claim], Awaitable[T]]) -> list[Checked[T]]:
        """Every part's claims, at most `limit` of the report, each checked as soon as its part is extracted."""
        parts = cut_in_parts(self.subject.document, self.metric.part_chars, self.metric.overlap_chars)
        limits = [None] * len(parts) if limit is None else shares(limit, parts)
        return await together(self._check_part(rubric, part, most, check) for part, most in zip(parts, limits, strict=True))

    async def _check_part(
        self, rubric: Rubric, part: Part, limit: int | None, check: Callable[[Claim], Awaitable[T]]
    ) -> Checked[T]:
        found = await extract_claims(self._judge, rubric, self.subject, part, limit, self._repeat)
        if isinstance(found, Failed):
            return Checked(found)
        return Checked(found, await together(check(claim) for claim in found.claims))

    async def ask(self, question: str, /, role: str = "judging", **context: Any) -> Answer | Failed:
        """The judge's answer to one of the metric's questions, as of the task's date."""
        rubric = self.metric.asked[question]
        return await ask(self._judge, rubric, repeat=self._repeat, role=role, as_of=self.subject.as_of, **context)

    def row(self, claim: Claim, label: str, rationale: str, cost: float | None, **more: Any) -> Judgment:
        """The row of a claim, or of `what` about it, with the label's value (`verdict_row`)."""
        return verdict_row(self.task.id, claim, label, self.metric.values[label], rationale, cost, **more)
