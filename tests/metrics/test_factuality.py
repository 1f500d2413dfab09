"""Factuality: the worked example, degenerate reports, neutral queries, trouble of our own, rows that point to sentences."""

from __future__ import annotations

import asyncio
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from dreambench.config.locations import bundled
from dreambench.config.nodes import build
from dreambench.datasets import Dataset
from dreambench.engine.cell import Cell
from dreambench.engine.journal import Journal
from dreambench.errors import AnswerError, ConfigError, ProviderError
from dreambench.judges.kinds import Context
from dreambench.judges.rubric import Rubric
from dreambench.metrics.factuality import Factuality, without_value
from dreambench.records import Judgment, Status, Task
from dreambench.tools.results import Search, SearchHit, Visit
from dreambench.tools.toolset import CorpusTools, NoTools
from tests.support import measuring
from tests.support.gateway import TestGateway
from tests.support.scripted_judge import ScriptedJudge
from tests.support.workflow import SHELF, Answers, corpus, page

NODE = yaml.safe_load((bundled("conf") / "metric" / "factuality.yaml").read_text(encoding="utf-8"))
LABELS = ["supported"] * 10 + ["partially_supported"] * 4 + ["contradicted"] * 6 + ["unverifiable"] * 10
NAMES = [f"Bridge{chr(65 + number // 26)}{chr(97 + number % 26)}" for number in range(len(LABELS))]
SENTENCES = [f"{name} is {number + 100} metres long." for number, name in enumerate(NAMES)]
REPORT = "# Bridges\n\n" + " ".join(SENTENCES) + "\n"
PAGES = [page(f"https://{name}.example/length", f"{name} was measured again and again.") for name in NAMES]
ANSWERS = Answers([(s, s) for s in SENTENCES], dict(zip(SENTENCES, LABELS, strict=True)))


def metric(tools: NoTools, **keys: Any) -> Factuality:
    made: Factuality = build("metric.factuality", {**NODE, **keys}, name="factuality", shelf=SHELF, tools=tools)
    return made


def judge(gateway: TestGateway, answers: Any) -> ScriptedJudge:
    return ScriptedJudge(name="j", gateway=gateway, script=answers)


def answers(*labels: str, **keys: Any) -> Answers:
    """Answers about the first sentences of REPORT."""
    return Answers([(s, s) for s in SENTENCES[: len(labels)]], dict(zip(SENTENCES, labels, strict=False)), **keys)


def claims(rows: list[Judgment]) -> list[Judgment]:
    return [row for row in rows if row.family == "claim"]


@pytest.fixture
def tools(gateway: TestGateway, tmp_path: Path) -> CorpusTools:
    return corpus(gateway, tmp_path, PAGES)


def test_the_worked_example(gateway: TestGateway, tools: CorpusTools) -> None:
    made = metric(tools)
    rows = measuring.judgments(made, REPORT, judge(gateway, ANSWERS))
    found = measuring.values(made, rows)
    assert found["verifiable"] == pytest.approx(0.60)
    assert found["strict"] == pytest.approx(0.40)
    assert found["verifiable_share"] == pytest.approx(20 / 30)
    assert found["label_contradicted"] == pytest.approx(6 / 30)
    assert len(claims(rows)) == 30
    (extraction,) = [row for row in rows if row.family == "extraction"]
    assert (extraction.value, extraction.reason_code) == (30.0, "")
    assert extraction.rationale == "30 of 30 claims given, in 1 part"


def test_every_row_shows_its_sentence_its_evidence_and_what_was_read(gateway: TestGateway, tools: CorpusTools) -> None:
    rows = measuring.judgments(metric(tools), REPORT, judge(gateway, ANSWERS))
    assert [REPORT[row.report_start : row.report_end] for row in claims(rows)] == SENTENCES
    row = claims(rows)[0]
    (evidence,) = row.evidence
    assert evidence.url == "https://BridgeAa.example/length"
    assert evidence.published == "2024-05-01"
    assert evidence.snapshot == next(p.snapshot for p in tools.corpus.pages if p.url == evidence.url)
    assert evidence.quote == "BridgeAa was measured again"
    assert "passages of" in row.rationale and row.rationale.endswith("judgment: supported)")
    assert row.cost == pytest.approx(0.04), "queries, two passes and the judgment"
    assert len({row.item for row in rows}) == len(rows)


def test_what_was_bought_for_a_claim(gateway: TestGateway, tools: CorpusTools) -> None:
    script = answers("supported", "contradicted", "unverifiable")
    rows = measuring.judgments(metric(tools), REPORT, judge(gateway, script))
    assert [script.times(name) for name in ("extract", "queries", "confirming", "contradicting")] == [1, 3, 3, 3]
    assert script.times("judgment") == 2, "where both passes are silent there is nothing to weigh"
    assert claims(rows)[2].reason_code == "no_evidence"
    searches = [record for record in gateway.records if record.requested_model == "corpus.web_search"]
    assert len(searches) == 3 * 3
    assert {record.role for record in gateway.records} == {"extraction", "tools", "judging"}


