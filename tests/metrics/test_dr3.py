"""DR3-Eval: six columns, both averages, halves, what cannot be read, every call's content."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from dreambench.config.locations import bundled
from dreambench.datasets.dataset import Dataset
from dreambench.errors import ConfigError, ProviderError
from dreambench.judges.embedded import EmbeddedJudge
from dreambench.judges.llm import LLMJudge
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.dr3.metric import COLUMNS, Dr3
from dreambench.metrics.metric import Subject
from dreambench.records import Judgment, Report, Status, Task
from tests.apps.command import ROOT
from tests.support import measuring
from tests.support.gateway import TestGateway
from tests.support.openai_stub import OpenAIStub, saying
from tests.support.scripted_judge import ScriptedJudge

SHELF = RubricShelf([bundled("rubrics")])
DATA = ROOT / "tests" / "data" / "dr3"
FOLDERS = {"data": str(DATA / "datasets_en"), "insights": str(DATA / "insights"), "checklists": str(DATA / "checklists")}
REPORT = (DATA / "result" / "model_a" / "001" / "final_report.md").read_text(encoding="utf-8")
TASK = Task("001", "What changed, and what comes next?", "dr3")
PAIRS = [
    {"fact": "The Akashi bridge was opened in 1998.", "url": "notes.txt"},
    {"fact": "Spans grew to 1,991 metres.", "url": "https://a.example/spans"},
    {"fact": "Cables are gold.", "url": "Cables and towers of suspension bridges"},
    {"fact": "Birds are blue.", "url": "https://z.example/birds"},
    {"fact": "The photo shows a bridge.", "url": "photo.png"},
]


def metric(**keys: Any) -> Dr3:
    return Dr3(name="dr3", shelf=SHELF, **{**FOLDERS, "size": "32k", **keys})


def measured(made: Dr3, judge: Any, task: Task = TASK) -> list[Judgment]:
    return asyncio.run(made.measure(Subject(task, Report(task.id, "a", REPORT)), judge, 0))


def script(rubric: Any, context: Any, repeat: int) -> dict[str, Any]:
    """1998 and 1,991 are conveyed in full, steel by half; the first requirement is met; gold is not supported; depth 7."""
    match rubric.kind.name:
        case "score":
            return {"reason": "r", "score": 7}
        case "extract_citations":
            return {"citations": PAIRS}
        case "entailment":
            label = "not_supported" if "gold" in context.claim else "supported"
            return {"reason": "r", "passage": "", "quote": "", "label": label}

    def one(text: str) -> str:
        if rubric.name == "requirement":
            return "yes" if "changed" in text else "no"
        return "full" if "1998" in text or "1,991" in text else "half" if "steel" in text else "none"

    return {name: {"reason": "r", "quote": "", "answer": one(text)} for name, text in context.items.items()}


def test_six_columns_and_both_averages(gateway: TestGateway) -> None:
    made = metric()
    rows = measured(made, ScriptedJudge(name="j", gateway=gateway, script=script))
    values = measuring.values(made, rows)
    columns = [1 / 2, 1 / 3, 2 / 3, 2 / 4, 1 / 2, 0.7]
    assert [values[column] for column in COLUMNS] == pytest.approx(columns)
    assert values["average_paper"] == pytest.approx(sum(columns) / 6)
    assert values["average_released"] == pytest.approx(((columns[0] + columns[1]) / 2 + sum(columns[2:])) / 5)
    labels = {row.rationale.split(" (")[0]: row.label for row in rows if row.family == "factual_accuracy"}
    assert labels["Birds are blue."] == "no_such_source" and labels["The photo shows a bridge."] == "unreadable_source"
    cited = {row.rationale: row.label for row in rows if row.family == "citation_coverage"}
    assert cited == {
        "notes.txt": "cited",
        "History of long spans": "cited",
        "Cables and towers of suspension bridges": "not_cited",
    }, "tables and images are not required, pages of the sandbox that are not supportive neither"
    assert len(gateway.records) == 1 + 1 + 1 + 1 + 1 + 3


def test_the_worked_case_of_the_paper(gateway: TestGateway) -> None:
    """6 of 12, 2 of 6, 5 of 8, 15 of 15, depth 70; factual accuracy is not given there, 3 of 4 stands in for it."""
    counts = {"ir_user_files": (6, 12), "ir_sandbox": (2, 6), "citation_coverage": (5, 8), "factual_accuracy": (3, 4)}
    counts["instruction_following"] = (15, 15)
    rows = [Judgment(f"{c}{n}", c, "", float(n < hit)) for c, (hit, of) in counts.items() for n in range(of)]
    values = measuring.values(metric(), [*rows, Judgment("d", "depth", "7", 0.7)])
    assert [round(100 * (values[column] or 0), 2) for column in COLUMNS] == [50, 33.33, 62.5, 75, 100, 70]
    assert values["average_paper"] == pytest.approx((50 + 100 / 3 + 62.5 + 75 + 100 + 70) / 600)
    assert values["average_released"] == pytest.approx(((50 + 100 / 3) / 2 + 62.5 + 75 + 100 + 70) / 500)


def test_halves_count_zero_as_published_or_half(gateway: TestGateway) -> None:
    made = metric(halves="half", parts=["ir_sandbox"])
    rows = measured(made, ScriptedJudge(name="j", gateway=gateway, script=script))
    assert measuring.values(made, rows) == {"ir_sandbox": pytest.approx(1.5 / 3)}
    assert made.rubric_variant == "default,halves"


def test_all_user_files_can_be_required() -> None:
    made = metric(required_files="all", parts=["citation_coverage"])
    assert not made.asks
    values = measuring.values(made, measured(made, None))
    assert values["citation_coverage"] == pytest.approx(2 / 5)


def test_trouble_leaves_a_column_and_the_averages_without_a_value(gateway: TestGateway) -> None:
    def failing(rubric: Any, context: Any, repeat: int) -> dict[str, Any]:
        if rubric.kind.name == "entailment" and "1998" in context.claim:
            raise ProviderError("down", code="server_error")
        return script(rubric, context, repeat)

    made = metric()
    rows = measured(made, ScriptedJudge(name="j", gateway=gateway, script=failing))
    values = measuring.values(made, rows)
    assert [row.status for row in rows].count(Status.JUDGE_ERROR) == 1
    assert (values["factual_accuracy"], values["average_paper"], values["ir_sandbox"]) == (None, None, pytest.approx(1 / 3))


def test_a_task_without_gold_is_not_applicable(gateway: TestGateway) -> None:
    made = metric()
    judge = ScriptedJudge(name="j", gateway=gateway, script=script)
    values = measuring.values(made, measured(made, judge, Task("404", "q", "d")))
    assert values["ir_user_files"] is None and values["citation_coverage"] is None and values["average_paper"] is None
    assert values["depth"] == pytest.approx(0.7)


def test_what_cannot_be_is_said_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is required: the folder of the task folders"):
        metric(data=None)
    with pytest.raises(ConfigError, match="is no folder"):
        metric(insights=str(tmp_path / "none"))
    strange = Dataset(tasks=[Task("z", "q", "d")], reports=[])
    assert "has no folder of any task" in metric().prepare(strange)[0].what
    assert metric().prepare(Dataset(tasks=[TASK], reports=[])) == []
    assert metric().identity() == metric().identity() != metric(size="64k").identity()


def test_the_embedded_judge_does_all_but_depth(gateway: TestGateway) -> None:
    embedded = EmbeddedJudge(name="e", gateway=gateway)
    assert {rubric.name for rubric in metric().rubrics() if embedded.refusal(rubric)} == {"depth"}
    made = metric(parts=["ir_sandbox", "factual_accuracy"])
    values = measuring.values(made, measured(made, embedded))
    assert values["ir_sandbox"] == pytest.approx(1 / 3)
    assert values["factual_accuracy"] is not None


def test_every_call_holds_what_it_asks_about(gateway: TestGateway) -> None:
    with OpenAIStub() as stub:
        none = {"reason": "r", "quote": "", "answer": "none"}
        for words, answer in (
            ("hold, each after", {"i1": none, "i2": none, "i3": none}),
            ("asks of a report", {f"i{n}": {"reason": "r", "quote": "", "answer": "yes"} for n in (1, 2)}),
            ("names a source, each", {"citations": PAIRS[:2]}),
            ("names this document", {"reason": "r", "passage": "", "quote": "", "label": "not_supported"}),
            ("How deep", {"reason": "r", "score": 7}),
        ):
            stub.always(saying(answer), when=lambda body, words=words: words in body["messages"][1]["content"])
        judge = LLMJudge(name="j", gateway=gateway, model="openai/m", api_base=stub.url)

        async def run() -> list[Judgment]:
            made = metric(insights_per_call=3)
            try:
                return await made.measure(Subject(TASK, Report("001", "a", REPORT)), judge, 0)
            finally:
                await judge.close()

        rows = asyncio.run(run())
        users = [body["messages"][1]["content"] for body in stub.bodies]
    assert {row.family for row in rows} == set(COLUMNS)
    support = [user for user in users if "names this document" in user]
    assert any("Spans grew to 1,991 metres. The record" in user for user in support), "a listed title has the sandbox's text"
    assert sorted("Bridge notes" in user for user in support) == [False, True]
    assert all("The standard is lenient" in user and "Birds are blue" not in user for user in support)
    insights = [user for user in users if "hold, each after" in user]
    assert any("record stood 24 years" in user for user in insights)
    assert any("one bridge that year" in user for user in insights)
    (asked,) = [user for user in users if "asks of a report" in user]
    assert "Says what comes next" in asked and "Akashi" in asked
