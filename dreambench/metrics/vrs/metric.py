"""The Verifier-Rubric Score: verifiers decided by code where it can and by a judge elsewhere, five criteria graded by a judge.

One call takes the verifiers that code leaves open (what an answer lacks is asked for once more, alone), another all five
criteria. Grades that people gave are taken as they are (`saved`): in the source, all of them are people's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from dreambench.datasets.dataset import Dataset
from dreambench.errors import ConfigError, Problem
from dreambench.judges.judge import Judge
from dreambench.judges.kinds.checklist import Item
from dreambench.judges.kinds.graded_criteria import Answer as Grades
from dreambench.judges.quotes import check_quote
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.asking import Failed, ask, ask_keyed, failed_row
from dreambench.metrics.graded import context_of
from dreambench.metrics.judged_metric import SavedMetric
from dreambench.metrics.metric import MissingPolicy, Subject, Variant
from dreambench.metrics.vrs.check import Finding, decide
from dreambench.metrics.vrs.package import Package, read_packages
from dreambench.metrics.vrs.saved import Saved, read_saved, saved_rows
from dreambench.metrics.vrs.table import (
    CRITERIA,
    VERIFIER,
    VRS,
    criterion_row,
    report_row,
    score_variants,
    verifier_id,
    verifier_row,
)
from dreambench.metrics.vrs.verifier import Verifier
from dreambench.records import Judgment, Status, item_id

Share = Annotated[float, Field(ge=0, le=1)]
Checks = Literal["code_first", "judge_only"]
VERIFIERS, GRADES = "verifiers", "criteria"
BY_CODE, NO_PACKAGE, WRONG_QUOTE = "checked_by_code", "no_package", "quote_not_found"
LEFT_OUT = Failed(Status.JUDGE_ERROR, "missing_answer", "the judge left this check out twice")


class VerifierRubricScore(SavedMetric[Saved]):
    """Strict VRS, and beside it the relaxed one, the gates, and what they are made of."""

    id: ClassVar[str] = "vrs"
    axes: ClassVar[tuple[str, ...]] = ("rubric", "checks")
    primary: ClassVar[str] = VRS
    reads_document: ClassVar[bool] = False
    saved_variant: ClassVar[str] = ""

    def __init__(
        self,
        *,
        name: str,
        shelf: RubricShelf,
        packages: str | None = None,
        checks: Checks = "code_first",
        verifier_weight: Share = 0.5,
        accept_mean: Annotated[float, Field(ge=0, le=3)] = 2.5,
        accept_verifiers: Share = 0.8,
        rubric: str = "default",
        saved: str | None = None,
        repeats: int = 1,
        missing_policy: MissingPolicy = MissingPolicy.EXCLUDE,
    ) -> None:
        """Raises DatasetError for files that cannot be used, ConfigError where there is nothing to judge by."""
        asked = {question: f"vrs/{question}" for question in (VERIFIERS, GRADES)}
        results = read_saved(saved, f"metric.{name}.saved") if saved else None
        super().__init__(
            name=name, shelf=shelf, asked=asked, rubric=rubric, repeats=repeats, missing_policy=missing_policy, saved=results
        )
        self._checks = checks
        self._weight, self._mean, self._share = verifier_weight, accept_mean, accept_verifiers
        self._packages = read_packages(packages, f"metric.{name}.packages") if packages else None
        if self._saved is None and self._packages is None:
            fix = "dataset=vrs dataset.queries=packages.jsonl"
            raise ConfigError(Problem(f"metric.{name}.packages", "is required: the verifiers of each task", type=fix))

    def distinctions(self) -> Sequence[str]:
        """Whether verifiers are left to the judge alone."""
        return [self._checks] if self._checks == "judge_only" else []

    def identity(self) -> Mapping[str, Any]:
        shared = {
            **super().identity(),
            "packages": self._packages.sha256 if self._packages else None,
            "weights": [self._weight, self._mean, self._share],
        }
        if self._saved:
            return shared
        return {**shared, "rubrics": self.rubric_hashes(), "checks": self._checks}

    def prepare(self, dataset: Dataset) -> list[Problem]:
        where = f"metric.{self.name}"
        if self._saved:
            known = self._saved.agents
            without = [agent for agent in dataset.agents if agent not in known]
            return [Problem(f"{where}.saved", f"holds no grades of {agent}", known) for agent in without]
        assert self._packages is not None
        missing = [task.id for task in dataset.tasks if task.id not in self._packages.by_task]
        if not missing:
            return []
        what = f"has no package for {len(missing)} of {len(dataset.tasks)} tasks: {', '.join(missing[:5])}"
        return [Problem(f"{where}.packages", what, ["a package for every task"])]

    async def measure(self, subject: Subject, judge: Judge | None, repeat: int) -> list[Judgment]:
        """One row per verifier and per criterion."""
        package = self._packages.by_task.get(subject.task.id) if self._packages else None
        if self._saved:
            return saved_rows(subject.task, subject.report.agent, self._saved, package)
        assert judge is not None
        if package is None:
            return [report_row(subject.task, Status.NOT_APPLICABLE, NO_PACKAGE)]
        verified, graded = await asyncio.gather(
            self._verify(subject, judge, repeat, package.verifiers), self._grade(subject, judge, repeat, package)
        )
        return verified + graded

    async def _verify(self, subject: Subject, judge: Judge, repeat: int, verifiers: Sequence[Verifier]) -> list[Judgment]:
        """The verifiers in their order: decided by code, else by the judge."""
        first = self._checks == "code_first"
        decided = await asyncio.to_thread(_decided, verifiers, subject.report.text) if first else {}
        left = {each.id: each.text for each in verifiers if each.id not in decided}
        about = context_of(subject)
        given = await ask_keyed(judge, self.asked[VERIFIERS], left, repeat=repeat, left_out=LEFT_OUT, **about)
        return [
            _checked(subject, each, decided[each.id]) if each.id in decided else _judged(subject, each, *given[each.id])
            for each in verifiers
        ]

    async def _grade(self, subject: Subject, judge: Judge, repeat: int, package: Package) -> list[Judgment]:
        """All five criteria in one call."""
        asked = {**context_of(subject), "items": dict(CRITERIA), "material": package.material}
        answer = await ask(judge, self.asked[GRADES], repeat=repeat, **asked)
        if isinstance(answer, Failed):
            return [failed_row(item_id(subject.task.id, f"criterion {name}"), name, "", answer) for name in CRITERIA]
        assert isinstance(answer, Grades)
        share = None if answer.cost is None else answer.cost / len(CRITERIA)
        rows = []
        for name, grade in answer.by_id().items():
            span, code = _place(grade.quote, subject)
            rows.append(
                criterion_row(subject.task, name, grade.score, reason=grade.reason, reason_code=code, span=span, cost=share)
            )
        return rows

    def variants(self) -> Sequence[Variant]:
        return score_variants(self._weight, self._mean, self._share)


def _decided(verifiers: Sequence[Verifier], report: str) -> dict[str, Finding]:
    found = {verifier.id: decide(verifier, report) for verifier in verifiers}
    return {name: finding for name, finding in found.items() if finding is not None}


def _checked(subject: Subject, verifier: Verifier, found: Finding) -> Judgment:
    given = {"reason": found.why, "reason_code": BY_CODE}
    return verifier_row(subject.task, verifier.id, verifier.text, found.passed, **given, span=found.span, cost=0.0)


def _judged(subject: Subject, verifier: Verifier, answer: Item | Failed, cost: float | None) -> Judgment:
    if isinstance(answer, Failed):
        return failed_row(verifier_id(subject.task, verifier.id, verifier.text), VERIFIER, "", answer)
    span, code = _place(answer.quote, subject)
    passed = answer.answer == "pass"
    given = {"reason": answer.reason, "reason_code": code}
    return verifier_row(subject.task, verifier.id, verifier.text, passed, **given, span=span, cost=cost)


def _place(quote: str, subject: Subject) -> tuple[tuple[int, int] | None, str]:
    """Where a quote stands in the report, and the reason code of one that does not."""
    if not quote.strip():
        return None, ""
    place = check_quote(quote, subject.report.text)
    return ((place.start, place.end), "") if place else (None, WRONG_QUOTE)
