"""Citation Integrity (DREAM, METRICS 1.3): how many claims a report attributes, and whether the cited pages say so.

Stages of the workflow, one chain per claim (`dreambench.evaluators.workflow`): extract all verifiable claims -> the URLs
cited in the claim's sentences (by code) -> each page, opened once per report -> one judgment per claim and page.

CA = cited claims / verifiable claims. CF = (supported + 0.5 partially) / (all verdicts but unverifiable), over cited claims.
CI = harmonic mean of the means of CA and CF over tasks (primary); `per_task` is the mean of each task's own CI. Of several
URLs on one claim the best label counts and all are kept. No cited claim: CF = CI = 0 (pooled CF counts such a report as one
claim of value 0). Nothing verifiable among the cited: no CF, and 0 in `strict`. Without tools that open pages only CA is
measured and leads the tables, under a rubric name that says so; CF and CI are not applicable (`no_tools`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import NonNegativeInt, PositiveInt

from dreambench.documents import CitationStatus, normalize_url
from dreambench.engine.compute import compute
from dreambench.evaluators.claims import (
    Claim,
    extraction_row,
    joined,
    sentence_claims,
    unplaced_rows,
)
from dreambench.evaluators.evidence import pool_of
from dreambench.evaluators.verdicts import label_variants
from dreambench.evaluators.workflow import StageFailed, need, together
from dreambench.judges.judge import Judge
from dreambench.judges.kinds.entailment import Answer as Verdict
from dreambench.judges.rubric import Rubric, RubricShelf
from dreambench.metrics.asking import failed_row
from dreambench.metrics.metric import MissingPolicy, Subject, Variant
from dreambench.metrics.workflow_metric import UNVERIFIABLE, Checked, ClaimChain, ClaimMetric, extracted
from dreambench.records import Judgment, Status, item_id
from dreambench.tools.results import Reason
from dreambench.tools.toolset import NoTools

VALUES: Mapping[str, float | None] = {
    "supported": 1.0,
    "partially_supported": 0.5,
    "neutral": 0.0,
    "contradicted": 0.0,
    "unverifiable": None,
}
"""Best label first: of several pages cited for one claim, the first in this order counts."""
NO_CITED_CLAIM = "no_cited_claim"
UNUSABLE = "unusable"
"""Reason code of a page that the judge read and could not use."""


class CitationIntegrity(ClaimMetric):
    """CA, CF and CI over a report's verifiable claims; `extraction=sentences` takes code's check-worthy sentences instead."""

    id: ClassVar[str] = "ci"
    axes: ClassVar[tuple[str, ...]] = ("rubric", "extraction")
    primary: ClassVar[str] = "harmonic"

    def __init__(
        self,
        *,
        name: str,
        shelf: RubricShelf,
        tools: NoTools,
        rubric: str = "default",
        extraction: Literal["judge", "sentences"] = "judge",
        limit: PositiveInt | None = None,
        passages: PositiveInt = 5,
        passage_chars: PositiveInt = 800,
        part_chars: PositiveInt = 12_000,
        overlap_chars: NonNegativeInt = 600,
        values: dict[str, float | None] | None = None,
        repeats: int = 1,
        missing_policy: MissingPolicy = MissingPolicy.EXCLUDE,
    ) -> None:
        """`limit` caps the claims of a report; the order of `values` says which label is best."""
        self._extracts, self._limit = extraction == "judge", limit
        super().__init__(
            name=name,
            shelf=shelf,
            tools=tools,
            questions=[*(["extract"] if self._extracts else []), "support"],
            verdict="support",
            rubric=rubric,
            values=values or VALUES,
            passages=passages,
            passage_chars=passage_chars,
            part_chars=part_chars,
            overlap_chars=overlap_chars,
            repeats=repeats,
            missing_policy=missing_policy,
        )
        if not self.reads:
            self.primary = "ca"  # type: ignore[misc]

    @property
    def rubric_variant(self) -> str:
        """The variant, whether claims are sentences, and whether only attribution is measured: told apart in every table."""
        return self.wording + ("" if self._extracts else "+sentences") + ("" if self.reads else "+attribution")

    def rubrics(self) -> Sequence[Rubric]:
        """What is asked: without tools nobody is asked about pages."""
        return [rubric for question, rubric in self.asked.items() if self.reads or question != "support"]

    def identity(self) -> Mapping[str, Any]:
        """The order of `values` counts: it says which of several pages' labels is best."""
        extraction = "judge" if self._extracts else "sentences"
        return {**super().identity(), "extraction": extraction, "limit": self._limit, "values": list(self.values.items())}

    @property
    def reads(self) -> bool:
        """Whether the run's tools open pages."""
        return "page_visit" in self.sources.tools

    async def measure(self, subject: Subject, judge: Judge | None, repeat: int) -> list[Judgment]:
        """Rows of the families `attribution` (claim), `citation` (claim and page), `claim` (cited claim) and `extraction`."""
        assert judge is not None
        task = subject.task.id
        parts = await self._check(subject, judge, repeat)
        if failed := self.unextracted(task, parts):
            return failed
        checked: dict[tuple[str, ...], _Checked] = {}
        for result in (result for part in parts for result in part.results):
            key = result.claim.key
            checked[key] = checked[key].merged(result) if key in checked else result
        found, cost = extracted(parts)
        rows = [row for result in checked.values() for row in self._rows(task, result)]
        rows += unplaced_rows(task, "attribution", found)
        if not checked:
            rows.append(_unscored(task, "report", "no_claims"))
        elif not self.reads:
            rows.append(_unscored(task, "claim", Reason.NO_TOOLS.value))
        elif not any(result.pages for result in checked.values()):
            rows.append(Judgment(item_id(task, NO_CITED_CLAIM), "claim", NO_CITED_CLAIM, 0.0))
        return [*rows, extraction_row(task, found, len(checked), cost)]

    async def _check(self, subject: Subject, judge: Judge, repeat: int) -> list[Checked[_Checked]]:
        """Each part of the report with its claims and their pages; the whole report at once where code finds the claims."""
        chain = _Chain(self, subject, judge, repeat)
        if self._extracts:
            return await chain.check_parts(self.asked["extract"], self._limit, chain.check)
        found = await compute(sentence_claims, subject.document, self._limit)
        return [Checked(found, await together(chain.check(claim) for claim in found.claims))]

    def variants(self) -> Sequence[Variant]:
        """CI from means first; then its parts, the strict ones, the mean of each task's CI, and the labels of cited claims."""
        family, value = pl.col("family"), pl.col("value")
        both, cited, claim = family.is_in(["attribution", "claim"]), family == "attribution", family == "claim"
        # a row about the whole report (it could not be extracted) counts in both parts
        of_ca, of_cf = family != "claim", family != "attribution"
        ca = (value.filter(of_ca).sum(), of_ca.sum())
        cf = (value.filter(of_cf).sum(), value.filter(of_cf).count())
        strict = (value.filter(of_cf).sum(), of_cf.sum())
        return [
            Variant("harmonic", *_harmonic(ca, cf), only=both, harmonic_of=("ca", "cf")),
            Variant("ca", value.sum(), pl.len(), micro=True, only=cited),
            Variant("cf", value.sum(), value.count(), micro=True, only=claim),
            Variant("cf_strict", value.sum(), pl.len(), micro=True, only=claim),
            Variant("strict", *_harmonic(ca, strict), only=both, harmonic_of=("ca", "cf_strict")),
            Variant("per_task", *_harmonic(ca, cf), only=both),
            *label_variants(self.values, claim & (pl.col("label") != NO_CITED_CLAIM)),
        ]

    def _rows(self, task_id: str, checked: _Checked) -> list[Judgment]:
        claim = checked.claim
        label = "cited" if checked.pages else "uncited"
        attribution = Judgment(
            claim.item(task_id, "attribution"),
            "attribution",
            label,
            float(bool(checked.pages)),
            rationale=claim.text,
            report_start=claim.place.start,
            report_end=claim.place.end,
            cost=0.0,
        )
        judged = [row for row in checked.pages.values() if row]
        return [attribution, *judged, *([self._best(task_id, claim, judged)] if judged else [])]

    def _best(self, task_id: str, claim: Claim, pages: Sequence[Judgment]) -> Judgment:
        """The row of a cited claim: the best label of its pages. Our own trouble with one leaves it open, unless no page could
        be better than what is there."""
        order = list(self.values)
        scored = sorted((row for row in pages if row.status is Status.SCORED), key=lambda row: order.index(row.label))
        trouble = [row for row in pages if row.status is not Status.SCORED]
        settled = bool(scored) and scored[0].label == order[0]
        best = trouble[0] if trouble and not settled else scored[0]
        return replace(
            best,
            item=claim.item(task_id),
            family="claim",
            rationale=best.rationale if len(pages) == 1 else f"best of {len(pages)} pages: {best.rationale}",
            evidence=tuple(dict.fromkeys(evidence for row in (best, *pages) for evidence in row.evidence)),
            cost=0.0,
        )


