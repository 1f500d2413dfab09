"""`deductions`: where a report's reasoning falls short, as a list of deductions that each rest on quoted words.

The judge lists, code counts: how many points a kind of deduction costs is no business of the judge. `unverified` is the
check of a deduction's quotes; a strict reading sends wrong ones back, the metric drops what is then still wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from pydantic import BaseModel, Field, ValidationInfo, field_validator
from pydantic.json_schema import SkipJsonSchema

from dreambench.judges import kinds
from dreambench.judges.kinds.agent_step import ClosingContext, Step
from dreambench.judges.quotes import check_quote

DeductionKind = Literal["refuted_step", "missing_step", "unsupported_inference", "ignored_counter_evidence", "minor_gap"]
DEDUCTION_KINDS: tuple[str, ...] = get_args(DeductionKind)
NEED_EVIDENCE = ("refuted_step", "ignored_counter_evidence")
"""Kinds that say something of the world, not of the report alone: words that a tool gave must show it."""


class Context(ClosingContext):
    """`item` is the reasoning question, `plan` its validation plan, `report` the text that is judged."""

    report: str
    item: str
    plan: dict[str, Any]


class Deduction(BaseModel):
    """One shortcoming of the report's reasoning."""

    reason: str = Field(min_length=1, description="One or two sentences: what is wrong with this step, by which criterion.")
    kind: DeductionKind = Field(
        description="refuted_step: a key step is shown to be false. missing_step: a key step is not there. "
        "unsupported_inference: a conclusion does not follow from what is given. ignored_counter_evidence: known evidence "
        "against it is passed over. minor_gap: a small lack that changes no conclusion."
    )
    quote: str = Field(
        min_length=1,
        description="The words of the report that the deduction is about, copied exactly; for a missing step, the words "
        "that should rest on it.",
    )
    url: str = Field(default="", description="The page with the evidence; empty when no page is needed.")
    evidence: str = Field(
        default="",
        description="Words of a tool's result that show it, copied exactly; needed for refuted_step and "
        "ignored_counter_evidence, else it may be empty.",
    )


class Answer(kinds.Answer):
    """The reasoning as the report has it, and all deductions; no deduction says that nothing is wrong."""

    chain: str = Field(min_length=1, description="The report's chain of reasoning on the question, in a few sentences.")
    deductions: list[Deduction] = Field(description="Every shortcoming once, the weightiest first; empty when there is none.")
    checked: SkipJsonSchema[int | None] = Field(
        default=None,
        ge=0,
        description="How many points rules could settle; null from a judge that reads, which is not told of this field.",
    )

    @field_validator("deductions")
    @classmethod
    def _rest_on_words(cls, deductions: list[Deduction], info: ValidationInfo) -> list[Deduction]:
        reading = info.context
        if isinstance(reading, kinds.Reading) and reading.strict and isinstance(reading.context, Context):
            found = [unverified(one, reading.context.report, reading.context.steps) for one in deductions]
            if wrong := [f"deduction {number}: {TOLD[why]}" for number, why in enumerate(found, 1) if why]:
                raise ValueError("; ".join(wrong))
        return deductions


TOLD = {
    "quote_not_found": "its quote does not stand in the report; copy the words exactly",
    "evidence_missing": "it needs words of a tool's result as evidence",
    "evidence_not_found": "its evidence does not stand in any result of that page; copy the words exactly",
}
"""What a judge is told of a deduction whose words cannot be verified, by reason code."""


def unverified(deduction: Deduction, report: str, steps: Sequence[Step]) -> str | None:
    """Why a deduction's words cannot be verified (a key of TOLD), None when they can."""
    if check_quote(deduction.quote, report) is None:
        return "quote_not_found"
    if not deduction.evidence.strip():
        return "evidence_missing" if deduction.kind in NEED_EVIDENCE else None
    url = deduction.url.strip()
    read = (step.result for step in steps if step.outcome == "ok" and (url in step.arguments or url in step.result))
    return None if any(check_quote(deduction.evidence, text) for text in read) else "evidence_not_found"


KIND = kinds.Kind("deductions", "where a report's reasoning falls short, in quoted deductions", Context, Answer)