def test_few_claims_are_flagged(gateway: TestGateway, tools: CorpusTools) -> None:
    rows = measuring.judgments(metric(tools), REPORT, judge(gateway, answers(*["supported"] * 4)))
    assert rows[-1].reason_code == "few_claims"
    rows = measuring.judgments(metric(tools, few=4), REPORT, judge(gateway, answers(*["supported"] * 4)))
    assert rows[-1].reason_code == ""


def test_a_report_without_claims_is_not_applicable(gateway: TestGateway, tools: CorpusTools) -> None:
    made = metric(tools)
    for text in (REPORT, "", "```\ncode\n```\n"):
        rows = measuring.judgments(made, text, judge(gateway, Answers([], {})))
        assert measuring.values(made, rows) == dict.fromkeys(measuring.values(made, rows))
        assert [row.reason_code for row in rows] == ["no_claims", "few_claims"]
        assert rows[0].status is Status.NOT_APPLICABLE


def test_all_unverifiable_has_no_value_and_is_zero_in_strict(gateway: TestGateway, tools: CorpusTools) -> None:
    made = metric(tools)
    rows = measuring.judgments(made, REPORT, judge(gateway, answers(*["unverifiable"] * 3)))
    found = measuring.values(made, rows)
    assert (found["verifiable"], found["strict"], found["verifiable_share"]) == (None, 0.0, 0.0)


def test_without_results_or_readable_pages_a_claim_is_unverifiable_by_code(gateway: TestGateway, tmp_path: Path) -> None:
    script = answers("supported")
    nothing = corpus(gateway, tmp_path, [page("https://other.example", "Nothing about that.")])
    (row,) = claims(measuring.judgments(metric(nothing), REPORT, judge(gateway, script)))
    assert (row.label, row.value, row.reason_code) == ("unverifiable", None, "no_results")
    dead = Stub({"https://a.example": "dead", "https://b.example": "paywall"})
    (row,) = claims(measuring.judgments(metric(dead), REPORT, judge(gateway, script)))
    assert (row.label, row.reason_code) == ("unverifiable", "no_page")
    assert "0 of 0 passages of 0 of 2 pages (https://a.example dead; https://b.example paywall)" in row.rationale
    assert [evidence.url for evidence in row.evidence] == ["https://a.example", "https://b.example"]
    assert script.times("confirming") == 0


def test_what_the_final_judgment_cannot_decide_is_unverifiable(gateway: TestGateway, tools: CorpusTools) -> None:
    script = answers("supported")

    def undecided(rubric: Rubric, context: Context, repeat: int) -> dict[str, Any]:
        silent = {"reason": "Two pages differ.", "passage": "", "quote": "", "label": "unverifiable"}
        return silent if rubric.name == "judgment" else script(rubric, context, repeat)

    (row,) = claims(measuring.judgments(metric(tools), REPORT, judge(gateway, undecided)))
    assert (row.label, row.value, row.status, row.reason_code) == ("unverifiable", None, Status.SCORED, "undecided")
    assert row.evidence[0].quote, "what the pass pointed at is kept"


class Stub(NoTools):
    """Finds these pages for every query; each has a reason why it cannot be read, or an error that it raises."""

    def __init__(self, pages: dict[str, str | Exception], search: Exception | None = None) -> None:
        self.pages = pages
        self.search = search

    @property
    def searches(self) -> bool:
        return True

    async def web_search(self, query: str, as_of: date | None, k: int = 10) -> Search:
        if self.search:
            raise self.search
        return Search(query, tuple(SearchHit(url, "", "") for url in self.pages))

    async def page_visit(self, url: str, as_of: date | None) -> Visit:
        found = self.pages[url]
        if isinstance(found, Exception):
            raise found
        return Visit(url, None, found)


@pytest.mark.parametrize(
    "tools",
    [
        Stub({}, ProviderError("slow", code="timeout")),
        Stub({"https://a.example": "dead", "https://b.example": ProviderError("reset", code="connection")}),
    ],
    ids=["search", "page"],
)
def test_our_own_trouble_is_a_tool_error_and_owed(gateway: TestGateway, tmp_path: Path, tools: Stub) -> None:
    made = metric(tools)
    rows = measuring.judgments(made, REPORT, judge(gateway, answers("supported", "supported")))
    assert {row.status for row in claims(rows)} == {Status.TOOL_ERROR}
    assert {row.reason_code for row in claims(rows)} <= {"timeout", "connection"}
    assert measuring.values(made, rows)["verifiable"] is None
    journal = Journal(tmp_path / "journal.jsonl")
    cell = Cell("c", "factuality", "j", "t", "r", 0, {})
    journal.write_cell(cell, rows)
    assert not journal.is_done(cell)
    journal.close()


