"""SAFE: F1@K, human labels, the pipeline with sampling, failures, every call's content."""

from __future__ import annotations

import asyncio
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from dreambench.config.locations import bundled
from dreambench.errors import ConfigError, DatasetError, ProviderError
from dreambench.judges.embedded import EmbeddedJudge
from dreambench.judges.llm import LLMJudge
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.metric import Subject
from dreambench.metrics.safe.metric import Safe
from dreambench.metrics.safe.table import f1_at_k
from dreambench.records import Judgment, Report, Status, Task
from dreambench.tools.toolset import CorpusTools, NoTools
from tests.apps.command import ROOT
from tests.support import measuring
from tests.support.gateway import TestGateway
from tests.support.openai_stub import OpenAIStub, saying
from tests.support.scripted_judge import ScriptedJudge

SHELF = RubricShelf([bundled("rubrics")])
DATA = ROOT / "tests" / "data" / "safe"
HUMAN, OUTPUT = str(DATA / "factscore.jsonl"), str(DATA / "safe_output.json")
REPORT = "The Akashi bridge was opened in 1998. Its span is 1,991 metres. Tea was served. It is red."


@pytest.fixture
def corpus(gateway: TestGateway, tmp_path: Path) -> CorpusTools:
    folder = tmp_path / "pages"
    folder.mkdir()
    said = "The Akashi bridge was opened in 1998. The Akashi span is long."
    (folder / "1.md").write_text(f"---\nurl: https://a.example/x\ntitle: Akashi\npublished: 2020-01-01\n---\n{said}\n")
    return CorpusTools(gateway=gateway, path=folder)


def metric(tools: NoTools | None = None, **keys: Any) -> Safe:
    return Safe(name="safe", shelf=SHELF, tools=tools or NoTools(), **keys)


def script(rubric: Any, context: Any, repeat: int) -> dict[str, Any]:
    """A fact per sentence; tea is beside the question; 1998 is supported; red finds nothing."""
    match rubric.kind.name:
        case "extract_claims":
            return {"claims": [{"claim": context.report, "quote": context.report}]}
        case "fact_in_context":
            return {"fact": context.claim, "reason": "r", "relevant": "no" if "Tea" in context.claim else "yes"}
        case "queries":
            return {"queries": ["zebra"] if "red" in context.claim else ["Akashi opened", "Akashi span"]}
    label = "supported" if "1998" in context.claim else "not_supported"
    quote = "opened in 1998" if label == "supported" else ""
    return {"reason": "r", "passage": "p1" if quote else "", "quote": quote, "label": label}


def test_the_published_formula() -> None:
    assert f1_at_k(10, 8, 100) == pytest.approx(0.16949, abs=5e-6)
    assert f1_at_k(0, 8, 100) == 0.0
    assert f1_at_k(200, 0, 100) == 1.0


def test_facts_are_checked_one_by_one(corpus: CorpusTools, gateway: TestGateway) -> None:
    made = metric(corpus, k=[2, 100], sentences=None)
    judge = ScriptedJudge(name="j", gateway=gateway, script=script)
    rows = measuring.judgments(made, REPORT, judge)
    assert [(row.label, row.value, row.reason_code) for row in rows if row.family == "fact"] == [
        ("supported", 1.0, ""),
        ("not_supported", 0.0, ""),
        ("irrelevant", None, ""),
        ("not_supported", 0.0, "no_results"),
    ]
    assert rows[0].evidence[0].url == "https://a.example/x"
    assert REPORT[rows[0].report_start : rows[0].report_end] == "The Akashi bridge was opened in 1998."
    values = measuring.values(made, rows)
    assert values["f1@2"] == pytest.approx(f1_at_k(1, 2, 2))
    assert values["f1@100"] == pytest.approx(f1_at_k(1, 2, 100))
    assert values["precision"] == pytest.approx(1 / 3)
    assert (values["supported"], values["not_supported"], values["irrelevant"]) == (1, 2, 1)
    asked = [record for record in gateway.records if record.role in ("judging", "extraction")]
    assert len(asked) == 4 + 4 + 3 + 2, "sentences, contexts, queries of relevant facts, verdicts where something was found"


def test_a_sample_is_drawn_by_seed_weighs_up_and_is_named(corpus: CorpusTools, gateway: TestGateway) -> None:
    made = metric(corpus, sentences=2)
    assert made.rubric_variant == "default,sentences=2"
    judge = ScriptedJudge(name="j", gateway=gateway, script=script)
    rows = measuring.judgments(made, REPORT, judge)
    assert [row.weight for row in rows if row.family == "fact"] == [2.0, 2.0]
    assert "2 of 4 sentences" in rows[-1].rationale
    values = measuring.values(made, rows)
    assert sum(values[label] or 0 for label in ("supported", "not_supported", "irrelevant")) == 4
    about, every = measuring.subject(REPORT), measuring.subject(REPORT).document.sentences
    small, large = made.sample(about, every), metric(corpus, sentences=3).sample(about, every)
    assert set(small) < set(large)
    other = [metric(corpus, sentences=2, seed=seed).sample(about, every) for seed in range(8)]
    assert any(sample != small for sample in other)


