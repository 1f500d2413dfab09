"""A metric made of rubrics: families of weighted questions, each asked on its own. Needs no Python to extend.

Writing Quality is this class with ten rubrics (METRICS 1.1): the mean of its families, each the weighted mean of its
questions. Kinds `score` (mapped from its scale to [0, 1]) and `yes_no` (yes is 1) can be asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import polars as pl

from dreambench.errors import ConfigError, Problem
from dreambench.evaluators.workflow import lead_first
from dreambench.judges.judge import Judge
from dreambench.judges.kinds import Answer
from dreambench.judges.rubric import Rubric, RubricShelf
from dreambench.metrics.asking import Failed, ask, failed_row
from dreambench.metrics.graded import context_of
from dreambench.metrics.judged_metric import JudgedMetric
from dreambench.metrics.metric import MissingPolicy, Subject, Variant
from dreambench.records import Judgment, Status, item_id

KINDS = ("score", "yes_no")
NO_QUERY = "no_query"
"""Reason code of a question about the query of a task that has none."""


class RubricMetric(JudgedMetric):
    """Mean over families of the weighted mean of their questions; weights of a family sum to 1.

    `families` maps a family to its questions and their weights; a question is a rubric `<folder>/<question>.<rubric>`. Those
    in `about_query` set the report against the query: without one they are not applicable, and the others of their family
    share their weight.
    """

    evaluator: ClassVar[str] = "llm"
    reads_document: ClassVar[bool] = False
    primary: ClassVar[str] = "mean"

    def __init__(
        self,
        *,
        name: str,
        shelf: RubricShelf,
        id: str,  # noqa: A002  (the key that people type)
        folder: str,
        families: dict[str, dict[str, float]],
        about_query: list[str] | None = None,
        rubric: str = "default",
        repeats: int = 1,
        missing_policy: MissingPolicy = MissingPolicy.EXCLUDE,
    ) -> None:
        _check_weights(name, families)
        asked = {question: f"{folder}/{question}" for family in families.values() for question in family}
        super().__init__(name=name, shelf=shelf, asked=asked, rubric=rubric, repeats=repeats, missing_policy=missing_policy)
        self.id = id  # type: ignore[misc]
        self.families = families
        self._about_query = frozenset(about_query or ())
        for rubric_file in self.asked.values():
            if rubric_file.kind.name not in KINDS:
                raise ConfigError(Problem(f"metric.{name}", f"cannot ask {rubric_file.id} ({rubric_file.kind.name})", KINDS))

    def identity(self) -> Mapping[str, Any]:
        return {
            **super().identity(),
            "families": self.families,
            "rubrics": {question: rubric.sha256 for question, rubric in self.asked.items()},
            **({"about_query": sorted(self._about_query)} if self._about_query else {}),
        }

    async def measure(self, subject: Subject, judge: Judge | None, repeat: int) -> list[Judgment]:
        """One judgment per question, asked at once; the first goes ahead alone so that its prompt prefix is cached."""
        assert judge is not None
        left_out = frozenset() if subject.task.query.strip() else self._about_query
        families = {
            family: {question: weight for question, weight in weights.items() if question not in left_out}
            for family, weights in self.families.items()
        }
        families = {family: weights for family, weights in families.items() if weights}
        questions = [
            (family, question, weight / sum(weights.values()) / len(families))
            for family, weights in families.items()
            for question, weight in weights.items()
        ]
        asking = judge
        asked = await lead_first(judge, lambda question: self._judge_one(subject, asking, repeat, *question), questions)
        without = [
            Judgment(item_id(subject.task.id, question), family, "", None, Status.NOT_APPLICABLE, 0.0, reason_code=NO_QUERY)
            for family, weights in self.families.items()
            for question in weights
            if question in left_out
        ]
        return [*asked, *without]

    async def _judge_one(
        self, subject: Subject, judge: Judge, repeat: int, family: str, question: str, weight: float
    ) -> Judgment:
        rubric, context = self.asked[question], context_of(subject)
        if rubric.kind.name == "yes_no":
            context["item"] = rubric.settings["item"]
        answer = await ask(judge, rubric, repeat=repeat, **context)
        item = item_id(subject.task.id, question)
        if isinstance(answer, Failed):
            return replace(failed_row(item, family, question, answer), weight=weight)
        return Judgment(
            item, family, question, _value(rubric, answer), Status.SCORED, weight, rationale=_reason(answer), cost=answer.cost
        )

    def variants(self) -> Sequence[Variant]:
        families = [
            Variant(
                name=family,
                numerator=(pl.col("value") * pl.col("weight")).sum(),
                denominator=pl.col("weight").sum(),
                only=pl.col("family") == family,
                complete=True,
            )
            for family in self.families
        ]
        return [
            Variant(
                name=self.primary,
                numerator=(pl.col("value") * pl.col("weight")).sum(),
                denominator=pl.col("weight").sum(),
                complete=True,
            ),
            *families,
        ]


def _value(rubric: Rubric, answer: Answer) -> float:
    if rubric.kind.name == "yes_no":
        return 1.0 if answer.answer == "yes" else 0.0  # type: ignore[attr-defined]
    low, high = rubric.settings.get("scale", (0, 100))
    score: float = answer.score  # type: ignore[attr-defined]
    return float((score - low) / (high - low))


def _reason(answer: Answer) -> str:
    return str(getattr(answer, "reason", ""))


def _check_weights(name: str, families: Mapping[str, Mapping[str, float]]) -> None:
    problems = [
        Problem(f"metric.{name}.families.{family}", f"weights sum to {sum(weights.values()):g}", ["1"])
        for family, weights in families.items()
        if abs(sum(weights.values()) - 1) > 1e-9
    ]
    if problems or not families:
        raise ConfigError(*(problems or [Problem(f"metric.{name}.families", "has no family")]))
