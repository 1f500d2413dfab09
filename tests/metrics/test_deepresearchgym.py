"""DeepResearchGym: points, ratings, precision with dead pages, recall, saved labels, every call's content."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from dreambench.config.locations import bundled
from dreambench.datasets.dataset import Dataset
from dreambench.errors import ConfigError, DatasetError, ProviderError
from dreambench.judges.embedded import EmbeddedJudge
from dreambench.judges.llm import LLMJudge
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.deepresearchgym.metric import RATINGS, DeepResearchGym
from dreambench.metrics.deepresearchgym.points import read_points
from dreambench.metrics.metric import Subject
from dreambench.records import Judgment, Report, Status, Task
from dreambench.tools.toolset import CorpusTools, NoTools
from tests.apps.command import ROOT
from tests.support import measuring
from tests.support.gateway import TestGateway
from tests.support.openai_stub import OpenAIStub, saying
from tests.support.scripted_judge import ScriptedJudge

SHELF = RubricShelf([bundled("rubrics")])
DATA = ROOT / "tests" / "data" / "deepresearchgym"
POINTS, LABELS = str(DATA / "key_point"), str(DATA / "evaluation_results_kpr_example.json")
PAGE, RAIL, DEAD = "https://a.example/bridge", "https://b.example/rail", "https://c.example/gone"
REPORT = (
    f"The Akashi bridge was opened in 1998 [1]. It was repaired in 2010. The line carried 9 million people [2]. "
    f"It was painted in 2001 [3].\n\n## References\n\n[1] {PAGE}\n[2] {RAIL}\n[3] {DEAD}\n"
)
CITED = [
    {"fact": "The bridge was opened in 1998.", "url": PAGE},
    {"fact": "The bridge was opened in 1998.", "url": RAIL},
    {"fact": "The line carried 9 million people.", "url": RAIL},
    {"fact": "The bridge was painted in 2001.", "url": DEAD},
    {"fact": "The bridge is red.", "url": "https://never.example/x"},
]
CLAIMS = [
    {"claim": "The bridge was opened in 1998.", "quote": "The Akashi bridge was opened in 1998"},
    {"claim": "It was repaired in 2010.", "quote": "It was repaired in 2010."},
]


@pytest.fixture
def pages(gateway: TestGateway, tmp_path: Path) -> CorpusTools:
    folder = tmp_path / "pages"
    folder.mkdir()
    for number, (url, said) in enumerate({PAGE: "The bridge was opened in 1998.", RAIL: "The line carried people."}.items()):
        (folder / f"{number}.md").write_text(f"---\nurl: {url}\ntitle: T\n---\n{said}\n", encoding="utf-8")
    return CorpusTools(gateway=gateway, path=folder)


def metric(tools: NoTools | None = None, **keys: Any) -> DeepResearchGym:
    given = {"key_points": POINTS, **keys}
    return DeepResearchGym(name="drg", shelf=SHELF, tools=tools or NoTools(), **given)


def script(rubric: Any, context: Any, repeat: int) -> dict[str, Any]:
    """1998 is supported, the repair contradicted; full, partial and no support by the page; rating 7."""
    match rubric.kind.name:
        case "checklist":
            said = {"opened in 1998": "supported", "repaired": "contradicted"}
            label = lambda text: next((value for word, value in said.items() if word in text), "omitted")  # noqa: E731
            return {name: {"reason": "r", "quote": "", "answer": label(text)} for name, text in context.items.items()}
        case "score":
            return {"reason": "r", "score": 7}
        case "extract_citations":
            return {"citations": CITED}
        case "extract_claims":
            return {"claims": CLAIMS}
    whole = "1998" in context.claim
    passage = context.passages[0]
    label = "supported" if whole else "partially_supported"
    return {"reason": "r", "passage": passage.id, "quote": passage.text[:12], "label": label}


def judge(gateway: TestGateway, answers: Any = script) -> ScriptedJudge:
    return ScriptedJudge(name="j", gateway=gateway, script=answers)


def test_all_parts_of_a_report(pages: CorpusTools, gateway: TestGateway) -> None:
    made = metric(pages)
    rows = measuring.judgments(made, REPORT, judge(gateway))
    values = measuring.values(made, rows)
    assert (values["kpr"], values["kpc"], values["omitted"]) == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert values["quality"] == pytest.approx(0.7)
    assert [values[rating] for rating in RATINGS] == pytest.approx([0.7] * 6)
    assert values["precision"] == pytest.approx((1 + 0.5) / 2), "a dead page leaves its claim out"
    assert values["recall"] == 0.5
    by_label = {row.rationale.split(" (")[0]: (row.label, row.reason_code) for row in rows if row.family == "precision"}
    assert by_label["The bridge was painted in 2001."] == ("unverifiable", "not_in_corpus")
    assert by_label["The bridge is red."] == ("unverifiable", "url_not_in_report")
    judged = [record for record in gateway.records if record.role == "judging"]
    assert len(judged) == 3 + 6 + 2, "points, ratings, and a verdict on each claim with a readable page"


def test_the_compatible_rule_counts_dead_pages_as_zero(pages: CorpusTools, gateway: TestGateway) -> None:
    made = metric(pages, parts=["precision"], dead_pages="zero")
    rows = measuring.judgments(made, REPORT, judge(gateway))
    assert measuring.values(made, rows)["precision"] == pytest.approx((1 + 0.5) / 4)
    assert made.primary == "precision"


def test_nothing_cited_is_zero_as_published_or_not_applicable(pages: CorpusTools, gateway: TestGateway) -> None:
    nothing = judge(gateway, lambda *_: {"citations": []})
    for rule, value in (("zero", 0.0), ("not_applicable", None)):
        made = metric(pages, parts=["precision"], uncited=rule)
        assert measuring.values(made, measuring.judgments(made, "Nothing.", nothing))["precision"] == value


class Broken(CorpusTools):
    async def page_visit(self, url: str, as_of: Any) -> Any:
        raise ProviderError("no route", code="connection")


def test_our_own_trouble_is_a_tool_error(pages: CorpusTools, gateway: TestGateway, tmp_path: Path) -> None:
    made = metric(Broken(gateway=gateway, path=tmp_path / "pages"), parts=["precision"])
    rows = measuring.judgments(made, REPORT, judge(gateway))
    assert [row.status for row in rows].count(Status.TOOL_ERROR) == 3


def saved(task: str, **keys: Any) -> tuple[DeepResearchGym, list[Judgment]]:
    made = metric(key_points=None, saved=LABELS, **keys)
    subject = Subject(Task(task, "q", "d"), Report(task, "a", REPORT))
    return made, asyncio.run(made.measure(subject, None, 0))


def test_saved_labels_give_the_published_rates_in_both_spellings() -> None:
    values = measuring.values(*saved("t"))
    assert (values["kpr"], values["kpc"], values["omitted"]) == (0.5, 0.25, 0.25)
    assert measuring.values(*saved("u"))["omitted"] == 0.5
    assert measuring.values(*saved("v"))["kpr"] is None
    assert measuring.values(*saved("v", no_points="zero"))["kpr"] == 0.0, "the original's rule"
    _, (missing,) = saved("w")
    assert missing.status is Status.MISSING_RUN


def test_a_query_without_points_is_told_from_one_without_a_file(gateway: TestGateway) -> None:
    made = metric(parts=["key_points"], no_points="zero")
    for task, value in (("empty", 0.0), ("absent", None)):
        about = Subject(Task(task, "other", "d"), Report(task, "a", REPORT))
        assert measuring.values(made, asyncio.run(made.measure(about, judge(gateway), 0)))["kpr"] == value


def test_files_and_parts_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is required for the part key_points"):
        metric(key_points=None)
    with pytest.raises(DatasetError, match="holds no <id>_aggregated"):
        read_points(tmp_path, "k")
    (tmp_path / "1_aggregated.json").write_text('{"question": "q", "key_points": {"doc": []}}')
    with pytest.raises(DatasetError, match="the aggregated file of the query is needed"):
        read_points(tmp_path, "k")
    strange = Dataset(tasks=[Task("z", "other", "d")], reports=[Report("z", "a", "x")])
    problems = metric(parts=["key_points", "precision"]).prepare(strange)
    assert ["has no key points" in problems[0].what, "opens the cited pages" in problems[1].what] == [True, True]
    assert metric(parts=["key_points"]).prepare(Dataset(tasks=[measuring.TASK], reports=[])) == []


def test_the_embedded_judge_does_all_but_the_ratings(pages: CorpusTools, gateway: TestGateway) -> None:
    embedded = EmbeddedJudge(name="e", gateway=gateway)
    refused = {rubric.name for rubric in metric(pages).rubrics() if embedded.refusal(rubric)}
    assert refused == set(RATINGS)
    made = metric(pages, parts=["key_points", "precision", "recall"])
    values = measuring.values(made, measuring.judgments(made, REPORT, embedded))
    assert values["kpr"] == pytest.approx(1 / 3)
    assert values["precision"] is not None and values["recall"] is not None


def test_every_call_holds_what_it_asks_about(pages: CorpusTools, gateway: TestGateway) -> None:
    with OpenAIStub() as stub:
        stub.always(saying({"citations": CITED[:1]}), when=lambda body: "cites a page" in body["messages"][1]["content"])
        point = {"i1": {"reason": "r", "quote": "", "answer": "omitted"}}
        stub.always(saying(point), when=lambda body: "Key points that" in body["messages"][1]["content"])
        model = LLMJudge(name="j", gateway=gateway, model="openai/m", api_base=stub.url)

        async def run() -> list[Judgment]:
            try:
                return await metric(pages).measure(measuring.subject(REPORT), model, 0)
            finally:
                await model.close()

        rows = asyncio.run(run())
        users = [body["messages"][1]["content"] for body in stub.bodies]
    assert {row.family for row in rows} >= {"key_point", "precision", "quality_depth"}
    points = [user for user in users if "Key points that" in user]
    assert sorted(sum(text in user for text in ("in 1998.\n</points", "1,991 metres.", "in 2005.")) for user in points) == [
        1,
        1,
        1,
    ]
    assert all(REPORT.strip() in user for user in points)
    assert {rating for rating in RATINGS for user in users if f"How does the report do on {rating}" in user} == set(RATINGS)
    support, *_ = [user for user in users if "taken together" in user]
    assert "The bridge was opened in 1998." in support and PAGE in support and REPORT not in support
    assert any("Which claims of the report can be checked?" in user for user in users)