def test_a_judge_error_hits_one_claim_only(gateway: TestGateway, tools: CorpusTools) -> None:
    script = answers("supported", "contradicted")

    def one_refused(rubric: Rubric, context: Context, repeat: int) -> dict[str, Any]:
        if rubric.name == "contradicting" and context.claim == SENTENCES[1]:  # type: ignore[attr-defined]
            raise AnswerError("no", code="refusal")
        return script(rubric, context, repeat)

    made = metric(tools)
    rows = measuring.judgments(made, REPORT, judge(gateway, one_refused))
    assert [row.status for row in claims(rows)] == [Status.SCORED, Status.JUDGE_ERROR]
    assert REPORT[claims(rows)[1].report_start : claims(rows)[1].report_end] == SENTENCES[1]
    assert measuring.values(made, rows)["verifiable"] == 1.0
    assert measuring.values(metric(tools, missing_policy="zero"), rows)["verifiable"] == 0.5
    assert measuring.values(metric(tools, missing_policy="fail"), rows)["verifiable"] is None


@pytest.mark.parametrize("code", ["refusal", "length"])
def test_a_failed_extraction_leaves_the_report_without_a_score(gateway: TestGateway, tools: CorpusTools, code: str) -> None:
    def refused(rubric: Rubric, context: Context, repeat: int) -> dict[str, Any]:
        raise AnswerError("no", code=code)

    rows = measuring.judgments(metric(tools), REPORT, judge(gateway, refused))
    assert [(row.family, row.status, row.reason_code) for row in rows] == [("report", Status.JUDGE_ERROR, code)]
    assert ("metric.factuality.part_chars is 100000" in rows[0].rationale) is (code == "length")
    assert measuring.values(metric(tools), rows)["verifiable"] is None


def test_a_fatal_error_is_not_swallowed(gateway: TestGateway, tools: CorpusTools) -> None:
    def refused(rubric: Rubric, context: Context, repeat: int) -> dict[str, Any]:
        if rubric.name == "extract":
            return answers("supported")(rubric, context, repeat)
        raise ProviderError("key refused", code="auth", fatal=True)

    with pytest.raises(ProviderError, match="key refused"):
        measuring.judgments(metric(tools), REPORT, judge(gateway, refused))


def test_a_query_that_repeats_the_value_is_not_searched(gateway: TestGateway, tools: CorpusTools) -> None:
    queries = {SENTENCES[0]: ["BridgeAa 100 metres", "how long is BridgeAa", "How long is  BridgeAa", "length of BridgeAa"]}
    script = answers("supported", "supported", queries={**queries, SENTENCES[1]: ["BridgeAb 101 metres long"]})
    tools_seen = Searched(tools)
    rows = claims(measuring.judgments(metric(tools_seen), REPORT, judge(gateway, script)))
    assert sorted(tools_seen.queries) == sorted(["how long is BridgeAa", "length of BridgeAa", "BridgeAb is long."])
    assert "left out: 1 of 3 queries that repeat the claimed value" in rows[0].rationale
    assert tools_seen.dates == {date(2025, 1, 1)}


class Searched(NoTools):
    """Passes on to `tools` and notes what was searched."""

    def __init__(self, tools: CorpusTools) -> None:
        self._inner = tools
        self.queries: list[str] = []
        self.dates: set[date | None] = set()

    @property
    def searches(self) -> bool:
        return True

    async def web_search(self, query: str, as_of: date | None, k: int = 10) -> Search:
        self.queries.append(query)
        self.dates.add(as_of)
        return await self._inner.web_search(query, as_of, k)

    async def page_visit(self, url: str, as_of: date | None) -> Visit:
        return await self._inner.page_visit(url, as_of)


def test_a_claim_loses_its_amounts_or_else_its_dates() -> None:
    assert without_value("The bridge of 1932 is 503 metres long.") == "The bridge of 1932 is long."
    assert without_value("The bridge was opened in 1932.") == "The bridge was opened in ."


def test_claims_are_told_apart_and_placed_by_code(gateway: TestGateway, tools: CorpusTools) -> None:
    given = [
        ("BridgeAa is 100 metres long.", SENTENCES[0]),
        ("The bridgeaa is 100 metres long", "BridgeAa is 100 metres"),
        ("BridgeAb is 101 metres long.", SENTENCES[1]),
        ("BridgeZz is 9 metres long.", "BridgeZz is 9 metres long."),
    ]

    def script(rubric: Rubric, context: Context, repeat: int) -> dict[str, Any]:
        if rubric.name == "extract":
            return {"claims": [{"claim": claim, "quote": quote} for claim, quote in given]}
        return Answers([], {given[0][0]: "supported", given[2][0]: "contradicted"})(rubric, context, repeat)

    made = metric(tools)
    rows = measuring.judgments(made, REPORT, judge(gateway, script))
    assert [row.label for row in claims(rows)] == ["supported", "contradicted", ""]
    unplaced = claims(rows)[2]
    assert (unplaced.status, unplaced.reason_code) == (Status.UNANSWERED, "quote_not_found")
    assert measuring.values(made, rows)["verifiable"] == 0.5
    said = "2 of 4 claims given, in 1 part; left out: 1 repeated; left out: 1 whose words do not stand in the report"
    assert rows[-1].rationale == said


