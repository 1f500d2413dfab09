"""FACT as a metric: extract (fact, address) pairs, merge repetitions per page, open each page once, judge its facts at once.

A page that cannot be read leaves its facts `unknown` with the reason, without a paid call; our own trouble is a tool_error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import PositiveInt

from dreambench.datasets.dataset import Dataset
from dreambench.documents import normalize_url
from dreambench.errors import ConfigError, Problem
from dreambench.judges.judge import Judge
from dreambench.judges.kinds.extract_citations import is_in
from dreambench.judges.quotes import check_quote
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.asking import Failed, ask, reach
from dreambench.metrics.fact.pairs import CitedPage, by_page
from dreambench.metrics.fact.saved import LABELS, Stage, read_saved, saved_rows
from dreambench.metrics.fact.table import Verdict, fact_variants, failed_report, no_citations, verdict_row
from dreambench.metrics.gold import one_agent
from dreambench.metrics.graded import context_of
from dreambench.metrics.judged_metric import SavedMetric
from dreambench.metrics.metric import MissingPolicy, Subject, Variant
from dreambench.metrics.race.lookup import ByTask
from dreambench.records import Evidence, Judgment, Status
from dreambench.tools.page import Page
from dreambench.tools.toolset import NoTools

EXTRACT, VERIFY = "extract", "verify"
NOT_IN_REPORT = "url_not_in_report"
WRONG_QUOTE = "quote_not_found"
VALUES: Mapping[str, float | None] = {"supported": 1.0, "unsupported": 0.0, "unknown": None}


class Fact(SavedMetric[ByTask[tuple[Stage]]]):
    """Citation accuracy V/N, effective citations V/M and total citations N/M."""

    id: ClassVar[str] = "fact"
    evaluator: ClassVar[str] = "workflow"
    primary: ClassVar[str] = "accuracy"
    saved_variant: ClassVar[str] = ""

    def __init__(
        self,
        *,
        name: str,
        shelf: RubricShelf,
        tools: NoTools,
        values: dict[str, float | None] | None = None,
        page_limit: PositiveInt = 100_000,
        rubric: str = "default",
        saved: str | None = None,
        repeats: int = 1,
        missing_policy: MissingPolicy = MissingPolicy.EXCLUDE,
    ) -> None:
        """Raises DatasetError for a saved file that cannot be used, ConfigError for values that are no label's."""
        asked = {question: f"fact/{question}" for question in (EXTRACT, VERIFY)}
        results = read_saved(saved, f"metric.{name}.saved") if saved else None
        super().__init__(
            name=name, shelf=shelf, asked=asked, rubric=rubric, repeats=repeats, missing_policy=missing_policy, saved=results
        )
        self._values = {**VALUES, **(values or {})}
        self._limit = page_limit
        if strange := sorted(set(self._values) - set(LABELS)):
            raise ConfigError(Problem(f"metric.{name}.values.{strange[0]}", "is no label", LABELS))
        self._pages = tools
        if not self._saved:
            self.tools = tools

    def identity(self) -> Mapping[str, Any]:
        shared = {**super().identity(), "values": self._values}
        if self._saved:
            return shared
        return {**shared, "rubrics": self.rubric_hashes(), "page_limit": self._limit, **self._pages.identity()}

    def prepare(self, dataset: Dataset) -> list[Problem]:
        where = f"metric.{self.name}"
        if self._saved:
            return one_agent(f"{where}.saved", dataset, "citations")
        if "page_visit" not in self._pages.tools:
            what = f"opens the cited pages, which tools={self._pages.name} cannot"
            return [Problem(where, what, ["tools that open pages: corpus, pages, web_..."], "tools=pages")]
        return []

    async def measure(self, subject: Subject, judge: Judge | None, repeat: int) -> list[Judgment]:
        """One row per fact and page; one row that says so when nothing is cited or nothing could be extracted."""
        task = subject.task
        if self._saved:
            return saved_rows(task, self._saved, self._values)
        assert judge is not None
        answer = await ask(judge, self.asked[EXTRACT], repeat=repeat, **context_of(subject))
        if isinstance(answer, Failed):
            return [failed_report(task, answer.status, answer.reason_code, answer.message)]
        pages = by_page((cited.fact, cited.url) for cited in answer.citations)  # type: ignore[attr-defined]
        found = await asyncio.gather(*(self._judge_page(subject, judge, repeat, page) for page in pages))
        return [verdict_row(task, verdict, self._values) for verdicts in found for verdict in verdicts] or [no_citations(task)]

    async def _judge_page(self, subject: Subject, judge: Judge, repeat: int, cited: CitedPage) -> list[Verdict]:
        span = _span(subject, cited.url)

        def all_facts(label: str, status: Status, code: str, reason: str) -> list[Verdict]:
            return [Verdict(cited.url, fact, label, status, code, reason, span=span) for fact in cited.facts]

        if not is_in(cited.url, subject.report.text):
            return all_facts("unknown", Status.SCORED, NOT_IN_REPORT, "the report has no such address")
        visit = await reach(self._pages.page_visit(cited.url, subject.task.as_of))
        if isinstance(visit, Failed):
            return all_facts("", visit.status, visit.reason_code, visit.message)
        if visit.page is None:
            return all_facts("unknown", Status.SCORED, visit.reason_code, f"the page cannot be read {visit.detail}".strip())
        return await self._ask_page(subject, judge, repeat, cited, visit.page, span)

    async def _ask_page(
        self, subject: Subject, judge: Judge, repeat: int, cited: CitedPage, page: Page, span: tuple[int, int] | None
    ) -> list[Verdict]:
        facts = {f"f{number}": fact for number, fact in enumerate(cited.facts, 1)}
        published = page.published.isoformat() if page.published else ""
        answer = await ask(
            judge,
            self.asked[VERIFY],
            repeat=repeat,
            url=cited.url,
            title=page.title,
            published=published,
            page=page.text[: self._limit],
            cut=len(page.text) > self._limit,
            facts=facts,
            as_of=subject.as_of,
        )
        if isinstance(answer, Failed):
            why = (answer.status, answer.reason_code, answer.message)
            return [Verdict(cited.url, fact, "", *why, span=span) for fact in cited.facts]
        verdicts = []
        for number, (name, given) in enumerate(answer.by_id().items()):  # type: ignore[attr-defined]
            wrong = bool(given.quote.strip()) and check_quote(given.quote, page.text[: self._limit]) is None
            verdicts.append(
                Verdict(
                    cited.url,
                    facts[name],
                    given.label,
                    reason_code=WRONG_QUOTE if wrong else "",
                    reason=given.reason,
                    evidence=Evidence(cited.url, page.snapshot, published, given.quote),
                    span=span,
                    cost=None if number else answer.cost,
                )
            )
        return verdicts

    def variants(self) -> Sequence[Variant]:
        return fact_variants(complete=self._saved is None)


def _span(subject: Subject, url: str) -> tuple[int, int] | None:
    """Where the report first cites the page."""
    wanted = normalize_url(url)
    for citation in subject.document.citations:
        if citation.url and normalize_url(citation.url) == wanted:
            return citation.span.start, citation.span.end
    return None
