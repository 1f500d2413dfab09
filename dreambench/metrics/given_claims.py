"""Factuality and FACT on claims that are known beforehand: extraction is bypassed, judging is as ever.

Every cited sentence of the report's body, without its markers, is a claim and a cited fact. For reports that are lists of
claims (DREAM's adversarial test): what a metric misses is then a matter of its judging, not of what it extracted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dreambench.judges.embedded import extract_citations
from dreambench.judges.judge import Judge
from dreambench.judges.kinds import Answer, Context, Reading
from dreambench.judges.rubric import Rubric
from dreambench.metrics.fact.metric import Fact
from dreambench.metrics.factuality import Factuality
from dreambench.metrics.metric import Metric, Subject
from dreambench.records import Judgment

GIVEN = {"extraction": "cited sentences"}


class GivenClaims(Metric):
    """Goes before a metric that extracts claims: its extraction is answered by code, the rest of it is as ever."""

    @property
    def rubric_variant(self) -> str:
        """The metric's own, and `given`."""
        return f"{super().rubric_variant},given"

    def identity(self) -> Mapping[str, Any]:
        return {**super().identity(), **GIVEN}  # type: ignore[safe-super]  # a whole metric comes after this class

    async def measure(self, subject: Subject, judge: Judge | None, repeat: int) -> list[Judgment]:
        assert judge is not None
        return await super().measure(subject, Listing(judge), repeat)  # type: ignore[safe-super]


class GivenFactuality(GivenClaims, Factuality):
    """Factuality of the cited sentences of a report."""


class GivenFact(GivenClaims, Fact):
    """FACT of the cited sentences of a report."""


class Listing(Judge):
    """Answers by code what a report claims and cites, and leaves every other question to `judge`."""

    def __init__(self, judge: Judge) -> None:
        super().__init__(name=judge.name, gateway=judge.gateway)
        self._judge = judge
        self.note = judge.note

    def identity(self) -> Mapping[str, Any]:
        return {**self._judge.identity(), **GIVEN}

    def refusal(self, rubric: Rubric) -> str | None:
        return None if rubric.kind.name in _BY_CODE else self._judge.refusal(rubric)

    async def answer(self, rubric: Rubric, context: Context, *, repeat: int, role: str) -> Answer:
        by_code = _BY_CODE.get(rubric.kind.name)
        if by_code is None:
            return await self._judge.answer(rubric, context, repeat=repeat, role=role)
        model = rubric.kind.answer_model(rubric.settings, context)
        return model.model_validate(by_code(context), context=Reading(context)).with_cost(0.0)


def _citations(context: Any) -> dict[str, Any]:
    """Every cited sentence once per address."""
    return extract_citations.answer({}, context)


def _claims(context: Any) -> dict[str, Any]:
    """Every cited sentence once, at most `limit`."""
    facts = dict.fromkeys(cited["fact"] for cited in _citations(context)["citations"])
    return {"claims": [{"claim": fact, "quote": fact} for fact in list(facts)[: context.limit]]}


_BY_CODE = {"extract_claims": _claims, "extract_citations": _citations}
