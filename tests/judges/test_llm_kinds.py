"""Every question kind and every bundled rubric, put to a model through the real client stack in every mode."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dreambench.config.locations import bundled
from dreambench.judges.judge import Judge
from dreambench.judges.kinds import kind_names, load_kind
from dreambench.judges.llm import LLMJudge
from dreambench.judges.panel import PanelJudge
from dreambench.judges.rubric import Rubric, RubricShelf
from tests.support import openai_stub as acts
from tests.support.gateway import TestGateway
from tests.support.openai_stub import OpenAIStub
from tests.support.questions import rubric

REPORT = "Exports of copper grew by eight per cent in the year 2023.\nImports of copper fell by two per cent in 2023."
COMMON = {"question": "How did copper trade develop?", "as_of": "2024-05-01"}
CONTEXTS: dict[str, dict[str, Any]] = {
    "score": {**COMMON, "report": REPORT},
    "yes_no": {**COMMON, "report": REPORT, "item": "Does it name a year?"},
    "checklist": {**COMMON, "report": REPORT, "items": {"a-1": "Does it name a year?", "b.2": "Does it name a country?"}},
    "extract_claims": {**COMMON, "report": REPORT, "limit": 5},
    "queries": {**COMMON, "claim": "Copper exports grew by 8 % in 2023."},
    "classify_domain": {"domain": "statistics-office.example", "about": "We publish statistics.", "titles": ["Trade"]},
    "entailment": {
        "claim": "Copper exports grew by 8 % in 2023.",
        "as_of": "2024-05-01",
        "passages": [{"id": "p1", "text": REPORT}, {"id": "p2", "text": "Nothing about it."}],
    },
}
PAIR = {
    **COMMON,
    "first": REPORT,
    "second": "Copper trade was flat.",
    "criteria": [
        {"id": "c1", "dimension": "insight", "criterion": "Names causes", "explanation": "Says why trade changed."},
        {"id": "c2", "dimension": "readability", "criterion": "Is short"},
    ],
}
CONTEXTS |= {
    "race_scores": PAIR,
    "race_lists": PAIR,
    "race_weights": COMMON,
    "race_criteria": {**COMMON, "dimension": "insight"},
    "extract_citations": {**COMMON, "report": f"{REPORT} [1]\n\n[1] https://statistics.example/copper"},
    "verify_facts": {
        "url": "https://statistics.example/copper",
        "page": REPORT,
        "facts": {"f1": "Exports grew by 8 %.", "f2": "Imports fell."},
        "as_of": "2024-05-01",
    },
}
STEPS = [{"turn": 1, "thought": "t", "tool": "web_search", "arguments": "{}", "result": REPORT}]
PLAN = {"extract": "e", "verify": [{"what": "w", "tools": ["web_search"]}], "criteria": ["c"]}
CONTEXTS |= {
    "select_tools": {**COMMON, "tools": {"web_search": "Searches.", "calculate": "Calculates."}},
    "agent_step": {
        **COMMON,
        "job": {"report": REPORT, "item": "Why?", "plan": PLAN, "least": 1, "most": 3, "kept": [], "refused": [], "count": 2}
        | {"pages": True},
        "tools": [{"name": "web_search", "description": "Searches.", "parameters": {"type": "object"}}],
        "steps": STEPS,
    },
    "rewrite": {"query": "How did copper trade develop?", "passage": REPORT},
    "deductions": {**COMMON, "steps": STEPS, "report": REPORT, "item": "Why?", "plan": PLAN},
    "key_facts": {**COMMON, "steps": STEPS, "least": 1, "most": 3},
    "reasoning_questions": {**COMMON, "steps": STEPS, "count": 2, "tools": ["web_search"]},
}
CONTEXTS["rewrite"] = {"query": "How did copper trade change?", "passage": "Copper trade grew.", "most": 400}
CONTEXTS["pair_preferences"] = PAIR
CONTEXTS["issues"] = {**COMMON, "report": REPORT}
CONTEXTS["fact_in_context"] = {**COMMON, "report": REPORT, "claim": "They grew by eight per cent."}
CONTEXTS["rubric_items"] = {
    **CONTEXTS["checklist"],
    "blocked": {"title": "The copper study", "authors": ["A. Author"], "urls": ["https://copper.example/study"]},
    "cut": True,
}
CONTEXTS["verifiers"] = {**COMMON, "report": REPORT, "items": {"V1": "exports = 8 %", "V2": "decision = ACCEPT"}}
CONTEXTS["graded_criteria"] = {**COMMON, "report": REPORT, "items": {"DI": "data", "AR": "reasoning"}, "material": "The way."}
SHEET = {"dimension": "margin", "entity": "Acme", "type": "precise", "reference": "12 %", "answer": "about a tenth"}
CONTEXTS["matrix_cells"] = CONTEXTS["failure_modes"] = {**COMMON, "cells": {"c-1": SHEET, "c.2": SHEET}}
CONTEXTS["matrix_answer"] = {**COMMON, "steps": STEPS, "items": {"c-1": "margin of Acme", "c.2": "price of Acme"}}
CONTEXTS["classify_items"] = {**COMMON, "items": {"a-1": "Names its sources", "b.2": "Is easy to read"}}
SETTINGS = {
    "entailment": {"labels": ["supported", "contradicted", "neutral"]},
    "classify_items": {"answers": ["source_quality", "presentation_quality"]},
}


def plain(kind: str) -> Rubric:
    made = rubric(load_kind(kind))
    template = made.template.environment.from_string("{% block system %}S{% endblock %}{% block user %}Q{% endblock %}")
    return Rubric(made.id, made.kind, "1", SETTINGS.get(kind, {}), made.sha256, template)


def ask(judge: Judge, question: Rubric) -> Any:
    async def go() -> Any:
        try:
            return await judge.ask(question, **CONTEXTS[question.kind.name])
        finally:
            await judge.close()

    return asyncio.run(go())


@pytest.mark.parametrize("mode", ["tools", "json_schema", "json"])
@pytest.mark.parametrize("kind", kind_names())
def test_every_kind_is_answered_in_every_mode(kind: str, mode: Any, stub: OpenAIStub, gateway: TestGateway) -> None:
    judge = LLMJudge(name="it", gateway=gateway, model="openai/m", api_base=stub.url, mode=mode)
    question = plain(kind)
    answer = ask(judge, question)
    assert isinstance(answer, question.kind.answer)
    assert 1 <= len(stub.requests) <= 2
    if mode == "tools":
        name = stub.bodies[0]["tools"][0]["function"]["name"]
        assert name.isidentifier()
        assert len(name) <= 64


@pytest.mark.parametrize("rubric_id", RubricShelf([bundled("rubrics")]).names())
def test_every_bundled_rubric_is_answered(rubric_id: str, stub: OpenAIStub, gateway: TestGateway) -> None:
    question = RubricShelf([bundled("rubrics")]).load(rubric_id)
    judge = LLMJudge(name="it", gateway=gateway, model="openai/m", api_base=stub.url)
    assert isinstance(ask(judge, question), question.kind.answer)
    assert [message["role"] for message in stub.bodies[0]["messages"]] == ["system", "user"]


@pytest.mark.parametrize("kind", kind_names())
def test_every_kind_is_answered_by_a_panel(kind: str, stub: OpenAIStub, gateway: TestGateway) -> None:
    make = partial(LLMJudge, gateway=gateway, api_base=stub.url)
    members = [make(name=name, model=f"openai/{name}") for name in "abc"]
    question = plain(kind)
    answer = ask(PanelJudge(name="p", gateway=gateway, members=members), question)
    assert isinstance(answer, question.kind.answer)
    if kind == "checklist":
        assert list(answer.by_id()) == ["a-1", "b.2"]


def test_a_wrong_quote_sends_the_answer_back_once_and_is_then_left_to_the_metric(
    stub: OpenAIStub, gateway: TestGateway, tmp_path: Path
) -> None:
    wrong = {"reason": "r", "quote": "words that nobody wrote anywhere", "answer": "yes"}
    stub.always(acts.saying(wrong))
    answer = ask(LLMJudge(name="it", gateway=gateway, model="openai/m", api_base=stub.url), plain("yes_no"))
    assert answer.model_dump() == wrong
    assert len(stub.requests) == 2
    assert "do not stand in the report" in stub.bodies[1]["messages"][-1]["content"]
