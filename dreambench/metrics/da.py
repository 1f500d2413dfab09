"""Domain Authoritativeness (DREAM, METRICS 1.4): how authoritative the sources are that a report cites.

Every registrable domain of the cited URLs counts once per report: DA = mean(S / 10), S an integer 1-10 given by the judge
(9-10 definitive, 7-8 high, 4-6 moderate, 1-3 low). A report without citations scores 0 in the primary variant and has no
value in `citing_only`. A domain is judged on its name and, where the tools can open it, its about page: neither depends on
the report, so each domain is judged once per judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import polars as pl

from dreambench.documents import registrable_domain
from dreambench.evaluators.workflow import together
from dreambench.judges.judge import Judge
from dreambench.judges.kinds import Answer
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.asking import Failed, ask, failed_row, reach
from dreambench.metrics.metric import MissingPolicy, Subject, Variant
from dreambench.metrics.workflow_metric import WorkflowMetric
from dreambench.records import Evidence, Judgment, item_id
from dreambench.tools.toolset import NoTools, Visit

HIGHEST = 10
QUESTION = "authority"
NO_CITATIONS = "no_citations"


class DomainAuthoritativeness(WorkflowMetric):
    """DA over the distinct registrable domains that a report cites."""

    id: ClassVar[str] = "da"
    primary: ClassVar[str] = "mean"

    def __init__(
        self,
        *,
        name: str,
        shelf: RubricShelf,
        tools: NoTools,
        rubric: str = "default",
        repeats: int = 1,
        missing_policy: MissingPolicy = MissingPolicy.EXCLUDE,
    ) -> None:
        super().__init__(
            name=name,
            shelf=shelf,
            tools=tools,
            questions=[QUESTION],
            rubric=rubric,
            repeats=repeats,
            missing_policy=missing_policy,
        )

    async def measure(self, subject: Subject, judge: Judge | None, repeat: int) -> list[Judgment]:
        """One judgment per cited domain, at the place where it is first cited; one row that says so when there is none."""
        assert judge is not None
        domains = _first_citations(subject)
        if not domains:
            return [Judgment(item_id(subject.task.id, NO_CITATIONS), "report", NO_CITATIONS, 0.0)]
        return await together(self._judge_one(subject, judge, repeat, domain, span) for domain, span in domains.items())

    async def _judge_one(self, subject: Subject, judge: Judge, repeat: int, domain: str, span: tuple[int, int]) -> Judgment:
        visit = await reach(self.sources.page_visit(f"https://{domain}/about", subject.task.as_of))
        if isinstance(visit, Failed):
            return self._row(subject, domain, span, visit)
        about = visit.page.text if visit.page else ""
        answer = await ask(judge, self.asked[QUESTION], repeat=repeat, domain=domain, about=about)
        row = self._row(subject, domain, span, answer)
        if visit.page is None:  # judged by its name alone: the row says why
            return row if isinstance(answer, Failed) else replace(row, reason_code=visit.reason_code)
        return replace(row, evidence=(_evidence(visit),))

    def _row(self, subject: Subject, domain: str, span: tuple[int, int], answer: Answer | Failed) -> Judgment:
        item = item_id(subject.task.id, domain)
        start, end = span
        if isinstance(answer, Failed):
            return failed_row(item, "domain", domain, answer, start, end)
        return Judgment(
            item,
            "domain",
            answer.category,  # type: ignore[attr-defined]
            answer.score / HIGHEST,  # type: ignore[attr-defined]
            rationale=f"{domain}: {answer.reason}",  # type: ignore[attr-defined]
            report_start=start,
            report_end=end,
            cost=answer.cost,
        )

    def variants(self) -> Sequence[Variant]:
        cited = pl.col("label") != NO_CITATIONS
        return [
            Variant("mean", pl.col("value").sum(), pl.len(), micro=True),
            Variant("citing_only", pl.col("value").filter(cited).sum(), cited.sum(), micro=True),
        ]


def _evidence(visit: Visit) -> Evidence:
    assert visit.page is not None
    published = visit.page.published.isoformat() if visit.page.published else ""
    return Evidence(url=visit.url, snapshot=visit.page.snapshot, published=published)


def _first_citations(subject: Subject) -> dict[str, tuple[int, int]]:
    """Each cited registrable domain with the span of its first citation, in the order of the text."""
    found: dict[str, tuple[int, int]] = {}
    for citation in subject.document.citations:
        if citation.url and (domain := registrable_domain(citation.url)):
            found.setdefault(domain, (citation.span.start, citation.span.end))
    return found
