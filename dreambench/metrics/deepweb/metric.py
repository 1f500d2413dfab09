"""DeepWeb-Bench as a metric (METRICS 4): a row per cell, graded by code where code can, by the judge where it cannot.

A report is an answer's Markdown; its cells are read from the text that is judged, so a perturbed answer is scored by what it
then says. Families: the capability of the cell's dimension; `case` (one row per report: domain, usage, no value);
`failure` (the mode of a failing cell); `missing_run` (0, counted by the variant `missing_zero` only). The report's row of a
missing run has the status `missing_run`. A rationale starts with the cell and its answer type: `Q2 x OpenAI (range): ...`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import NonNegativeFloat, PositiveInt

from dreambench.datasets.dataset import Dataset
from dreambench.engine.compute import compute
from dreambench.errors import ConfigError, Problem
from dreambench.judges.judge import Judge
from dreambench.judges.kinds import Answer
from dreambench.judges.kinds.failure_modes import MODES
from dreambench.judges.kinds.matrix_cells import CANNOT_TELL
from dreambench.judges.rubric import Rubric, RubricShelf
from dreambench.metrics.asking import Failed, ask, failed_row
from dreambench.metrics.deepweb.cells import CellText, find_cells
from dreambench.metrics.deepweb.dataset import UNPUBLISHED, MatrixDataset
from dreambench.metrics.deepweb.importer import released_tiers
from dreambench.metrics.deepweb.model import DEFAULT_FAMILIES, FAMILY_WEIGHTS, Family, Key, MatrixTask, ReferenceCell, family_of
from dreambench.metrics.deepweb.tolerance import Grade, Tolerances, grade
from dreambench.metrics.judged_metric import JudgedMetric
from dreambench.metrics.metric import MissingPolicy, Subject, Variant
from dreambench.records import Evidence, Judgment, Status, item_id

CELLS, FAILURES = "cells", "failures"
FAMILIES = [family.value for family in Family]
CASE, FAILURE, MISSING_RUN, REPORT = "case", "failure", "missing_run", "report"
Scores = Literal["graded", "released"]


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell with its answer (None: the text does not mention it) and what code makes of it."""

    reference: ReferenceCell
    family: Family
    answer: CellText | None
    grade: Grade

    @property
    def said(self) -> str:
        return self.answer.text if self.answer else ""


