"""DeepResearchGym as a metric, in four parts that can be asked for one by one.

`key_points`: KPR = supported / points, KPC = contradicted / points, one call per point. `quality`: six ratings from 0 to
10, one call each, score = sum / 60. `precision`: cited claims are judged by the pages they cite, 1, .5 or 0, mean per report.
`recall`: share of the report's claims that carry an address. All are means over reports, as published.

The original shows a crawl failure to its judge as if it were the page, which gives 0. Here a claim whose pages are all dead is
unverifiable and outside the mean; `dead_pages=zero` is the compatible rule (0, without a call).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, get_args

import polars as pl
from pydantic import PositiveInt

from dreambench.datasets.dataset import Dataset
from dreambench.datasets.demo import demo_file
from dreambench.errors import ConfigError, Problem
from dreambench.evaluators.claims import extract_claims, failed_extraction
from dreambench.evaluators.evidence import Pages, pool_of
from dreambench.evaluators.parts import cut_in_parts
from dreambench.evaluators.workflow import StageFailed, together
from dreambench.judges.judge import Judge
from dreambench.judges.kinds.entailment import Answer as Verdict
from dreambench.judges.kinds.extract_citations import Answer as Citations
from dreambench.judges.kinds.extract_citations import is_in
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.asking import Failed, ask, failed_row
from dreambench.metrics.deepresearchgym.points import Point, Points, read_labels, read_points
from dreambench.metrics.gold import covers, one_agent
from dreambench.metrics.graded import ask_items, context_of, item_row, missing_run, not_applicable
from dreambench.metrics.judged_metric import SavedMetric
from dreambench.metrics.metric import MissingPolicy, Subject, Variant
from dreambench.records import Evidence, Judgment, item_id
from dreambench.tools.toolset import NoTools

Part = Literal["key_points", "quality", "precision", "recall"]
PARTS: tuple[Part, ...] = get_args(Part)
RATINGS = ("clarity", "depth", "balance", "breadth", "support", "insightfulness")
POINT_VALUES: Mapping[str, float | None] = {"supported": 1.0, "omitted": 0.0, "contradicted": 0.0}
SUPPORT_VALUES: Mapping[str, float] = {"supported": 1.0, "partially_supported": 0.5, "not_supported": 0.0}
KEY_POINT, PRECISION, RECALL = "key_point", "precision", "recall"
LEADING: Mapping[Part, str] = {"key_points": "kpr", "quality": "quality", "precision": "precision", "recall": "recall"}


class DeepResearchGym(SavedMetric[Points]):
    """KPR and KPC, quality, citation precision and recall."""

    id: ClassVar[str] = "deepresearchgym"
    evaluator: ClassVar[str] = "workflow"

    def __init__(
        self,
        *,
        name: str,
        shelf: RubricShelf,
        tools: NoTools,
        parts: list[Part] | None = None,
        key_points: str | None = None,
        batch: PositiveInt | None = 1,
        dead_pages: Literal["unverifiable", "zero"] = "unverifiable",
        uncited: Literal["zero", "not_applicable"] = "zero",
        no_points: Literal["not_applicable", "zero"] = "not_applicable",
        passages: PositiveInt = 5,
        passage_chars: PositiveInt = 800,
        part_chars: PositiveInt = 100_000,
        rubric: str = "default",
        saved: str | None = None,
        repeats: int = 1,
        missing_policy: MissingPolicy = MissingPolicy.EXCLUDE,
    ) -> None:
        """Raises DatasetError for a file that cannot be used, ConfigError when parts and files do not fit together."""
        where = f"metric.{name}"
        wanted = list(PARTS if parts is None else parts)
        self._parts: list[Part] = ["key_points"] if saved else [part for part in PARTS if part in wanted]
        self._batch, self._passages, self._chars, self._part_chars = batch, passages, passage_chars, part_chars
        self._rules = {"dead_pages": dead_pages, "uncited": uncited, "no_points": no_points}
        if not self._parts:
            raise ConfigError(Problem(f"{where}.parts", "is an empty list", PARTS))
        if "key_points" in self._parts and not key_points and not saved:
            fix = f"{where}.key_points=key_point or {where}.parts=[quality,precision,recall]"
            raise ConfigError(Problem(f"{where}.key_points", "is required for the part key_points", ["a folder"], fix))
        asked = _rubric_files(self._parts)
        results = read_labels(demo_file(saved, "kpr.json"), f"{where}.saved") if saved else None
        super().__init__(
            name=name, shelf=shelf, asked=asked, rubric=rubric, repeats=repeats, missing_policy=missing_policy, saved=results
        )
        used = bool(key_points) and "key_points" in self._parts and not saved
        self._points = read_points(demo_file(str(key_points), "key_point"), f"{where}.key_points") if used else None
        self.primary = LEADING[self._parts[0]]  # type: ignore[misc]
        self._pages = tools
        if not self._saved and "precision" in self._parts:
            self.tools = tools

    def identity(self) -> Mapping[str, Any]:
        shared = {**super().identity(), **self._rules}
        if self._saved:
            return shared
        return {
            **shared,
            "parts": self._parts,
            "rubrics": self.rubric_hashes(),
            "key_points": self._points.sha256 if self._points else None,
            "sizes": [self._batch, self._passages, self._chars, self._part_chars],
            **(self._pages.identity() if self.tools else {}),
        }

    def prepare(self, dataset: Dataset) -> list[Problem]:
        where = f"metric.{self.name}"
        if self._saved:
            return [*one_agent(f"{where}.saved", dataset), *covers(self._saved, dataset, f"{where}.saved", "labels")]
        problems = covers(self._points, dataset, f"{where}.key_points", "key points") if self._points else []
        if self.tools and "page_visit" not in self._pages.tools:
            what = f"opens the cited pages for precision, which tools={self._pages.name} cannot"
            problems.append(Problem(where, what, ["tools that open pages: corpus, pages, web_..."], "tools=pages"))
        return problems

    async def measure(self, subject: Subject, judge: Judge | None, repeat: int) -> list[Judgment]:
        """The rows of every part that is asked for."""
        if self._saved:
            known = subject.task.id in self._saved.by_id
            return self._point_rows(subject, self._saved.of(subject.task)) if known else [missing_run(subject, "saved")]
        assert judge is not None
        work = {"key_points": self._judge_points, "quality": self._rate, "precision": self._precision, "recall": self._recall}
        found = await together(work[part](subject, judge, repeat) for part in self._parts)
        return [row for rows in found for row in rows]

    async def _judge_points(self, subject: Subject, judge: Judge, repeat: int) -> list[Judgment]:
        assert self._points is not None
        points = self._points.of(subject.task)
        if not points and subject.task.id not in self._points.empty:  # no file about it is not a file without points
            return [replace(not_applicable(subject, "no_key_point_file"), family=KEY_POINT)]
        if not points:
            return self._point_rows(subject, [])
        texts = [point.text for point in points]
        given = await ask_items(judge, self.asked["key_point"], subject, texts, repeat=repeat, batch=self._batch)
        return [item_row(subject, text, KEY_POINT, answer, POINT_VALUES) for text, answer in zip(texts, given, strict=True)]

    def _point_rows(self, subject: Subject, points: Sequence[Point]) -> list[Judgment]:
        """The rows of saved labels; a task without points is not applicable, or 0 as in the original."""
        task = subject.task.id
        if not points and self._rules["no_points"] == "zero":
            return [Judgment(item_id(task, "no_points"), KEY_POINT, "no_points", 0.0, reason_code="no_points")]
        if not points:
            return [replace(not_applicable(subject, "no_points"), family=KEY_POINT)]
        return [
            Judgment(
                item_id(task, f"{KEY_POINT} {point.text}"),
                KEY_POINT,
                point.label,
                POINT_VALUES[point.label],
                rationale=f"{point.text} ({point.reason})",
            )
            for point in points
        ]

    async def _rate(self, subject: Subject, judge: Judge, repeat: int) -> list[Judgment]:
        async def one(rating: str) -> Judgment:
            family = f"quality_{rating}"
            answer = await ask(judge, self.asked[rating], repeat=repeat, **context_of(subject))
            item = item_id(subject.task.id, family)
            if isinstance(answer, Failed):
                return failed_row(item, family, rating, answer)
            score, reason = answer.score / 10, answer.reason  # type: ignore[attr-defined]
            return Judgment(item, family, rating, score, rationale=reason, cost=answer.cost)

        return await together(one(rating) for rating in RATINGS)

    async def _precision(self, subject: Subject, judge: Judge, repeat: int) -> list[Judgment]:
        answer = await ask(judge, self.asked["cited"], repeat=repeat, role="extraction", **context_of(subject))
        if isinstance(answer, Failed):
            return [failed_row(item_id(subject.task.id, "cited"), PRECISION, "", answer)]
        assert isinstance(answer, Citations)
        claims: dict[str, dict[str, None]] = {}
        for cited in answer.citations:
            urls = claims.setdefault(" ".join(cited.fact.split()), {})
            if is_in(cited.url, subject.report.text):  # an address that the judge made up is never opened
                urls[cited.url] = None
        if not claims and self._rules["uncited"] == "zero":
            item = item_id(subject.task.id, "no_citations")
            return [Judgment(item, PRECISION, "no_citations", 0.0, reason_code="no_citations", cost=answer.cost)]
        if not claims:
            return [replace(not_applicable(subject, "no_citations"), family=PRECISION)]
        pages = Pages(self._pages, subject.task.as_of, self._chars)
        return await together(self._support(subject, judge, repeat, pages, claim, list(urls)) for claim, urls in claims.items())

    async def _support(
        self, subject: Subject, judge: Judge, repeat: int, pages: Pages, claim: str, urls: Sequence[str]
    ) -> Judgment:
        """One verdict on a claim from all pages that it cites; none is asked for where no page can be read."""
        item = item_id(subject.task.id, f"{PRECISION} {claim}")
        try:
            read = await together(pages.read(url) for url in urls)
        except StageFailed as trouble:
            return failed_row(item, PRECISION, "", trouble.failed)
        pool = await pool_of(read, [claim], self._passages)
        opened = tuple(page.as_evidence() for page in pool.pages)
        if not pool.passages:
            value = 0.0 if self._rules["dead_pages"] == "zero" else None
            code = pool.pages[0].reason_code if pool.pages else "url_not_in_report"
            said = f"{claim} ({pool.note})"
            return Judgment(item, PRECISION, "unverifiable", value, reason_code=code, rationale=said, evidence=opened)
        answer = await ask(
            judge, self.asked["borne_out"], repeat=repeat, claim=claim, passages=list(pool.passages), as_of=subject.as_of
        )
        if isinstance(answer, Failed):
            return failed_row(item, PRECISION, "", answer)
        assert isinstance(answer, Verdict)
        quoted: Evidence | None = pool.evidence(answer)
        return Judgment(
            item,
            PRECISION,
            answer.label,
            SUPPORT_VALUES[answer.label],
            reason_code="quote_not_found" if pool.misquotes(answer) else "",
            rationale=f"{claim} ({pool.note}: {answer.reason})",
            evidence=(quoted,) if quoted else opened,
            cost=answer.cost,
        )

    async def _recall(self, subject: Subject, judge: Judge, repeat: int) -> list[Judgment]:
        """All claims of the report; code looks whether the sentences that make one carry an address."""
        document, task = subject.document, subject.task.id
        rows: list[Judgment] = []
        for part in cut_in_parts(document, self._part_chars, 0):
            found = await extract_claims(judge, self.asked["claims"], subject, part, None, repeat)
            if isinstance(found, Failed):
                failed = failed_extraction(task, found, f"metric.{self.name}.part_chars", self._part_chars)
                return [replace(failed, family=RECALL)]
            for claim in found.claims:
                cited = any(c.url for index in claim.sentences for c in document.citations_of(index))
                start, end = claim.place.start, claim.place.end
                label = "cited" if cited else "uncited"
                row = Judgment(claim.item(task, RECALL), RECALL, label, float(cited), rationale=claim.text)
                rows.append(replace(row, report_start=start, report_end=end))
        return rows or [replace(not_applicable(subject, "no_claims"), family=RECALL)]

    def variants(self) -> Sequence[Variant]:
        """Those of the parts asked for: KPR, KPC and omitted; quality and its ratings; precision; recall."""
        points, value = pl.col("family") == KEY_POINT, pl.col("value")
        label, everything = pl.col("label"), pl.len()
        quality = pl.col("family").str.starts_with("quality_")
        found: dict[Part, list[Variant]] = {
            "key_points": [
                Variant(name, (label == wanted).sum(), everything, micro=True, complete=True, only=points)
                for name, wanted in (("kpr", "supported"), ("kpc", "contradicted"), ("omitted", "omitted"))
            ],
            "quality": [
                Variant("quality", value.sum(), everything, complete=True, only=quality),
                *(Variant(rating, value.sum(), everything, only=pl.col("family") == f"quality_{rating}") for rating in RATINGS),
            ],
            "precision": [
                Variant("precision", value.sum(), value.is_not_null().sum(), micro=True, only=pl.col("family") == PRECISION)
            ],
            "recall": [Variant("recall", value.sum(), everything, micro=True, only=pl.col("family") == RECALL)],
        }
        return [variant for part in self._parts for variant in found[part]]


def _rubric_files(parts: Sequence[Part]) -> dict[str, str]:
    """The rubrics that the parts ask: name in this module -> file without its variant."""
    files: dict[str, str] = {}
    if "key_points" in parts:
        files["key_point"] = "deepresearchgym/key_point"
    if "quality" in parts:
        files |= {rating: f"deepresearchgym/{rating}" for rating in RATINGS}
    if "precision" in parts:
        files |= {"cited": "fact/extract", "borne_out": "deepresearchgym/borne_out"}
    if "recall" in parts:
        files["claims"] = "ci/extract"
    return files
