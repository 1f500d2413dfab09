"""Both metrics with an LLM judge against a scripted server: every call's content is known, and so are the numbers.

The server answers the calls listed here and nothing else in a way that would fit; what arrives must be exactly this list.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dreambench.judges.llm import LLMJudge
from dreambench.metrics.ci import CitationIntegrity
from dreambench.metrics.factuality import Factuality
from dreambench.metrics.metric import Metric
from dreambench.records import Judgment, Status
from tests.support import measuring
from tests.support.gateway import TestGateway
from tests.support.openai_stub import Act, OpenAIStub, failing, saying
from tests.support.workflow import SHELF, corpus, page

AS_OF = "2025-01-01"
AAR, RHINE = "The Aar Bridge is 503 metres long.", "The Rhine Bridge opened in 1932."
AAR_SENTENCE = "The Aar Bridge is 503 metres long [1]."
BODY = f"# Bridges\n\n{AAR_SENTENCE} {RHINE}\n\n"
REPORT = f"{BODY}## Sources\n\n[1] https://a.example/aar\n"
A_TEXT = "The Aar Bridge was measured in 2020. It is 503 metres long."
B_TEXT = "The Rhine Bridge was opened to traffic in 1935."
PAGES = [page("https://a.example/aar", A_TEXT), page("https://b.example/rhine", B_TEXT, None)]
A_PASSAGE = {
    "url": "https://a.example/aar",
    "title": "Title of https://a.example/aar",
    "published": "2024-05-01",
    "text": A_TEXT,
}
B_PASSAGE = {"url": "https://b.example/rhine", "title": "Title of https://b.example/rhine", "published": "", "text": B_TEXT}


@dataclass(frozen=True)
class Expected:
    """One call: the rubric with what it is asked about, and what the server answers."""

    rubric: str
    context: dict[str, Any]
    answer: dict[str, Any] | Act

    @property
    def messages(self) -> list[dict[str, str]]:
        rubric = SHELF.load(f"{self.rubric}.default")
        return rubric.render(rubric.kind.context(**self.context))

    @property
    def act(self) -> Act:
        return self.answer if isinstance(self.answer, Act) else saying(self.answer)


def verdict(label: str, passage: str = "", quote: str = "") -> dict[str, str]:
    return {"reason": f"It is {label}.", "passage": passage, "quote": quote, "label": label}


def about(claim: str, *passages: dict[str, str]) -> dict[str, Any]:
    numbered = [{"id": f"p{number}", **passage} for number, passage in enumerate(passages, 1)]
    return {"claim": claim, "passages": numbered, "as_of": AS_OF}


def search(claim: str, query: str) -> Expected:
    context = {"claim": claim, "question": measuring.TASK.query, "as_of": AS_OF, "count": 1}
    return Expected("factuality/queries", context, {"queries": [query]})


def extraction(rubric: str, limit: int | None) -> Expected:
    context = {"question": measuring.TASK.query, "as_of": AS_OF, "report": BODY, "limit": limit}
    given = [{"claim": AAR, "quote": AAR_SENTENCE}, {"claim": RHINE, "quote": RHINE}]
    return Expected(rubric, context, {"claims": given})


FACTUALITY = [
    extraction("factuality/extract", 30),
    search(AAR, "length of the Aar Bridge"),
    search(RHINE, "year in which the Rhine Bridge opened"),
    # the Aar query ranks its own page first, both pages share the word Bridge
    Expected("factuality/confirming", about(AAR, A_PASSAGE, B_PASSAGE), verdict("supported", "p1", "It is 503 metres long")),
    Expected("factuality/contradicting", about(AAR, A_PASSAGE, B_PASSAGE), verdict("supported")),
    Expected("factuality/judgment", about(AAR, A_PASSAGE), verdict("supported", "p1", "It is 503 metres long")),
    Expected("factuality/confirming", about(RHINE, B_PASSAGE, A_PASSAGE), verdict("unsupported")),
    Expected("factuality/contradicting", about(RHINE, B_PASSAGE, A_PASSAGE), verdict("contradicted", "p1", "traffic in 1935")),
    Expected("factuality/judgment", about(RHINE, B_PASSAGE), verdict("contradicted", "p1", "traffic in 1935")),
]
CI = [
    extraction("ci/extract", None),
    Expected("ci/support", about(AAR, A_PASSAGE), verdict("partially_supported", "p1", "It is 503 metres long.")),
]


def carries(messages: list[dict[str, str]], body: dict[str, Any]) -> bool:
    return bool(body["messages"] == messages)


def measure(
    stub: OpenAIStub, gateway: TestGateway, metric: Metric, expected: Sequence[Expected], text: str = REPORT
) -> list[Judgment]:
    for call in expected:
        stub.always(call.act, when=partial(carries, call.messages))

    async def run() -> list[Judgment]:
        judge = LLMJudge(name="llm", gateway=gateway, model="openai/m", api_base=stub.url, mode="json_schema")
        try:
            return await metric.measure(measuring.subject(text), judge, 0)
        finally:
            await judge.close()

    return asyncio.run(run())


def factuality(gateway: TestGateway, folder: Path) -> Factuality:
    return Factuality(name="f", shelf=SHELF, tools=corpus(gateway, folder, PAGES), queries=1, pages=2)


def sent(stub: OpenAIStub) -> list[str]:
    return sorted(json.dumps(body["messages"]) for body in stub.bodies)


def listed(expected: Sequence[Expected]) -> list[str]:
    return sorted(json.dumps(call.messages) for call in expected)


def test_every_call_of_factuality(gateway: TestGateway, tmp_path: Path) -> None:
    metric = factuality(gateway, tmp_path)
    with OpenAIStub() as stub:
        rows = measure(stub, gateway, metric, FACTUALITY)
        assert sent(stub) == listed(FACTUALITY)
    found = measuring.values(metric, rows)
    assert (found["verifiable"], found["strict"], found["verifiable_share"]) == (0.5, 0.5, 1.0)
    aar, rhine, _ = rows
    assert (aar.label, REPORT[aar.report_start : aar.report_end]) == ("supported", AAR_SENTENCE)
    assert (rhine.label, REPORT[rhine.report_start : rhine.report_end]) == ("contradicted", RHINE)
    assert rhine.rationale == f"{RHINE} (2 of 2 passages of 2 of 2 pages: It is contradicted.)"
    assert [(e.url, e.published, e.quote) for e in rhine.evidence] == [("https://b.example/rhine", "", "traffic in 1935")]


def test_every_call_of_citation_integrity(gateway: TestGateway, tmp_path: Path) -> None:
    metric = CitationIntegrity(name="c", shelf=SHELF, tools=corpus(gateway, tmp_path, PAGES))
    with OpenAIStub() as stub:
        rows = measure(stub, gateway, metric, CI)
        assert sent(stub) == listed(CI)
    found = measuring.values(metric, rows)
    assert (found["ca"], found["cf"], found["harmonic"]) == (0.5, 0.5, 0.5)
    visits = [record for record in gateway.records if record.requested_model == "corpus.page_visit"]
    assert len(visits) == 1


def test_prompts_say_the_date_and_put_what_passes_share_first(gateway: TestGateway) -> None:
    confirming, contradicting = (call.messages for call in FACTUALITY[3:5])
    assert confirming[0] == contradicting[0]
    assert "as of 2025-01-01" in confirming[0]["content"]
    first, second = confirming[1]["content"], contradicting[1]["content"]
    shared = next(at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    assert A_TEXT in first[:shared] and B_TEXT in first[:shared] and AAR in first[:shared]
    assert "published 2024-05-01" in first and "(no date)" in first


def test_a_wrong_quote_goes_back_once_and_then_marks_the_row(gateway: TestGateway, tmp_path: Path) -> None:
    wrong = Expected("ci/support", about(AAR, A_PASSAGE), verdict("supported", "p1", "It is 504 metres long."))
    metric = CitationIntegrity(name="c", shelf=SHELF, tools=corpus(gateway, tmp_path, PAGES))
    with OpenAIStub() as stub:
        again = saying(wrong.answer)
        stub.always(again, when=lambda body: body["messages"][:2] == wrong.messages and len(body["messages"]) == 4)
        rows = measure(stub, gateway, metric, [CI[0], wrong])
        last = max(stub.bodies, key=lambda body: len(body["messages"]))["messages"]
    assert "the quote does not stand in passage 'p1'" in last[3]["content"]
    assert {row.reason_code for row in rows if row.family == "claim"} == {"quote_not_found"}


def test_a_query_with_the_value_goes_back_once_and_is_then_left_out(gateway: TestGateway, tmp_path: Path) -> None:
    leaking = Expected("factuality/queries", search(AAR, "").context, {"queries": ["Aar Bridge 503 metres"]})
    with OpenAIStub() as stub:
        stub.always(
            act := leaking.act, when=lambda body: body["messages"][:2] == leaking.messages and len(body["messages"]) > 2
        )
        rows = measure(stub, gateway, factuality(gateway, tmp_path), [FACTUALITY[0], leaking, *FACTUALITY[2:]])
        corrections = [body["messages"][3]["content"] for body in stub.bodies if len(body["messages"]) == 4]
    assert act.text is not None and len(corrections) == 1
    assert "repeats the claimed value '503 metres'" in corrections[0]
    assert rows[0].label == "supported" and "1 of 1 queries that repeat the claimed value" in rows[0].rationale


def test_what_failed_is_owed_and_asked_again_and_nothing_else(gateway: TestGateway, tmp_path: Path) -> None:
    metric = factuality(gateway, tmp_path)
    down = Expected(FACTUALITY[8].rubric, FACTUALITY[8].context, failing(400, "bad request"))
    with OpenAIStub() as stub:
        rows = measure(stub, gateway, metric, [*FACTUALITY[:8], down])
        assert [row.status for row in rows[:2]] == [Status.SCORED, Status.JUDGE_ERROR]
    with OpenAIStub(port=int(stub.url.split(":")[2].split("/")[0])) as again:
        rows = measure(again, gateway, metric, FACTUALITY)
        assert sent(again) == listed(FACTUALITY[8:])
    assert [row.label for row in rows[:2]] == ["supported", "contradicted"]


@pytest.mark.parametrize("mode", ["tools", "json"])
def test_the_other_ways_of_asking_give_typed_answers_too(gateway: TestGateway, tmp_path: Path, mode: str) -> None:
    """Unscripted: the server answers any schema validly, so only rows are looked at."""
    metric = factuality(gateway, tmp_path)

    async def run(url: str) -> list[Judgment]:
        judge = LLMJudge(name="llm", gateway=gateway, model="openai/m", api_base=url, mode=mode)  # type: ignore[arg-type]
        try:
            return await metric.measure(measuring.subject(REPORT), judge, 0)
        finally:
            await judge.close()

    with OpenAIStub() as stub:
        rows = asyncio.run(run(stub.url))
    assert rows[-1].family == "extraction"
    assert {row.status for row in rows} <= {Status.SCORED, Status.UNANSWERED, Status.NOT_APPLICABLE}
