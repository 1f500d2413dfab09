"""Factuality (DREAM, METRICS 1.2): are a report's weightiest claims true, whatever the report itself cites?

Stages of the workflow, one chain per claim (`dreambench.evaluators.workflow`): extract at most N claims -> neutral search
queries -> search as of the task's date -> read the best pages -> two passes over their passages, one for what confirms and
one for what contradicts -> a judgment of what the passes found. Where neither pass found anything, or no page could be
read, the claim is `unverifiable` by code, with the reason.

F = (supported + 0.5 partially) / (supported + partially + contradicted); unverifiable claims are outside both. Beside it
`strict` counts them as 0, `verifiable_share` says how many could be decided. Fewer than `few` claims are flagged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import polars as pl
from pydantic import NonNegativeInt, PositiveInt

from dreambench.datasets.dataset import Dataset
from dreambench.errors import Problem
from dreambench.evaluators.claims import Claim, extraction_row, unplaced_rows
from dreambench.evaluators.evidence import Pool, best_hits, pool_of
from dreambench.evaluators.verdicts import label_variants
from dreambench.evaluators.workflow import StageFailed, need, together, total_cost
from dreambench.judges.judge import Judge
from dreambench.judges.kinds.entailment import Answer as Verdict
from dreambench.judges.kinds.entailment import Passage, unquoted_of
from dreambench.judges.kinds.queries import Answer as Queries
from dreambench.judges.kinds.queries import repeated_value
from dreambench.judges.rubric import RubricShelf
from dreambench.language.dates import find_dates
from dreambench.language.quantities import find_quantities
from dreambench.language.text import blank_out
from dreambench.metrics.asking import failed_row, reach
from dreambench.metrics.metric import MissingPolicy, Subject, Variant
from dreambench.metrics.workflow_metric import UNVERIFIABLE, Checked, ClaimChain, ClaimMetric, extracted
from dreambench.records import Judgment, Status, item_id
from dreambench.tools.results import Search
from dreambench.tools.toolset import NoTools

VALUES: Mapping[str, float | None] = {"supported": 1.0, "partially_supported": 0.5, "contradicted": 0.0, "unverifiable": None}
PASSES = ("confirming", "contradicting")
QUESTIONS = ("extract", "queries", *PASSES, "judgment")
UNDECIDED = "undecided"
"""Reason code of a claim that the final judgment could not decide."""


class Factuality(ClaimMetric):
    """F over at most `claims` claims, each checked against pages that a search finds."""

    id: ClassVar[str] = "factuality"
    primary: ClassVar[str] = "verifiable"

    def __init__(
        self,
        *,
        name: str,
        shelf: RubricShelf,
        tools: NoTools,
        rubric: str = "default",
        claims: PositiveInt = 30,
        few: NonNegativeInt = 5,
        queries: PositiveInt = 3,
        results: PositiveInt = 10,
        pages: PositiveInt = 3,
        passages: PositiveInt = 3,
        passage_chars: PositiveInt = 800,
        part_chars: PositiveInt = 100_000,
        overlap_chars: NonNegativeInt = 600,
        values: dict[str, float | None] | None = None,
        repeats: int = 1,
        missing_policy: MissingPolicy = MissingPolicy.EXCLUDE,
    ) -> None:
        """`passages` are shown per page; `part_chars` is the length from which a report is extracted in parts."""
        super().__init__(
            name=name,
            shelf=shelf,
            tools=tools,
            questions=QUESTIONS,
            verdict="judgment",
            rubric=rubric,
            values=values or VALUES,
            passages=passages,
            passage_chars=passage_chars,
            part_chars=part_chars,
            overlap_chars=overlap_chars,
            repeats=repeats,
            missing_policy=missing_policy,
        )
        self.claims, self.few, self.queries, self.results, self.best = claims, few, queries, results, pages

    def identity(self) -> Mapping[str, Any]:
        return {
            **super().identity(),
            "claims": self.claims,
            "few": self.few,
            "queries": self.queries,
            "results": self.results,
            "pages": self.best,
        }

    def prepare(self, dataset: Dataset) -> list[Problem]:
        """Tools that cannot search, and tasks without a date: what was known by when could not be told."""
        problems = []
        if not self.sources.searches:
            what = f"searches the web or a corpus, and tools={self.sources.name} cannot (bundled is none without own pages)"
            allowed = ["tools=corpus tools.path=PAGES", "a tools=web_... option", "tools=bundled with the demo"]
            problems.append(Problem(f"metric.{self.name}", what, allowed, "tools=corpus tools.path=PAGES"))
        if undated := [task.id for task in dataset.tasks if task.as_of is None]:
            shown = ", ".join(undated[:3]) + (f" and {len(undated) - 3} more" if len(undated) > 3 else "")
            what = f"searches as of a date, and {len(undated)} of {len(dataset.tasks)} tasks have none: {shown}"
            problems.append(Problem(f"metric.{self.name}", what, ["a date per task", "as_of="], "as_of=2025-06-30"))
        return problems

    async def measure(self, subject: Subject, judge: Judge | None, repeat: int) -> list[Judgment]:
        """One row per claim at its sentence, one on the extraction; one that says so when there is nothing to check."""
        assert judge is not None
        task = subject.task.id
        parts = await _Chain(self, subject, judge, repeat).check_report()
        if failed := self.unextracted(task, parts):
            return failed
        rows: dict[tuple[str, ...], Judgment] = {}
        for part in parts:
            for key, row in part.results:
                rows.setdefault(key, row)
        found, cost = extracted(parts)
        judgments = [*rows.values(), *unplaced_rows(task, "claim", found)]
        if not rows:
            row = Judgment(item_id(task, "no_claims"), "report", "", None, Status.NOT_APPLICABLE, reason_code="no_claims")
            judgments.append(row)
        return [*judgments, extraction_row(task, found, len(rows), cost, self.few)]

    def variants(self) -> Sequence[Variant]:
        """F over the claims that could be decided first; then all of them, how many were decided, and the labels."""
        value = pl.col("value")
        claims = pl.col("family") == "claim"
        return [
            Variant(self.primary, value.sum(), value.is_not_null().sum(), micro=True, only=claims),
            Variant("strict", value.sum(), pl.len(), micro=True, only=claims),
            Variant("verifiable_share", value.is_not_null().sum(), pl.len(), micro=True, only=claims),
            *label_variants(self.values, claims),
        ]


class _Chain(ClaimChain[Factuality]):
    async def check_report(self) -> list[Checked[tuple[tuple[str, ...], Judgment]]]:
        """Each part of the report, with its claims' keys and rows."""
        return await self.check_parts(self.metric.asked["extract"], self.metric.claims, self._check)

    async def _check(self, claim: Claim) -> tuple[tuple[str, ...], Judgment]:
        try:
            return claim.key, await self._stages(claim)
        except StageFailed as trouble:
            place = claim.place
            return claim.key, failed_row(claim.item(self.task.id), "claim", "", trouble.failed, place.start, place.end)

    async def _stages(self, claim: Claim) -> Judgment:
        queries, query_cost, query_note = await self._neutral_queries(claim)
        searches = await together(self._search(query) for query in queries)
        hits = best_hits(searches, self.metric.best)
        if not hits:
            why = f"nothing was found for: {'; '.join(queries)}{query_note}"
            return self.row(claim, UNVERIFIABLE, why, query_cost, reason_code="no_results")
        read = await together(self.pages.read(hit.url) for hit in hits)
        pool = await pool_of(read, [claim.text, *queries], self.metric.passages)
        note = f"{pool.note}{query_note}"
        if not pool.passages:
            return self.row(claim, UNVERIFIABLE, note, query_cost, reason_code="no_page", pool=pool)
        passes = await together(self._weigh(name, claim, pool.passages) for name in PASSES)
        cost = total_cost([query_cost, *(answer.cost for answer in passes)])
        telling = [answer for name, answer in zip(PASSES, passes, strict=True) if self._tells(name, answer)]
        if not telling:
            why = f"{note}: {' | '.join(answer.reason for answer in passes)}"
            return self.row(claim, UNVERIFIABLE, why, cost, reason_code="no_evidence", pool=pool)
        verdict = await self._weigh("judgment", claim, _told(pool, telling))
        cost = total_cost([cost, verdict.cost])
        code = UNDECIDED if verdict.label == UNVERIFIABLE else ""
        shown = [verdict, *telling]
        return self.row(claim, verdict.label, f"{note}: {verdict.reason}", cost, reason_code=code, pool=pool, answers=shown)

    async def _neutral_queries(self, claim: Claim) -> tuple[list[str], float | None, str]:
        """Different queries without the claimed value, their price, and a note where the judge's had to be cleaned."""
        wanted = self.metric.queries
        answer = need(await self.ask("queries", "extraction", claim=claim.text, question=self.task.query, count=wanted))
        assert isinstance(answer, Queries)
        given = _different(answer.queries)
        neutral = [query for query in given if repeated_value(claim.text, query) is None]
        leaking = len(given) - len(neutral)
        note = f"; left out: {leaking} of {len(given)} queries that repeat the claimed value" if leaking else ""
        return neutral[:wanted] or [without_value(claim.text)], answer.cost, note

    async def _search(self, query: str) -> Search:
        return need(await reach(self.metric.sources.web_search(query, self.task.as_of, self.metric.results)))

    async def _weigh(self, question: str, claim: Claim, passages: Sequence[Passage]) -> Verdict:
        answer = need(await self.ask(question, claim=claim.text, passages=list(passages)))
        assert isinstance(answer, Verdict)
        return answer

    def _tells(self, question: str, answer: Verdict) -> bool:
        return answer.label not in unquoted_of(self.metric.asked[question].settings)


def without_value(claim: str) -> str:
    """The claim with its amounts blanked out; with its dates where it has no amount (`repeated_value`)."""
    amounts = [(quantity.start, quantity.end) for quantity in find_quantities(claim)]
    hidden = blank_out(claim, amounts or [(date.start, date.end) for date in find_dates(claim)], " ")
    return " ".join(hidden.split())


def _different(queries: Sequence[str]) -> list[str]:
    """Each query once, apart from case and white space; the first of equal ones."""
    kept: dict[str, str] = {}
    for query in queries:
        if plain := " ".join(query.split()):
            kept.setdefault(plain.casefold(), plain)
    return list(kept.values())


def _told(pool: Pool, telling: Sequence[Verdict]) -> list[Passage]:
    """The passages that the passes point at, in the order of the pool; all where none can be told."""
    pointed = {passage.id for answer in telling if (passage := pool.passage_of(answer))}
    return [passage for passage in pool.passages if passage.id in pointed] or list(pool.passages)
