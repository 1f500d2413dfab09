"""DR3-Eval as a metric: six columns on the frozen documents of each task, and the two averages that are in use.

`ir_user_files`, `ir_sandbox`: share of gold insights that are conveyed in full; a half counts 0 as published (`halves=half`:
.5). `citation_coverage`: cited documents / documents that must be cited, by code. `factual_accuracy`: claim-source pairs that
the source bears out / pairs. `instruction_following`: requirements met / requirements. `depth`: a rating from 1 to 10, / 10.

`average_paper` is the plain mean of the six columns, as the paper's tables have it; `average_released` that of five, with the
two IR columns as one, as the released code has it. A column that failed or has no gold leaves the report without an average;
the released code adds its error mark of -1 to the sum.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

import polars as pl
from pydantic import PositiveInt

from dreambench.datasets.dataset import Dataset
from dreambench.datasets.demo import DEMO, demo_file
from dreambench.documents import normalize_url
from dreambench.engine.compute import compute
from dreambench.errors import ConfigError, Problem
from dreambench.evaluators.evidence import cut_passages
from dreambench.evaluators.workflow import together
from dreambench.judges.judge import Judge
from dreambench.judges.kinds.entailment import Answer as Verdict
from dreambench.judges.kinds.entailment import Passage
from dreambench.judges.kinds.extract_citations import Answer as Citations
from dreambench.judges.quotes import check_quote
from dreambench.judges.rubric import RubricShelf
from dreambench.language.tokens import bm25, content_words
from dreambench.metrics.asking import Failed, ask, failed_row
from dreambench.metrics.dr3.task_files import Folders, Required, Source, TaskFiles
from dreambench.metrics.graded import ask_items, context_of, item_row, not_applicable
from dreambench.metrics.judged_metric import JudgedMetric
from dreambench.metrics.metric import MissingPolicy, Subject, Variant
from dreambench.records import Evidence, Judgment, item_id

Column = Literal["ir_user_files", "ir_sandbox", "citation_coverage", "factual_accuracy", "instruction_following", "depth"]
COLUMNS: tuple[Column, ...] = get_args(Column)
CODE_COLUMN: Column = "citation_coverage"
AVERAGES = ("average_paper", "average_released")
FULL, HALF, NONE = "full", "half", "none"
HALVES = {"zero": 0.0, "half": 0.5}


class Dr3(JudgedMetric):
    """Six columns and their averages."""

    id: ClassVar[str] = "dr3"
    axes: ClassVar[tuple[str, ...]] = ("rubric", "halves")
    evaluator: ClassVar[str] = "workflow"

    def __init__(
        self,
        *,
        name: str,
        shelf: RubricShelf,
        data: str | None = None,
        insights: str | None = None,
        checklists: str | None = None,
        size: str = "512k",
        parts: list[Column] | None = None,
        halves: Literal["zero", "half"] = "zero",
        required_files: Required = "text",
        insights_per_call: PositiveInt = 10,
        requirements_per_call: PositiveInt = 5,
        passages: PositiveInt = 5,
        passage_chars: PositiveInt = 500,
        rubric: str = "default",
        repeats: int = 1,
        missing_policy: MissingPolicy = MissingPolicy.EXCLUDE,
    ) -> None:
        """Raises ConfigError without the task folders or when they are not there."""
        self._parts = [column for column in COLUMNS if parts is None or column in parts]
        self._halves = halves
        self._folders = _folders(f"metric.{name}", data, insights, checklists, size, required_files)
        if not self._parts:
            raise ConfigError(Problem(f"metric.{name}.parts", "is an empty list", COLUMNS))
        self._sizes = [insights_per_call, requirements_per_call, passages, passage_chars]
        asked = {question: f"dr3/{question}" for question in _questions(self._parts)}
        super().__init__(name=name, shelf=shelf, asked=asked, rubric=rubric, repeats=repeats, missing_policy=missing_policy)
        self.primary = AVERAGES[0] if len(self._parts) == len(COLUMNS) else self._parts[0]  # type: ignore[misc]
        if self._parts == [CODE_COLUMN]:
            self.evaluator = "code"  # type: ignore[misc]

    def distinctions(self) -> Sequence[str]:
        """Whether an insight that is conveyed by half counts."""
        return ["halves"] if self._halves == "half" else []

    def identity(self) -> Mapping[str, Any]:
        return {
            **super().identity(),
            "parts": self._parts,
            "halves": self._halves,
            "files": self._folders.fingerprint,
            "sizes": self._sizes,
            "rubrics": self.rubric_hashes(),
        }

    def prepare(self, dataset: Dataset) -> list[Problem]:
        tasks = self._folders.tasks()
        if any(task.id in tasks for task in dataset.tasks):
            return []
        return [Problem(f"metric.{self.name}.data", f"{self._folders.data} has no folder of any task", tasks[:10])]

    async def measure(self, subject: Subject, judge: Judge | None, repeat: int) -> list[Judgment]:
        """The rows of every column that is asked for; a column without gold is not applicable."""
        files = await asyncio.to_thread(self._folders.read, subject.task.id)
        found = await together(self._column(column, subject, files, judge, repeat) for column in self._parts)
        return [row for rows in found for row in rows]

    async def _column(
        self, column: Column, subject: Subject, files: TaskFiles, judge: Judge | None, repeat: int
    ) -> list[Judgment]:
        if column == CODE_COLUMN:
            return _coverage(subject, files)
        assert judge is not None
        if column == "factual_accuracy":
            return await self._facts(subject, files, judge, repeat)
        if column == "depth":
            return [await self._depth(subject, judge, repeat)]
        texts = {"ir_user_files": files.user_insights, "ir_sandbox": files.sandbox_insights}.get(column, files.requirements)
        if not texts:
            return [replace(not_applicable(subject, "no_gold"), family=column)]
        question, batch = ("requirement", self._sizes[1]) if column == "instruction_following" else ("insight", self._sizes[0])
        values = {"yes": 1.0, "no": 0.0} | {FULL: 1.0, HALF: HALVES[self._halves], NONE: 0.0}
        given = await ask_items(judge, self.asked[question], subject, texts, repeat=repeat, batch=batch)
        return [item_row(subject, text, column, answer, values) for text, answer in zip(texts, given, strict=True)]

    async def _depth(self, subject: Subject, judge: Judge, repeat: int) -> Judgment:
        answer = await ask(judge, self.asked["depth"], repeat=repeat, **context_of(subject))
        item = item_id(subject.task.id, "depth")
        if isinstance(answer, Failed):
            return failed_row(item, "depth", "", answer)
        score: float = answer.score  # type: ignore[attr-defined]
        reason: str = answer.reason  # type: ignore[attr-defined]
        return Judgment(item, "depth", f"{score:g}", score / 10, rationale=reason, cost=answer.cost)

    async def _facts(self, subject: Subject, files: TaskFiles, judge: Judge, repeat: int) -> list[Judgment]:
        answer = await ask(judge, self.asked["cited"], repeat=repeat, role="extraction", **context_of(subject))
        if isinstance(answer, Failed):
            return [failed_row(item_id(subject.task.id, "cited"), "factual_accuracy", "", answer)]
        assert isinstance(answer, Citations)
        pairs = dict.fromkeys((" ".join(cited.fact.split()), cited.url) for cited in answer.citations)
        rows = await together(self._fact(subject, files, judge, repeat, fact, named) for fact, named in pairs)
        return rows or [replace(not_applicable(subject, "no_citations"), family="factual_accuracy")]

    async def _fact(self, subject: Subject, files: TaskFiles, judge: Judge, repeat: int, fact: str, named: str) -> Judgment:
        """One claim by the document that it names; a document that the task does not have bears nothing out."""
        item = item_id(subject.task.id, f"{named} {fact}")
        source = files.find(named)
        if source is None or source.text is None:
            code, value = ("no_such_source", 0.0) if source is None else ("unreadable_source", None)
            return Judgment(item, "factual_accuracy", code, value, reason_code=code, rationale=f"{fact} ({named})")
        passages = await compute(best_passages, source, fact, self._sizes[2], self._sizes[3])
        answer = await ask(judge, self.asked["support"], repeat=repeat, claim=fact, passages=passages, as_of=subject.as_of)
        if isinstance(answer, Failed):
            return failed_row(item, "factual_accuracy", "", answer)
        assert isinstance(answer, Verdict)
        said = next((passage.text for passage in passages if passage.id == answer.passage), "")
        wrong = bool(answer.quote.strip()) and check_quote(answer.quote, said) is None
        return Judgment(
            item,
            "factual_accuracy",
            answer.label,
            1.0 if answer.label == "supported" else 0.0,
            reason_code="quote_not_found" if wrong else "",
            rationale=f"{fact} ({source.name}: {answer.reason})",
            evidence=(Evidence(source.url or source.name, quote=answer.quote),),
            cost=answer.cost,
        )

    def variants(self) -> Sequence[Variant]:
        """The averages where all six columns are measured, then the columns."""
        value = pl.col("value")
        columns = [
            Variant(column, value.sum(), value.is_not_null().sum(), complete=True, only=pl.col("family") == column)
            for column in self._parts
        ]
        if len(self._parts) < len(COLUMNS):
            return columns
        parts = {column: value.filter(pl.col("family") == column).mean() for column in COLUMNS}
        retrieval = (parts["ir_user_files"] + parts["ir_sandbox"]) / 2
        rest = [parts[column] for column in COLUMNS if not column.startswith("ir_")]
        whole = pl.all_horizontal(part.is_not_null() for part in parts.values()).cast(pl.Float64)
        sums = (pl.sum_horizontal(*parts.values()) / 6, pl.sum_horizontal(retrieval, *rest) / 5)
        named = zip(AVERAGES, sums, strict=True)
        return [*(Variant(name, total, whole, complete=True) for name, total in named), *columns]


def best_passages(source: Source, claim: str, most: int, chars: int) -> list[Passage]:
    """The `most` passages of a document that fit the claim best, in the order of the document."""
    pieces = cut_passages(source.text or "", chars)
    scores = bm25(content_words(claim), [tuple(content_words(piece)) for piece in pieces])
    best = sorted(range(len(pieces)), key=lambda at: (-scores[at], at))[:most]
    url = source.url or source.name
    return [Passage(id=f"p{n}", url=url, title=source.name, text=pieces[at]) for n, at in enumerate(sorted(best), 1)]


def _coverage(subject: Subject, files: TaskFiles) -> list[Judgment]:
    """One row per document that must be cited."""
    document = subject.document
    entries = [reference.span.of(document.text) for reference in document.references]
    entries += [citation.raw for citation in document.citations]
    urls = frozenset(normalize_url(citation.url) for citation in document.citations if citation.url)
    rows = []
    for source in files.sources:
        if source.required:
            cited = source.named_by(entries, document.text, urls)
            label = "cited" if cited else "not_cited"
            item = item_id(subject.task.id, f"source {source.url} {source.name}")
            rows.append(Judgment(item, CODE_COLUMN, label, float(cited), rationale=source.name))
    return rows or [replace(not_applicable(subject, "no_gold"), family=CODE_COLUMN)]


def _questions(parts: Sequence[Column]) -> list[str]:
    asked: dict[Column, list[str]] = {
        "ir_user_files": ["insight"],
        "ir_sandbox": ["insight"],
        "factual_accuracy": ["cited", "support"],
        "instruction_following": ["requirement"],
        "depth": ["depth"],
    }
    return list(dict.fromkeys(question for part in parts for question in asked.get(part, [])))


def _folders(
    where: str, data: str | None, insights: str | None, checklists: str | None, size: str, required: Required
) -> Folders:
    if data is None:
        fix = f"{where}.data=datasets_en {where}.insights=insights {where}.checklists=checklists"
        raise ConfigError(Problem(f"{where}.data", "is required: the folder of the task folders", ["datasets_en"], fix))
    home = demo_file(data, "dr3")
    named = {"data": home, "insights": home, "checklists": home} if data == DEMO else {"data": home}
    named |= {key: Path(value).expanduser() for key, value in (("insights", insights), ("checklists", checklists)) if value}
    missing = [Problem(f"{where}.{key}", f"{path} is no folder") for key, path in named.items() if not path.is_dir()]
    if missing:
        raise ConfigError(*missing)
    return Folders(home, named.get("insights", home), named.get("checklists", home), size, required)