def test_trouble_with_one_fact_is_an_error_and_no_f1(corpus: CorpusTools, gateway: TestGateway) -> None:
    def failing(rubric: Any, context: Any, repeat: int) -> dict[str, Any]:
        if rubric.kind.name == "entailment" and "span" in context.claim:
            raise ProviderError("down", code="server_error")
        return script(rubric, context, repeat)

    made = metric(corpus, sentences=None)
    rows = measuring.judgments(made, REPORT, ScriptedJudge(name="j", gateway=gateway, script=failing))
    assert [row.status for row in rows if row.family == "fact"].count(Status.JUDGE_ERROR) == 1
    values = measuring.values(made, rows)
    assert values["f1@64"] is None and values["precision"] == pytest.approx(1 / 2)


def saved(file: str, task: Task) -> tuple[Safe, list[Judgment]]:
    made = metric(saved=file, k=[64])
    subject = Subject(task, Report(task.id, "a", REPORT))
    return made, asyncio.run(made.measure(subject, None, 0))


def test_human_labels_and_saved_output_are_read() -> None:
    values = measuring.values(*saved(HUMAN, Task("Ada Stone", "q", "d")))
    assert values["f1@64"] == pytest.approx(f1_at_k(2, 1, 64))
    assert (values["supported"], values["not_supported"], values["irrelevant"]) == (2, 1, 1)
    _, (declined,) = saved(HUMAN, Task("Bo Lind", "q", "d"))
    assert declined.status is Status.MISSING_RUN, "a record without annotations is skipped, not scored"
    assert measuring.values(*saved(OUTPUT, Task("x", measuring.TASK.query, "d")))["f1@64"] == pytest.approx(f1_at_k(1, 1, 64))


def test_what_cannot_be_is_said_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is an empty list"):
        metric(k=[])
    assert "checks facts by a search" in metric().problems([measuring.TASK])[0].what
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"topic": "t", "annotations": [{"human-atomic-facts": [{"text": "x", "label": "Q"}]}]}\n')
    with pytest.raises(DatasetError, match="has no label"):
        metric(saved=str(bad))


def test_a_search_needs_dates(corpus: CorpusTools) -> None:
    assert metric(corpus).problems([measuring.TASK]) == []
    assert metric(corpus).problems([Task("u", "q", "d")])[0].type == "as_of=2025-06-30"


def test_the_embedded_judge_goes_through_all_stages(corpus: CorpusTools, gateway: TestGateway) -> None:
    embedded = EmbeddedJudge(name="e", gateway=gateway)
    made = metric(corpus, sentences=None)
    assert [embedded.refusal(rubric) for rubric in made.rubrics()] == [None] * 4
    facts = [row for row in measuring.judgments(made, REPORT, embedded) if row.family == "fact"]
    assert {row.status for row in facts} == {Status.SCORED}
    assert facts[0].label == "supported"


def test_every_call_holds_what_it_asks_about(corpus: CorpusTools, gateway: TestGateway) -> None:
    fact = "The Akashi bridge was opened in 1998."
    with OpenAIStub() as stub:
        for words, answer in (
            ("Take the sentence apart", {"claims": [{"claim": "It was opened in 1998.", "quote": "opened in 1998"}]}),
            ("taken out of the report", {"fact": fact, "reason": "r", "relevant": "yes"}),
            ("whether the fact is so", {"queries": ["Akashi bridge"]}),
            ("is the fact supported", {"reason": "r", "passage": "p1", "quote": "opened in 1998", "label": "supported"}),
        ):
            stub.always(saying(answer), when=lambda body, words=words: words in body["messages"][1]["content"])
        judge = LLMJudge(name="j", gateway=gateway, model="openai/m", api_base=stub.url)

        async def run() -> list[Judgment]:
            task = Task("t", "How did bridges change?", "d", date(2025, 1, 1))
            text = "It was opened in 1998."
            try:
                return await metric(corpus).measure(Subject(task, Report("t", "a", text)), judge, 0)
            finally:
                await judge.close()

        rows = asyncio.run(run())
        apart, context, queries, verdict = (body["messages"][1]["content"] for body in stub.bodies)
    assert [row.label for row in rows] == ["supported", "facts"]
    assert "It was opened in 1998." in apart and "sentence>" not in apart
    assert "It was opened in 1998." in context and "How did bridges change?" in context
    assert fact in queries and "5 different search queries" in queries, "the fact by itself is searched for"
    assert fact in verdict and "https://a.example/x" in verdict and "published 2020-01-01" in verdict