class DeepWeb(JudgedMetric):
    """Cell tiers of matrix tasks: their mean, the four families, the weighted overall, and both policies on missing runs."""

    id: ClassVar[str] = "deepweb"
    axes: ClassVar[tuple[str, ...]] = ("rubric", "scores")
    primary: ClassVar[str] = "score"
    reads_document: ClassVar[bool] = False

    def __init__(
        self,
        *,
        name: str,
        shelf: RubricShelf,
        scores: Scores = "graded",
        rest: Literal["judge", "leave"] = "judge",
        families: dict[str, Family] | None = None,
        weights: dict[Family, NonNegativeFloat] | None = None,
        tolerances: Tolerances | None = None,
        failures: bool = False,
        failing: NonNegativeFloat = 0.25,
        batch: PositiveInt = 16,
        rubric: str = "default",
        repeats: int = 1,
        missing_policy: MissingPolicy = MissingPolicy.EXCLUDE,
    ) -> None:
        """Raises ConfigError for failure modes that nobody is asked for."""
        asked = {question: f"deepweb/{question}" for question in (CELLS, FAILURES)}
        super().__init__(name=name, shelf=shelf, asked=asked, rubric=rubric, repeats=repeats, missing_policy=missing_policy)
        self._scores, self._rest, self._batch = scores, rest, batch
        self._families = {**DEFAULT_FAMILIES, **(families or {})}
        self._weights = {**FAMILY_WEIGHTS, **(weights or {})}
        self._tolerances = tolerances or Tolerances()
        self._failures, self._failing = failures, failing
        self._data, self._digest = MatrixDataset(), ""
        self._asks = (scores == "graded" and rest == "judge") or failures
        if not self._asks:
            self.evaluator = "code"  # type: ignore[misc]
        if failures and scores == "released":
            what = "failure modes are judged from answers that were graded, not from released scores"
            raise ConfigError(Problem(f"metric.{name}.failures", what, type=f"metric.{name}.scores=graded"))

    @property
    def rubric_variant(self) -> str:
        """The wording, and what else tells two nodes apart: `default`, `default,leave`, `released`."""
        if self._scores == "released":
            return "released"
        return ",".join([self.wording] * self._asks + ["leave"] * (self._rest == "leave"))

    def rubrics(self) -> Sequence[Rubric]:
        judged = self._scores == "graded" and self._rest == "judge"
        return [self.asked[CELLS]] * judged + [self.asked[FAILURES]] * self._failures

    def identity(self) -> Mapping[str, Any]:
        return {
            **super().identity(),
            "scores": self._scores,
            "rest": self._rest,
            "rubrics": self.rubric_hashes(),
            "families": {name: family.value for name, family in self._families.items()},
            "weights": {family.value: weight for family, weight in self._weights.items()},
            "tolerances": self._tolerances.model_dump(),
            "failing": self._failing,
            "batch": self._batch,
            "matrices": self._digest,
        }

    def prepare(self, dataset: Dataset) -> list[Problem]:
        where = f"metric.{self.name}"
        if not isinstance(dataset, MatrixDataset):
            return [Problem(where, "grades the cells of matrix tasks, which this data set has not", type="dataset=deepweb")]
        self._data, self._digest = dataset, dataset.matrix_digest()
        if self._scores == "released" and not any(run.tiers for run in dataset.released.values()):
            what = "shows released scores, and the release has none (score_details.jsonl)"
            return [Problem(f"{where}.scores", what, type=f"{where}.scores=graded")]
        if self._scores == "graded" and (without := [name for name, task in dataset.matrices.items() if not task.cells]):
            what = f"no reference cell was found for {len(without)} cases: {', '.join(without[:5])}"
            return [Problem(where, what, type=f"{where}.scores=released")]
        return []

    async def measure(self, subject: Subject, judge: Judge | None, repeat: int) -> list[Judgment]:
        """A row per cell of the matrix; the rows of a missing run where there is no answer."""
        task = self._data.matrices[subject.task.id]
        case = _case_row(subject, task, self._data)
        if not subject.report.text.strip():
            return [case, *_missing_run(task)]
        if self._scores == "released":
            return [case, *self._released(subject, task)]
        if subject.report.text.strip() == UNPUBLISHED:
            return [case, _whole(task, "answer_not_released", Status.NOT_APPLICABLE)]
        cells = await compute(self._grade, subject, task)
        given = await self._ask_rest(subject, judge, repeat, [cell for cell in cells if not cell.grade.settled])
        rows = [_row(task.id, cell, given.get(cell.reference.key)) for cell in cells]
        failing = [cell for cell, row in zip(cells, rows, strict=True) if row.value is not None and row.value <= self._failing]
        return [case, *rows, *await self._ask_modes(subject, judge, repeat, failing)]

    def _grade(self, subject: Subject, task: MatrixTask) -> list[_Cell]:
        answers = find_cells(subject.report.text, task.dimensions, task.entities)
        references = task.by_key()
        cells = []
        for order, dimension in enumerate(task.dimensions):
            family = family_of(dimension, order, self._families)
            for entity in task.entities:
                key = (dimension.id, entity)
                if reference := references.get(key):
                    answer = answers.get(key)
                    found = grade(reference, answer.text if answer else None, family, self._tolerances)
                    cells.append(_Cell(reference, family, answer, found))
        return cells

    async def _ask_rest(
        self, subject: Subject, judge: Judge | None, repeat: int, cells: Sequence[_Cell]
    ) -> dict[Key, tuple[Any, float | None]]:
        """What the judge says of the cells that code could not settle, by key: an answer or why there is none."""
        if self._rest == "leave" or judge is None:
            return {}
        return await self._ask(subject, judge, repeat, self.asked[CELLS], cells)

    async def _ask_modes(self, subject: Subject, judge: Judge | None, repeat: int, cells: Sequence[_Cell]) -> list[Judgment]:
        if not self._failures or judge is None:
            return []
        answered = [cell for cell in cells if cell.answer is not None]
        given = await self._ask(subject, judge, repeat, self.asked[FAILURES], answered)
        rows = [_mode_row(subject.task.id, cell, *given[cell.reference.key]) for cell in answered]
        return rows + [_unanswered_mode(subject.task.id, cell) for cell in cells if cell.answer is None]

    async def _ask(
        self, subject: Subject, judge: Judge, repeat: int, rubric: Rubric, cells: Sequence[_Cell]
    ) -> dict[Key, tuple[Any, float | None]]:
        parts = [cells[at : at + self._batch] for at in range(0, len(cells), self._batch)]

        async def one(part: Sequence[_Cell]) -> Answer | Failed:
            sheets = {f"c{number}": _sheet(cell) for number, cell in enumerate(part, 1)}
            return await ask(judge, rubric, repeat=repeat, question=subject.task.query, as_of=subject.as_of, cells=sheets)

        found: dict[Key, tuple[Any, float | None]] = {}
        for part, answer in zip(parts, await asyncio.gather(*(one(part) for part in parts)), strict=True):
            by_id = {} if isinstance(answer, Failed) else answer.by_id()  # type: ignore[attr-defined]
            share = None if isinstance(answer, Failed) or answer.cost is None else answer.cost / len(part)
            for number, cell in enumerate(part, 1):
                found[cell.reference.key] = (answer if isinstance(answer, Failed) else by_id[f"c{number}"], share)
        return found

    def _released(self, subject: Subject, task: MatrixTask) -> list[Judgment]:
        """The published tiers; a cell that a published run lacks is an unanswered cell, which is 0."""
        run = self._data.released.get((task.id, subject.report.agent))
        if run is None or not run.tiers:
            return [_whole(task, "not_released", Status.NOT_APPLICABLE)]
        tiers, references = released_tiers(task, run), task.by_key()
        rows = []
        for order, dimension in enumerate(task.dimensions):
            family = family_of(dimension, order, self._families)
            for entity in task.entities:
                value = tiers.get((dimension.id, entity))
                kind = references[dimension.id, entity].type.value if (dimension.id, entity) in references else "untyped"
                rows.append(
                    Judgment(
                        item_id(task.id, f"{dimension.id} x {entity}"),
                        family.value,
                        f"{value or 0.0:g}",
                        value or 0.0,
                        reason_code="released" if value is not None else "no_answer",
                        rationale=f"{dimension.id} x {entity} ({kind}): {run.rationales.get(dimension.id, '')}",
                    )
                )
        return rows

    def variants(self) -> Sequence[Variant]:
        """The mean of the cells, the weighted overall, each family, missing runs as 0 (where all are known), failure modes."""
        cells, missing = pl.col("family").is_in(FAMILIES), pl.col("family") == MISSING_RUN
        total, count = pl.col("value").sum(), pl.len()
        families = [Variant(name, total, count, micro=True, only=pl.col("family") == name) for name in FAMILIES]
        modes = [
            Variant(mode, (pl.col("label") == mode).sum(), count, micro=True, only=pl.col("family") == FAILURE)
            for mode in (MODES if self._failures else ())
        ]
        return [
            Variant(self.primary, total, count, micro=True, only=cells),
            Variant("overall", *self._weighted(), only=cells),
            *families,
            *([Variant("missing_zero", total, count, only=cells | missing)] if self._data.whole else []),
            *modes,
        ]

    def _weighted(self) -> tuple[pl.Expr, pl.Expr]:
        """(R + 4 D + C + 2 Re) / 8 over the families that the task has."""
        means, present = [], []
        for family, weight in self._weights.items():
            own = pl.col("value").filter(pl.col("family") == family.value)
            means.append((own.mean() * weight).fill_null(0.0))
            present.append(pl.when(own.len() > 0).then(weight).otherwise(0.0))
        return pl.sum_horizontal(means), pl.sum_horizontal(present)


