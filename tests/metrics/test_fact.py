"""FACT: pairs, pages, verdicts and what becomes of them; the published ratio; saved stages; every call's content."""

from __future__ import annotations

import asyncio
import json
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dreambench.config.locations import bundled
from dreambench.datasets.dataset import Dataset
from dreambench.errors import AnswerError, ConfigError, DatasetError, ProviderError
from dreambench.judges.embedded import EmbeddedJudge
from dreambench.judges.llm import LLMJudge
from dreambench.judges.rubric import Rubric, RubricShelf
from dreambench.metrics.aggregation import dataset_scores, report_values
from dreambench.metrics.fact.metric import Fact
from dreambench.metrics.fact.pairs import by_page, distinct
from dreambench.metrics.metric import Subject
from dreambench.records import Judgment, Report, Status, Task
from dreambench.tools.toolset import CorpusTools, NoTools, Visit
from tests.apps.command import dreambench
from tests.support import measuring
from tests.support.gateway import TestGateway
from tests.support.openai_stub import OpenAIStub, saying
from tests.support.scripted_judge import ScriptedJudge

SHELF = RubricShelf([bundled("rubrics")])
PAGE, SECOND, DEAD = "https://a.example/bridge", "https://b.example/rail", "https://c.example/gone"
PAGES = {
    PAGE: "The Akashi bridge was opened in 1998. Its main span is 1,991 metres long.",
    SECOND: "The line carried 4.2 million passengers in 2023.",
}
REPORT = (
    f"The Akashi bridge was opened in 1998 [1]. Its main span is 1,991 metres long [1]. The bridge carried 9.9 million "
    f"passengers in 2023 [2]. It was repainted in 2001 [3].\n\n## References\n\n[1] {PAGE}\n[2] {SECOND}\n[3] {DEAD}\n"
)
CITED = [
    {"fact": "The Akashi bridge was opened in 1998.", "url": PAGE},
    {"fact": "The Akashi bridge opened in 1998", "url": f"{PAGE}/"},
    {"fact": "Its main span is 1,991 metres long.", "url": PAGE},
    {"fact": "The bridge carried 9.9 million passengers in 2023.", "url": SECOND},
    {"fact": "The bridge was repainted in 2001.", "url": DEAD},
    {"fact": "The bridge is red.", "url": "https://never.example/cited"},
]


class Opened(CorpusTools):
    """A corpus that notes which pages were opened."""

    def __init__(self, **keys: Any) -> None:
        super().__init__(**keys)
        self.opened: list[str] = []

    async def page_visit(self, url: str, as_of: date | None) -> Visit:
        self.opened.append(url)
        return await super().page_visit(url, as_of)


@pytest.fixture
def pages(gateway: TestGateway, tmp_path: Path) -> Opened:
    folder = tmp_path / "pages"
    folder.mkdir()
    for number, (url, text) in enumerate(PAGES.items()):
        (folder / f"{number}.md").write_text(f"---\nurl: {url}\ntitle: Page {number}\n---\n{text}\n", encoding="utf-8")
    return Opened(gateway=gateway, path=folder)


def fact(tools: NoTools | None = None, **keys: Any) -> Fact:
    return Fact(name="fact", shelf=SHELF, tools=tools or NoTools(), **keys)


