"""`deductions` by rules: only what code can defend is deducted, with the words of the report and of the evidence.

`checked` says how many points code could settle at all; where it is 0 the question stays unanswered and is no score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dreambench.judges.embedded.reasoning.finding import Finding, check
from dreambench.judges.embedded.reasoning.passage import Passage, about
from dreambench.judges.embedded.reasoning.source import authority_of, sources_of
from dreambench.judges.kinds.deductions import DEDUCTION_KINDS, Context

SHOWN = 3
"""Sentences of the report that are shown as its chain of reasoning."""
_LONGEST = 160


def refusal(settings: Mapping[str, Any]) -> str | None:
    """None: settings belong to the wording."""
    return None


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The findings, the weightiest kind first, and how much was checked."""
    passages = about({"report": context.report, "item": context.item, "plan": context.plan})
    sources = sources_of(context.steps)
    authority = authority_of(sources)
    results = [check(passage, context.report, context.steps, sources, authority) for passage in passages]
    findings = [result.finding for result in results if result.finding]
    findings.sort(key=lambda finding: DEDUCTION_KINDS.index(finding.kind))
    points = sum(result.points for result in results)
    return {"chain": _chain(passages, points), "deductions": [_deduction(one) for one in findings], "checked": points}


def _chain(passages: Sequence[Passage], points: int) -> str:
    if not passages:
        return "No sentence of the report shares words with the question and its plan."
    shown = " | ".join(passage.text[:_LONGEST] for passage in passages[:SHOWN])
    return f"{len(passages)} sentences of the report are on the question, {points} points of them could be checked: {shown}"


def _deduction(finding: Finding) -> dict[str, Any]:
    return {
        "reason": finding.reason,
        "kind": finding.kind,
        "quote": finding.passage.raw,
        "url": finding.url,
        "evidence": finding.words,
    }
