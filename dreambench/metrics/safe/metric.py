"""SAFE as a metric: sentences are taken apart into facts, each is made self-contained, searched for and judged by excerpts.

The whole procedure takes thousands of calls on a deep-research report (about 120 sentences, 4 to 5 facts each). So a sample of
`sentences` is checked, drawn by `seed`; its size stands in the rubric column of every table, and `sentences=null` checks all.

Other than the original: making a fact self-contained and judging its relevance are one call, and the queries of a fact are one
call instead of one after the other, so a relevant fact takes 3 calls and not 8. A fact that fails is an error, where there it
vanishes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from pydantic import NonNegativeInt, PositiveInt

from dreambench.datasets.dataset import Dataset
from dreambench.datasets.demo import demo_file
from dreambench.documents import Sentence
from dreambench.errors import ConfigError, Problem
from dreambench.evaluators.claims import Claim, extract_claims
from dreambench.evaluators.parts import Part
from dreambench.evaluators.workflow import StageFailed, need, together, total_cost
from dreambench.judges.judge import Judge
from dreambench.judges.kinds import Answer
from dreambench.judges.kinds.entailment import Answer as Verdict
from dreambench.judges.kinds.entailment import Passage
from dreambench.judges.kinds.fact_in_context import Answer as InContext
from dreambench.judges.kinds.queries import Answer as Queries
from dreambench.judges.quotes import check_quote
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.asking import Failed, ask, failed_row, reach
from dreambench.metrics.gold import Gold, covers, one_agent
from dreambench.metrics.graded import context_of, missing_run, not_applicable
from dreambench.metrics.judged_metric import SavedMetric
from dreambench.metrics.metric import MissingPolicy, Subject, Variant
from dreambench.metrics.safe.table import (
    FACT,
    IRRELEVANT,
    NOT_SUPPORTED,
    VALUES,
    Fact,
    fact_row,
    fact_variants,
    read_labels,
)
from dreambench.records import Evidence, Judgment, Task, item_id, short_hash
from dreambench.tools.results import SearchHit
from dreambench.tools.toolset import NoTools

QUESTIONS = ("facts", "context", "queries", "verdict")


class Safe(SavedMetric[Gold[Fact]]):
    """F1@K over the facts of a sample of sentences."""

    id: ClassVar[str] = "safe"
    axes: ClassVar[tuple[str, ...]] = ("rubric", "sentences")
    evaluator: ClassVar[str] = "workflow"

    def __init__(
        self,
        *,
        name: str,
        shelf: RubricShelf,
        tools: NoTools,
        k: list[PositiveInt] | None = None,
        sentences: PositiveInt | None = 10,
        seed: NonNegativeInt = 0,
        queries: PositiveInt = 5,
        results: PositiveInt = 3,
        rubric: str = "default",
        saved: str | None = None,
        repeats: int = 1,
        missing_policy: MissingPolicy = MissingPolicy.EXCLUDE,
    ) -> None:
        """Raises DatasetError for a saved file that cannot be used, ConfigError without any K."""
        asked = {question: f"safe/{question}" for question in QUESTIONS}
        labelled = read_labels(demo_file(saved, "factscore.jsonl"), f"metric.{name}.saved") if saved else None
        super().__init__(
            name=name, shelf=shelf, asked=asked, rubric=rubric, repeats=repeats, missing_policy=missing_policy, saved=labelled
        )
        self._ks = list(dict.fromkeys(k if k is not None else [64, 178]))
        if not self._ks:
            raise ConfigError(Problem(f"metric.{name}.k", "is an empty list", ["a number of facts"], f"metric.{name}.k=[64]"))
        self.primary = f"f1@{self._ks[0]}"  # type: ignore[misc]
        self._sentences, self._seed, self._queries, self._results = sentences, seed, queries, results
        self._search = tools
        if not self._saved:
            self.tools = tools

    def distinctions(self) -> Sequence[str]:
        """The size of the sample: scores of different samples are not the same."""
        return [f"sentences={self._sentences}"] if self._sentences else []

    def identity(self) -> Mapping[str, Any]:
        shared = {**super().identity(), "k": self._ks}
        if self._saved:
            return shared
        return {
            **shared,
            "rubrics": self.rubric_hashes(),
            "sample": [self._sentences, self._seed if self._sentences else None],
            "searches": [self._queries, self._results],
            **self._search.identity(),
        }

    def prepare(self, dataset: Dataset) -> list[Problem]:
        if not self._saved:
            return []
        where = f"metric.{self.name}.saved"
        return [*one_agent(where, dataset), *covers(self._saved, dataset, where, "labelled facts")]

    def problems(self, tasks: Sequence[Task]) -> list[Problem]:
        """Without a search nothing can be checked, and without a date nobody knows what was out by then."""
        where = f"metric.{self.name}"
        if self._saved:
            return []
        if not self._search.searches:
            what = f"checks facts by a search, which tools={self._search.name} cannot"
            return [Problem(where, what, ["tools that search: bundled, corpus, web_..."], "tools=bundled")]
        undated = [task.id for task in tasks if task.as_of is None]
        what = f"searches as of a date, and {len(undated)} of {len(tasks)} tasks have none"
        return [Problem(where, what, ["an ISO date", "today"], "as_of=2025-06-30")] if undated else []

    async def measure(self, subject: Subject, judge: Judge | None, repeat: int) -> list[Judgment]:
        """One row per fact of the sampled sentences, and one on how the sample came about."""
        if self._saved:
            found = [fact_row(subject.task.id, fact) for fact in self._saved.of(subject.task)]
            return found or [missing_run(subject, self._saved.path.name)]
        assert judge is not None
        every = [sentence for sentence in subject.document.sentences if subject.document.in_body(sentence.span)]
        drawn = self.sample(subject, every)
        if not drawn:
            return [not_applicable(subject, "no_sentences")]
        rows = await together(self._check_sentence(subject, judge, sentence, repeat) for sentence in drawn)
        weight = len(every) / len(drawn)
        facts = [replace(row, weight=weight) for of_sentence in rows for row in of_sentence]
        said = f"{len(facts)} facts in {len(drawn)} of {len(every)} sentences; each weighs {weight:.3f}"
        count = float(len(facts))
        note = Judgment(item_id(subject.task.id, "sample"), "extraction", "facts", count, rationale=said)
        return [*facts, note] if facts else [replace(not_applicable(subject, "no_facts"), family=FACT), note]

    def sample(self, subject: Subject, every: Sequence[Sentence]) -> list[Sentence]:
        """The sentences that are checked, in their order; a smaller sample is part of a larger one."""
        if self._sentences is None or len(every) <= self._sentences:
            return list(every)
        text = subject.document.text
        place = {short_hash(str(self._seed), subject.task.id, s.span.of(text), str(s.span.start)): s for s in every}
        return sorted((place[key] for key in sorted(place)[: self._sentences]), key=lambda sentence: sentence.span)

    async def _check_sentence(self, subject: Subject, judge: Judge, sentence: Sentence, repeat: int) -> list[Judgment]:
        span = sentence.span
        part = Part((span,), type(span)(span.start, span.start))
        found = await extract_claims(judge, self.asked["facts"], subject, part, None, repeat)
        if isinstance(found, Failed):
            item = item_id(subject.task.id, "facts", span.start, span.end)
            return [failed_row(item, FACT, "", found, span.start, span.end)]
        return await together(self._check(subject, judge, claim, repeat) for claim in found.claims)

    async def _check(self, subject: Subject, judge: Judge, claim: Claim, repeat: int) -> Judgment:
        try:
            return await self._stages(subject, judge, claim, repeat)
        except StageFailed as trouble:
            item = claim.item(subject.task.id, FACT)
            return failed_row(item, FACT, "", trouble.failed, claim.place.start, claim.place.end)

    async def _stages(self, subject: Subject, judge: Judge, claim: Claim, repeat: int) -> Judgment:
        async def put(rubric: str, /, **context: Any) -> Answer:
            role = "judging" if rubric == "verdict" else "extraction"
            return need(await ask(judge, self.asked[rubric], repeat=repeat, role=role, **context))

        about = context_of(subject)
        asked = {"as_of": about["as_of"]}
        placed = await put("context", **about, claim=claim.text)
        assert isinstance(placed, InContext)
        if placed.relevant == "no":
            return self._row(subject, claim, placed.fact, IRRELEVANT, placed.reason, cost=placed.cost)
        wanted = {**asked, "claim": placed.fact, "question": subject.task.query, "count": self._queries}
        queries = await put("queries", **wanted)
        assert isinstance(queries, Queries)
        hits = await self._find(subject, queries.queries[: self._queries])
        cost = total_cost([placed.cost, queries.cost])
        if not hits:
            why = f"nothing was found for: {'; '.join(queries.queries)}"
            return self._row(subject, claim, placed.fact, NOT_SUPPORTED, why, cost=cost, code="no_results")
        passages = [_passage(number, hit) for number, hit in enumerate(hits, 1)]
        verdict = await put("verdict", **asked, claim=placed.fact, passages=passages)
        assert isinstance(verdict, Verdict)
        source = next((passage for passage in passages if passage.id == verdict.passage), None)
        quoted = bool(verdict.quote.strip())
        found = source is not None and check_quote(verdict.quote, source.text) is not None
        evidence = (Evidence(source.url, "", source.published, verdict.quote),) if source and quoted else ()
        cost, code = total_cost([cost, verdict.cost]), "quote_not_found" if quoted and not found else ""
        return self._row(subject, claim, placed.fact, verdict.label, verdict.reason, cost=cost, code=code, evidence=evidence)

    async def _find(self, subject: Subject, queries: Sequence[str]) -> list[SearchHit]:
        """The first results of all queries, each excerpt once."""
        searches = await together(
            reach(self._search.web_search(query, subject.task.as_of, self._results)) for query in dict.fromkeys(queries)
        )
        hits = [hit for search in searches for hit in need(search).hits if hit.snippet.strip()]
        return list({(hit.url, hit.snippet): hit for hit in hits}.values())

    def _row(
        self,
        subject: Subject,
        claim: Claim,
        fact: str,
        label: str,
        reason: str,
        *,
        cost: float | None,
        code: str = "",
        evidence: tuple[Evidence, ...] = (),
    ) -> Judgment:
        return Judgment(
            claim.item(subject.task.id, FACT),
            FACT,
            label,
            VALUES[label],
            reason_code=code,
            rationale=f"{fact} ({reason})",
            report_start=claim.place.start,
            report_end=claim.place.end,
            evidence=evidence,
            cost=cost,
        )

    def variants(self) -> Sequence[Variant]:
        return fact_variants(self._ks)


def _passage(number: int, hit: SearchHit) -> Passage:
    published = hit.published.isoformat() if hit.published else ""
    return Passage(id=f"p{number}", url=hit.url, title=hit.title, published=published, text=hit.snippet)