def script(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
    """Extracts CITED; supports what names a figure of the page."""
    if rubric.kind.name == "extract_citations":
        return {"citations": CITED}
    found = {}
    for name, text in context.facts.items():
        figure = next(word for word in text.rstrip(".").split() if word[0].isdigit())
        held = figure in context.page
        found[name] = {"reason": "r", "quote": figure if held else "", "label": "supported" if held else "unsupported"}
    return found


def judge(gateway: TestGateway, answers: Any = script) -> ScriptedJudge:
    return ScriptedJudge(name="j", gateway=gateway, script=answers)


def test_facts_are_judged_by_page_and_scored(pages: Opened, gateway: TestGateway) -> None:
    metric = fact(pages)
    rows = measuring.judgments(metric, REPORT, judge(gateway))
    assert [(row.rationale.split(":")[0], row.label, row.value, row.reason_code) for row in rows] == [
        ("The Akashi bridge was opened in 1998.", "supported", 1.0, ""),
        ("Its main span is 1,991 metres long.", "supported", 1.0, ""),
        ("The bridge carried 9.9 million passengers in 2023.", "unsupported", 0.0, ""),
        ("The bridge was repainted in 2001.", "unknown", None, "not_in_corpus"),
        ("The bridge is red.", "unknown", None, "url_not_in_report"),
    ]
    assert measuring.values(metric, rows) == pytest.approx(
        {"accuracy": 2 / 3, "effective_citations": 2.0, "total_citations": 3.0}
    )
    assert sorted(pages.opened) == [PAGE, SECOND, DEAD], "each page once, none that the report does not name"
    judging = [record for record in gateway.records if record.role == "judging"]
    assert len(judging) == 1 + 2, "one extraction, one call per readable page"
    assert rows[0].evidence[0].url == PAGE and rows[0].evidence[0].quote == "1998"
    assert REPORT[rows[2].report_start : rows[2].report_end] == "[2]"


def test_a_report_without_citations_is_not_applicable(pages: Opened, gateway: TestGateway) -> None:
    metric = fact(pages)
    rows = measuring.judgments(metric, "Nothing is cited.", judge(gateway, lambda *_: {"citations": []}))
    assert [(row.status, row.reason_code) for row in rows] == [(Status.NOT_APPLICABLE, "no_citations")]
    assert set(measuring.values(metric, rows).values()) == {None}


def test_labels_can_be_given_other_values(pages: Opened, gateway: TestGateway) -> None:
    metric = fact(pages, values={"unknown": 0.0})
    rows = measuring.judgments(metric, REPORT, judge(gateway))
    assert measuring.values(metric, rows)["accuracy"] == pytest.approx(2 / 5)
    with pytest.raises(ConfigError, match="is no label"):
        fact(pages, values={"maybe": 0.5})


class Broken(NoTools):
    async def page_visit(self, url: str, as_of: date | None) -> Visit:
        raise ProviderError("no route", code="connection")


def test_our_own_trouble_is_a_tool_error_and_a_failed_judge_a_judge_error(pages: Opened, gateway: TestGateway) -> None:
    rows = measuring.judgments(fact(Broken()), REPORT, judge(gateway))
    assert [row.status for row in rows].count(Status.TOOL_ERROR) == 4
    assert measuring.values(fact(), rows) == {"accuracy": None, "effective_citations": None, "total_citations": None}

    def second_fails(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
        if rubric.kind.name == "verify_facts" and context.url == SECOND:
            raise AnswerError("cut off", code="length")
        return script(rubric, context, repeat)

    metric = fact(pages)
    rows = measuring.judgments(metric, REPORT, judge(gateway, second_fails))
    assert next((row.status, row.reason_code) for row in rows if row.value is None) == (Status.JUDGE_ERROR, "length")
    found = measuring.values(metric, rows)
    assert found["accuracy"] == 1.0, "what could be judged"
    assert found["effective_citations"] is None, "a count without the failed fact would be too low"

    def cannot_extract(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
        raise AnswerError("no JSON", code="unreadable")

    (row,) = measuring.judgments(metric, f"{REPORT} More.", judge(gateway, cannot_extract))
    assert (row.status, row.reason_code) == (Status.JUDGE_ERROR, "unreadable")


def test_a_quote_that_is_not_on_the_page_marks_the_row(pages: Opened, gateway: TestGateway) -> None:
    def invents(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
        answer = script(rubric, context, repeat)
        return answer if "citations" in answer else {n: {**v, "quote": "made of gold"} for n, v in answer.items()}

    rows = measuring.judgments(fact(pages), REPORT, judge(gateway, invents))
    assert [row.reason_code for row in rows[:3]] == ["quote_not_found"] * 3


def test_repetitions_are_merged_but_not_other_numbers() -> None:
    assert distinct(["Sales rose 3 % in 2020.", "Sales rose 3 % in 2020", "Sales rose 8 % in 2020."]) == [
        "Sales rose 3 % in 2020.",
        "Sales rose 8 % in 2020.",
    ]
    apart = ["It was approved in May.", "It was not approved in May.", "It was approved before May.", "May was approved in it."]
    assert distinct(apart) == apart
    assert distinct(["B.", "A.", "B."]) == ["B.", "A."]
    (page,) = by_page([("One.", "https://a.example/x/"), ("Two.", "https://a.example/x#top"), ("One", "https://a.example/x")])
    assert (page.url, page.facts) == ("https://a.example/x/", ("One.", "Two."))


def test_accuracy_is_pooled_as_published() -> None:
    """METRICS 2: 24.51 effective of 28.07 total citations per citing task are .87317; tasks that cite nothing do not count."""
    metric = fact()
    supported = [25 if n < 51 else 24 for n in range(100)]
    total = [29 if n < 7 else 28 for n in range(100)]
    frames = []
    for number, (v, n) in enumerate(zip([*supported, 0], [*total, 0], strict=True)):
        labels = ["supported"] * v + ["unsupported"] * (n - v) + ["unknown"] * (3 if n else 0)
        values = {"supported": 1.0, "unsupported": 0.0, "unknown": None}
        rows = [Judgment(f"i{i}", "fact", label, values[label]) for i, label in enumerate(labels)]
        rows = rows or [Judgment("i", "report", "no_citations", None, Status.NOT_APPLICABLE, reason_code="no_citations")]
        table = measuring.item_table(metric, rows)
        frames.append(table.with_columns(task=pl.lit(f"t{number}"), report=pl.lit(f"r{number}")))
    scores = dataset_scores(report_values(pl.concat(frames), [metric]), seed=0)
    found = {(row["variant"], row["aggregation"]): row for row in scores.iter_rows(named=True)}
    assert found["accuracy", "micro"]["value"] == pytest.approx(24.51 / 28.07) == pytest.approx(0.87317, abs=5e-6)
    assert found["effective_citations", "macro"]["value"] == pytest.approx(24.51)
    assert found["total_citations", "macro"]["value"] == pytest.approx(28.07)
    mean = sum(v / n for v, n in zip(supported, total, strict=True)) / 100
    assert found["accuracy", "macro"]["value"] == pytest.approx(mean)
    assert found["accuracy", "macro"]["n_tasks"] == 100
    assert found["accuracy", "macro"]["excluded_why"] == "no_citations"


def test_tools_that_open_no_page_are_refused_before_anything_is_spent(pages: Opened) -> None:
    data = Dataset([measuring.TASK], [Report("t", "a", REPORT)])
    (problem,) = fact().prepare(data)
    assert (problem.where, problem.type) == ("metric.fact", "tools=pages")
    assert fact(pages).prepare(data) == []


def test_every_call_says_what_it_should(pages: Opened, gateway: TestGateway) -> None:
    bad_url = {"citations": [{"fact": "It is red.", "url": "https://never.example/cited"}]}
    good = {"citations": CITED[:3]}
    misquoted = {name: {"reason": "r", "quote": "made of gold", "label": "supported"} for name in ("f1", "f2")}
    quoted = {name: {"reason": "r", "quote": "opened in 1998", "label": "supported"} for name in ("f1", "f2")}
    with OpenAIStub() as stub:
        stub.script(saying(bad_url), saying(good), saying(misquoted), saying(quoted))

        async def run() -> list[Judgment]:
            llm = LLMJudge(name="it", gateway=gateway, model="openai/m", api_base=stub.url)
            subject = Subject(measuring.TASK, Report("t", "a", REPORT))
            try:
                return await fact(pages).measure(subject, llm, 0)
            finally:
                await llm.close()

        rows = asyncio.run(run())
        bodies = stub.bodies
    assert [row.label for row in rows] == ["supported", "supported"]
    assert len(bodies) == 4
    extract, extract_again, verify, verify_again = (body["messages"] for body in bodies)
    assert REPORT.strip() in extract[1]["content"] and measuring.TASK.query in extract[1]["content"]
    assert "https://never.example/cited" in extract_again[-1]["content"]
    assert PAGES[PAGE] in verify[1]["content"] and "2025-01-01" in verify[0]["content"]
    assert "f1: The Akashi bridge was opened in 1998.\nf2: Its main span is 1,991 metres long." in verify[1]["content"]
    assert "does not stand in the page" in verify_again[-1]["content"]
    assert set(bodies[2]["tools"][0]["function"]["parameters"]["required"]) == {"f1", "f2"}


def test_a_long_page_is_cut_and_said_to_be(pages: Opened, gateway: TestGateway) -> None:
    seen = {}

    def note(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
        if rubric.kind.name == "verify_facts":
            seen[context.url] = (context.page, context.cut, rubric.render(context)[1]["content"])
        return script(rubric, context, repeat)

    measuring.judgments(fact(pages, page_limit=50), REPORT, judge(gateway, note))
    page, cut, prompt = seen[PAGE]
    assert (page, cut) == (PAGES[PAGE][:50], True)
    assert "only its beginning is shown" in prompt
    _, cut, prompt = seen[SECOND]
    assert not cut and "only its beginning" not in prompt


def test_the_embedded_judge_extracts_and_verifies(pages: Opened, gateway: TestGateway) -> None:
    metric = fact(pages)
    embedded = EmbeddedJudge(name="embedded", gateway=gateway)
    assert [embedded.refusal(rubric) for rubric in metric.rubrics()] == [None, None]
    rows = measuring.judgments(metric, REPORT, embedded)
    assert [(row.label, row.reason_code) for row in rows] == [
        ("supported", ""),
        ("supported", ""),
        ("unsupported", ""),
        ("unknown", "not_in_corpus"),
    ]
    assert rows[0].rationale.startswith("The Akashi bridge was opened in 1998.: supports")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sales rose [by a third](https://a.example/s) in 2020.", [("Sales rose by a third in 2020.", "https://a.example/s")]),
        (
            "Rates are from the [list of rates](https://a.example/s).",
            [("Rates are from the list of rates.", "https://a.example/s")],
        ),
        (
            "| Year | Sales |\n|---|---|\n| 2020 | 8 % [1] |\n\n[1] https://a.example/s",
            [("2020, 8 %", "https://a.example/s")],
        ),
        ("Sales rose in 2020 ([Office](https://a.example/s)).", [("Sales rose in 2020.", "https://a.example/s")]),
        ("- Sales **rose** in 2020 [1].\n\n[1] https://a.example/s", [("Sales rose in 2020.", "https://a.example/s")]),
        ("销量在2020年上升了8%[1]。\n\n[1] https://a.example/s", [("销量在2020年上升了8%。", "https://a.example/s")]),
        ("Sales rose.\n\n## References\n\n[1] https://a.example/s", []),
    ],
)
def test_the_embedded_judge_reads_citations_of_every_form(text: str, expected: list[Any], gateway: TestGateway) -> None:
    embedded = EmbeddedJudge(name="embedded", gateway=gateway)
    rubric = SHELF.load("fact/extract.default")
    answer = asyncio.run(embedded.ask(rubric, question="q", as_of=None, report=text))
    assert [(cited.fact, cited.url) for cited in answer.citations] == expected  # type: ignore[attr-defined]


def written(path: Path, *records: Any) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


def page(facts: list[str], results: list[tuple[int, str]] | None, error: str | None = None) -> dict[str, Any]:
    validated = {} if results is None else {"validate_res": [{"idx": i, "result": r} for i, r in results], "article_id": 1}
    return {"facts": facts, "url_content": "text", **validated, **({"validate_error": error} if results is not None else {})}


def record(task: str, pages: dict[str, Any] | None, citations: Any = None) -> dict[str, Any]:
    citations = [{"fact": "x", "ref_idx": 1, "url": PAGE}] if citations is None else citations
    return {
        "id": task,
        "prompt": f"Q{task}?",
        "citations": citations,
        **({} if pages is None else {"citations_deduped": pages}),
    }


def saved(path: str, task: str) -> tuple[Fact, list[Judgment]]:
    metric = fact(saved=path)
    subject = Subject(Task(task, f"Q{task}?", "d"), Report(task, "a", "x"))
    return metric, asyncio.run(metric.measure(subject, None, 0))


def test_validated_stages_give_the_same_rows_without_a_judge(tmp_path: Path) -> None:
    path = written(
        tmp_path / "validated.jsonl",
        record("1", {PAGE: page(["a", "b"], [(0, "supported"), (1, "unsupported")]), DEAD: page(["c"], [(0, "unknown")])}),
        record("2", {PAGE: page(["a"], [(0, "supported")]), SECOND: page(["b"], [], "timeout")}),
        record("3", {}, citations=[]),
        record("4", None, citations="extraction failed"),
        record("5", {PAGE: page(["a"], [(0, "supported"), (6, "supported")])}),
    )
    metric, rows = saved(path, "1")
    assert [(row.label, row.value, row.evidence[0].url) for row in rows] == [
        ("supported", 1.0, PAGE),
        ("unsupported", 0.0, PAGE),
        ("unknown", None, DEAD),
    ]
    assert metric.evaluator == "code" and metric.rubrics() == []
    assert measuring.values(metric, rows) == {"accuracy": 0.5, "effective_citations": 1.0, "total_citations": 2.0}
    metric, rows = saved(path, "2")
    assert [row.status for row in rows] == [Status.SCORED, Status.JUDGE_ERROR]
    assert measuring.values(metric, rows) == {"accuracy": 1.0, "effective_citations": 1.0, "total_citations": 1.0}
    assert [(row.status, row.reason_code) for task in "346" for row in saved(path, task)[1]] == [
        (Status.NOT_APPLICABLE, "no_citations"),
        (Status.JUDGE_ERROR, "extraction_failed"),
        (Status.MISSING_RUN, "not_in_saved"),
    ]
    assert [row.reason_code for row in saved(path, "5")[1]] == ["", "no_such_fact"]


def test_earlier_stages_hold_facts_without_verdicts(tmp_path: Path) -> None:
    extracted = written(tmp_path / "extracted.jsonl", record("1", None, citations=CITED))
    deduplicated = written(tmp_path / "deduplicated.jsonl", record("1", {PAGE: page(["a", "b"], None)}))
    metric, rows = saved(extracted, "1")
    assert len(rows) == 5, "repetitions are merged"
    assert {(row.status, row.reason_code) for row in rows} == {(Status.UNANSWERED, "not_validated")}
    assert set(measuring.values(metric, rows).values()) == {None}
    assert len(saved(deduplicated, "1")[1]) == 2


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"id": "1", "article": "x"}, "neither field 'citations'"),
        (record("1", {PAGE: {"facts": "a"}}), "no list of facts"),
        (record("1", {PAGE: page(["a"], [(0, "perhaps")])}), "is no verdict"),
        (record("1", None, citations=[{"fact": "a"}]), "have no fact or no url"),
    ],
)
def test_a_stage_that_cannot_be_read_is_refused_with_its_place(given: Any, what: str, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=rf"stage.jsonl:1: .*{what}"):
        fact(saved=written(tmp_path / "stage.jsonl", given))