def _sheet(cell: _Cell) -> dict[str, str]:
    reference = cell.reference
    return {
        "dimension": reference.dimension,
        "entity": reference.entity,
        "type": reference.type.value,
        "reference": reference.answer or reference.text,
        "derivation": reference.derivation,
        "agreement": reference.agreement,
        "rule": reference.rule.text,
        "answer": cell.said,
        "note": cell.grade.why,
        "open": "" if cell.grade.settled else cell.grade.code,
    }


def _row(task: str, cell: _Cell, given: tuple[Any, float | None] | None) -> Judgment:
    """The row of a cell: code's grade, the judge's, or why there is none."""
    reference, name = cell.reference, f"{cell.reference.dimension} x {cell.reference.entity}"
    item = item_id(task, name)
    start, end = (cell.answer.start, cell.answer.end) if cell.answer else (None, None)
    value, code, why, cost = cell.grade.tier, cell.grade.code, cell.grade.why, None
    status = Status.SCORED
    if not cell.grade.settled:
        if given is None:
            status = Status.UNANSWERED
        elif isinstance(given[0], Failed):
            return failed_row(item, cell.family.value, "", given[0], start, end)
        elif given[0].tier == CANNOT_TELL:
            status, code, why, cost = Status.UNANSWERED, CANNOT_TELL, given[0].reason, given[1]
        else:
            value, code, why, cost = float(given[0].tier), f"judged_{code}", given[0].reason, given[1]
    return Judgment(
        item,
        cell.family.value,
        "" if value is None else f"{value:g}",
        value,
        status,
        reason_code=code,
        rationale=f"{name} ({reference.type.value}): {why.rstrip('.')}. Reference: {reference.answer or reference.text[:200]}",
        report_start=start,
        report_end=end,
        evidence=tuple(Evidence(url=source.url, quote=source.tier) for source in reference.sources if source.url),
        cost=cost,
    )