@dataclass(frozen=True, slots=True)
class _Checked:
    """A claim with its cited pages (by normalised URL), each judged or, without tools, only listed."""

    claim: Claim
    pages: dict[str, Judgment | None] = field(default_factory=dict)

    def merged(self, other: _Checked) -> _Checked:
        """The same claim from two parts of a report: one claim, cited where either is."""
        return _Checked(joined(self.claim, other.claim), {**other.pages, **self.pages})


class _Chain(ClaimChain[CitationIntegrity]):
    def __init__(self, metric: CitationIntegrity, subject: Subject, judge: Judge, repeat: int) -> None:
        super().__init__(metric, subject, judge, repeat)
        self._cited: dict[int, dict[str, str]] = {}
        for citation in subject.document.citations:
            if citation.sentence is not None and citation.status is CitationStatus.RESOLVED and citation.url:
                self._cited.setdefault(citation.sentence, {}).setdefault(normalize_url(citation.url), citation.url)

    async def check(self, claim: Claim) -> _Checked:
        """The claim with the pages that its sentences cite."""
        urls = {key: url for sentence in claim.sentences for key, url in self._cited.get(sentence, {}).items()}
        if not self.metric.reads:
            return _Checked(claim, dict.fromkeys(urls))
        rows = await together(self._judge_page(claim, url) for url in urls.values())
        return _Checked(claim, dict(zip(urls, rows, strict=True)))

    async def _judge_page(self, claim: Claim, url: str) -> Judgment:
        """One claim against one cited page."""
        about: dict[str, Any] = {"family": "citation", "what": url}
        try:
            read = await self.pages.read(url)
            pool = await pool_of([read], [claim.text], self.metric.passages)
            if not pool.passages:
                return self.row(claim, UNVERIFIABLE, pool.note, 0.0, reason_code=read.reason_code, pool=pool, **about)
            answer = need(await self.ask("support", claim=claim.text, passages=list(pool.passages)))
        except StageFailed as trouble:
            place, item = claim.place, claim.item(self.task.id, url)
            return failed_row(item, "citation", "", trouble.failed, place.start, place.end)
        assert isinstance(answer, Verdict)
        code = UNUSABLE if answer.label == UNVERIFIABLE else ""
        why = f"{url}, {pool.note}: {answer.reason}"
        return self.row(claim, answer.label, why, answer.cost, reason_code=code, pool=pool, answers=[answer], **about)


def _harmonic(a: tuple[pl.Expr, pl.Expr], b: tuple[pl.Expr, pl.Expr]) -> tuple[pl.Expr, pl.Expr]:
    """Numerator and denominator of a report's harmonic mean of two ratios; 0 where both are 0, none where one is undefined."""
    defined = (a[1] > 0) & (b[1] > 0)
    first, second = a[0] / a[1], b[0] / b[1]
    mean = pl.when(defined & (first + second > 0)).then(2 * first * second / (first + second)).otherwise(0.0)
    return mean, defined.cast(pl.Float64)


def _unscored(task_id: str, family: str, why: str) -> Judgment:
    return Judgment(item_id(task_id, why), family, "", None, Status.NOT_APPLICABLE, reason_code=why)