def test_a_run_from_saved_stages_and_one_with_the_embedded_judge(tmp_path: Path) -> None:
    written(tmp_path / "mine.jsonl", {"id": 1, "prompt": "Q?", "article": REPORT})
    written(tmp_path / "validated.jsonl", record("1", {PAGE: page(["a", "b"], [(0, "supported"), (1, "unsupported")])}))
    written(tmp_path / "pages.jsonl", *({"url": url, "title": "T", "text": text} for url, text in PAGES.items()))
    data = ["dataset=drb", "dataset.reports=mine.jsonl", "metric=fact"]
    ran = dreambench(*data, "metric.fact.saved=validated.jsonl", "paths.outputs=saved", cwd=tmp_path)
    assert ran.code == 0, ran.err
    judged = dreambench(*data, "tools=corpus", "tools.path=pages.jsonl", "paths.outputs=judged", cwd=tmp_path)
    assert judged.code == 0, judged.err
    found = {}
    for name in ("saved", "judged"):
        (run,) = (path for path in (tmp_path / name).iterdir() if path.is_dir())
        scores = pl.read_parquet(run / "scores.parquet").filter(
            pl.col("variant") == "accuracy", pl.col("aggregation") == "micro"
        )
        found[name] = scores["value"].to_list()
    assert found == {"saved": [0.5], "judged": [pytest.approx(2 / 3)]}
    refused = dreambench(*data, cwd=tmp_path)
    assert refused.code == 1
    assert "opens the cited pages" in refused.err