def test_a_quote_that_is_on_no_page_marks_the_row(gateway: TestGateway, tools: CorpusTools) -> None:
    script = answers("supported")

    def inventing(rubric: Rubric, context: Context, repeat: int) -> dict[str, Any]:
        given = script(rubric, context, repeat)
        return {**given, "quote": "words of nobody at all"} if rubric.name == "judgment" else given

    (row,) = claims(measuring.judgments(metric(tools), REPORT, judge(gateway, inventing)))
    assert (row.label, row.reason_code) == ("supported", "quote_not_found")
    assert [evidence.quote for evidence in row.evidence] == ["BridgeAa was measured again"], "the pass's own quote stands"


def test_claims_beyond_the_limit_are_counted(gateway: TestGateway, tools: CorpusTools) -> None:
    script = answers(*["supported"] * 6)
    rows = measuring.judgments(metric(tools, claims=2), REPORT, judge(gateway, script))
    assert len(claims(rows)) == 2
    assert "left out: 4 beyond the limit" in rows[-1].rationale
    assert script.asked[0][1]["limit"] == 2


def test_a_long_report_is_extracted_in_parts(gateway: TestGateway, tools: CorpusTools) -> None:
    text = "".join(f"## {name}\n\n{sentence}\n\n" for name, sentence in zip(NAMES[:8], SENTENCES, strict=False))
    script = answers(*["supported"] * 8)
    made = metric(tools, claims=8, part_chars=100, overlap_chars=60)
    rows = measuring.judgments(made, text, judge(gateway, script))
    assert [text[row.report_start : row.report_end] for row in claims(rows)] == SENTENCES[:8]
    asked = [given for name, given in script.asked if name == "extract"]
    assert len(asked) == 4 and sum(given["limit"] for given in asked) == 8
    assert rows[-1].rationale.startswith("8 of ") and "in 4 parts" in rows[-1].rationale


def test_labels_can_be_given_other_values(gateway: TestGateway, tools: CorpusTools) -> None:
    values = {"supported": 1, "partially_supported": 0, "contradicted": 0, "unverifiable": 0}
    made = metric(tools, values=values)
    rows = measuring.judgments(made, REPORT, judge(gateway, ANSWERS))
    assert measuring.values(made, rows)["verifiable"] == pytest.approx(10 / 30)
    with pytest.raises(ConfigError) as caught:
        metric(tools, values={"supported": 2, "maybe": 0})
    text = str(caught.value)
    assert "metric.factuality.values.contradicted: is missing" in text
    assert "metric.factuality.values.maybe: is no label" in text
    assert "metric.factuality.values.supported: 2 is out of range" in text


def test_tools_that_cannot_search_and_tasks_without_a_date_are_refused(tools: CorpusTools) -> None:
    dated, undated = Task("a", "q", "d", date(2025, 1, 1)), Task("b", "q", "d")
    assert metric(tools).prepare(Dataset([dated])) == []
    (problem,) = metric(tools).prepare(Dataset([dated, undated]))
    assert "1 of 2 tasks have none: b" in problem.what and problem.type == "as_of=2025-06-30"
    (problem,) = metric(NoTools()).prepare(Dataset([dated]))
    assert "tools=none cannot" in problem.what and problem.type == "tools=corpus tools.path=PAGES"


@pytest.mark.parametrize(
    "change",
    [{"claims": 9}, {"queries": 2}, {"pages": 1}, {"results": 5}, {"passages": 1}, {"rubric": "terse"}, {"few": 1}],
    ids=str,
)
def test_what_can_change_a_number_is_part_of_the_identity(tools: CorpusTools, change: dict[str, Any]) -> None:
    assert metric(tools, **change).identity() != metric(tools).identity()
    assert metric(tools).identity()["corpus"] == tools.identity()["corpus"]


def test_equal_runs_give_equal_rows(gateway: TestGateway, tools: CorpusTools) -> None:
    first = measuring.judgments(metric(tools), REPORT, judge(gateway, ANSWERS))
    assert measuring.judgments(metric(tools), REPORT, judge(gateway, ANSWERS)) == first
    assert asyncio.run(metric(tools).sources.web_search("BridgeAa", None)).hits