def _mode_row(task: str, cell: _Cell, answer: Any, cost: float | None) -> Judgment:
    name = f"{cell.reference.dimension} x {cell.reference.entity} ({cell.reference.type.value})"
    item = item_id(task, f"failure {name}")
    if isinstance(answer, Failed):
        return failed_row(item, FAILURE, "", answer)
    start, end = (cell.answer.start, cell.answer.end) if cell.answer else (None, None)
    why = f"{name}: {answer.reason}"
    return Judgment(item, FAILURE, answer.mode, 1.0, weight=0.0, rationale=why, report_start=start, report_end=end, cost=cost)


def _unanswered_mode(task: str, cell: _Cell) -> Judgment:
    """A cell that was not answered failed for want of anything to classify: nothing was found."""
    name = f"{cell.reference.dimension} x {cell.reference.entity} ({cell.reference.type.value})"
    item, why = item_id(task, f"failure {name}"), f"{name}: the cell is not answered"
    return Judgment(item, FAILURE, "unanswered", None, Status.NOT_APPLICABLE, 0.0, "no_answer", why)


def _whole(task: MatrixTask, code: str, status: Status) -> Judgment:
    return Judgment(item_id(task.id, code), REPORT, code, None, status, reason_code=code)


def _missing_run(task: MatrixTask) -> list[Judgment]:
    zero = Judgment(item_id(task.id, "missing run as 0"), MISSING_RUN, "0", 0.0, reason_code=MISSING_RUN)
    return [_whole(task, MISSING_RUN, Status.MISSING_RUN), zero]


def _case_row(subject: Subject, task: MatrixTask, data: MatrixDataset) -> Judgment:
    """What slices and usage tables need of a report: its label is the domain, its rationale a JSON object."""
    run = data.released.get((task.id, subject.report.agent))
    about = {
        "number": task.number,
        "domain": task.domain,
        "entities": len(task.entities),
        "dimensions": len(task.dimensions),
        "characters": len(subject.report.text),
        "searches": run.searches if run else None,
        "visits": run.visits if run else None,
        "seconds": run.seconds if run else None,
    }
    text = json.dumps(about, ensure_ascii=False)
    return Judgment(item_id(task.id, CASE), CASE, task.domain, None, Status.NOT_APPLICABLE, weight=0.0, rationale=text)
