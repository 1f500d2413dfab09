"""Reasoning checked by rules: what code can defend is deducted with its evidence, sound text is not, the rest is unanswered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dreambench.config.locations import bundled
from dreambench.evaluators.agent_trajectory import Trajectories
from dreambench.judges.embedded import EmbeddedJudge
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.rq import NOTHING_CHECKED, ReasoningQuality
from dreambench.protocols.model import Plan, Protocol, RqItem, Verification
from dreambench.records import Judgment, Status
from tests.support import measuring
from tests.support.agents import corpus
from tests.support.gateway import TestGateway
from tests.support.protocol import OneProtocol, protocol

SHELF = RubricShelf([bundled("rubrics")])


def page(name: str, text: str, published: str | None = "2022-03-01") -> dict[str, Any]:
    site, _, path = name.partition("/")
    return {"url": f"https://{site}.example/{path}", "title": path, "published": published, "text": text}


PAGES = [
    page("registry/harbour", "The Lerwin harbour has 34 berths. It was opened in 1961 by the county of Lerwin."),
    page("registry/about", "The registry is a public authority. Two officials compare every entry with the documents."),
    page("gazette/harbour", "The Lerwin harbour, opened in 1961, has 34 berths for ships and a crane.", "2022-05-01"),
    page("fanpage/harbour", "The Lerwin harbour has 51 berths, trust me.", "2021-01-01"),
    page("fanpage/about", "A personal blog. Nobody checks what I write, and posts are from memory."),
    page(
        "survey/silt", "Dredging of the Lerwin harbour rose when farmers cleared the upper valley and silt came down the river."
    ),
    page("survey/herring", "Herring were landed at the Lerwin harbour until the railway of 1903 took the trade to the coast."),
    page("later/harbour", "The Lerwin harbour has 77 berths since its extension.", "2026-01-01"),
]
PLAN = Plan(
    extract="What the report says of the berths, the opening and the silting of the Lerwin harbour.",
    verify=[Verification(what="Berths, opening and silting of the Lerwin harbour.", tools=["web_search", "page_visit"])],
    criteria=["Figures agree with registries, and causes rest on evidence."],
)
ITEM = RqItem(id="r1", question="How did the Lerwin harbour develop, and why did it silt up?", plan=PLAN)


def rows_of(report: str, gateway: TestGateway, folder: Path, given: Protocol | None = None, **keys: Any) -> list[Judgment]:
    metric = metric_of(gateway, folder, given, **keys)
    return measuring.judgments(metric, report, EmbeddedJudge(name="embedded", gateway=gateway))


def metric_of(gateway: TestGateway, folder: Path, given: Protocol | None, pages: Sequence[Any] = PAGES) -> ReasoningQuality:
    asked = given or protocol(8, rq=[ITEM])
    tools = corpus(folder, gateway, pages)
    return ReasoningQuality(name="rq", shelf=SHELF, tools=tools, protocols=OneProtocol(asked), trajectories=Trajectories())


def deducted(rows: Sequence[Judgment]) -> list[tuple[str, str, str]]:
    assert all(row.status is Status.SCORED for row in rows if row.family == "deduction"), "every deduction can be verified"
    found = [row for row in rows if row.family == "deduction"]
    return [(row.label, row.evidence[0].url, row.evidence[0].quote) if row.evidence else (row.label, "", "") for row in found]


def grade(rows: Sequence[Judgment]) -> str:
    (question,) = (row for row in rows if row.family == "question")
    return question.label


def test_a_sum_that_fails_is_deducted_with_the_calculation(gateway: TestGateway, tmp_path: Path) -> None:
    report = "The Lerwin harbour grew from 20 to 34 berths, an increase of 18 berths."
    rows = rows_of(report, gateway, tmp_path)
    assert deducted(rows) == [("refuted_step", "", "14")] and grade(rows) == "7"
    assert "34 - 20 is 14, where 18 is stated" in rows[1].rationale
    assert (rows[1].report_start, rows[1].report_end) == (0, len(report))


def test_pages_that_agree_with_each_other_refute_a_figure(gateway: TestGateway, tmp_path: Path) -> None:
    rows = rows_of("The Lerwin harbour has 51 berths for ships. It is well known.", gateway, tmp_path)
    ((kind, url, quote),) = deducted(rows)
    assert (kind, grade(rows)) == ("refuted_step", "7")
    assert url in ("https://registry.example/harbour", "https://gazette.example/harbour") and "34 berths" in quote


def test_the_reports_own_source_refutes_it(gateway: TestGateway, tmp_path: Path) -> None:
    report = "The Lerwin harbour has 43 berths [1].\n\n## Sources\n\n[1] https://gazette.example/harbour\n"
    rows = rows_of(report, gateway, tmp_path, pages=PAGES[2:3])
    assert deducted(rows) == [("refuted_step", "https://gazette.example/harbour", PAGES[2]["text"])]


def test_what_a_page_said_before_is_superseded(gateway: TestGateway, tmp_path: Path) -> None:
    old = page("almanac/harbour", "The Lerwin harbour has 22 berths for ships.", "2001-01-01")
    rows = rows_of("The Lerwin harbour has 22 berths for ships.", gateway, tmp_path, pages=[*PAGES[:3], old])
    ((kind, _, quote),) = deducted(rows)
    assert (kind, grade(rows)) == ("ignored_counter_evidence", "8") and "34 berths" in quote


def test_a_cause_of_which_nothing_speaks_is_unsupported(gateway: TestGateway, tmp_path: Path) -> None:
    rows = rows_of("The Lerwin harbour silted up because sailors sang improper shanties.", gateway, tmp_path)
    ((kind, _, _),) = deducted(rows)
    assert (kind, grade(rows)) == ("unsupported_inference", "8")
    assert "speaks of both sides of this cause" in rows[1].rationale


def test_quoted_words_that_are_absent_are_deducted(gateway: TestGateway, tmp_path: Path) -> None:
    cited = " [1].\n\n## Sources\n\n[1] https://survey.example/herring\n"
    report = f"The survey says of the Lerwin harbour: “all herring were sold in secret to smugglers”{cited}"
    rows = rows_of(report, gateway, tmp_path)
    assert deducted(rows) == [("unsupported_inference", "https://survey.example/herring", PAGES[6]["text"])]
    real = f"The survey says of the Lerwin harbour: “the railway of 1903 took the trade to the coast”{cited}"
    assert deducted(rows_of(real, gateway, tmp_path)) == []


SOUND = [
    "The Lerwin harbour grew from 20 to 34 berths, an increase of 14 berths.",
    "The Lerwin harbour has 34 berths for ships and was opened in 1961.",
    "The Lerwin harbour silted up because farmers cleared the upper valley of the river.",
    "The Lerwin harbour may have silted up because sailors sang improper shanties.",
    "In 1931, before it was opened to ships, the Lerwin harbour had 9 berths.",
    "The Lerwin harbour has three cranes and 12 warehouses.",
]


@pytest.mark.parametrize("report", SOUND)
def test_sound_text_loses_nothing(report: str, gateway: TestGateway, tmp_path: Path) -> None:
    assert deducted(rows_of(report, gateway, tmp_path)) == []


def test_a_page_alone_refutes_nothing_unless_its_publisher_checks(gateway: TestGateway, tmp_path: Path) -> None:
    report = "The Lerwin harbour has 34 berths for ships."
    assert deducted(rows_of(report, gateway, tmp_path, pages=PAGES[3:5])) == []
    assert deducted(rows_of("The Lerwin harbour has 51 berths for ships.", gateway, tmp_path, pages=PAGES[:2])) == [
        ("refuted_step", "https://registry.example/harbour", "The Lerwin harbour has 34 berths.")
    ]


def test_what_came_out_later_counts_for_nothing(gateway: TestGateway, tmp_path: Path) -> None:
    rows = rows_of("The Lerwin harbour has 34 berths for ships.", gateway, tmp_path, pages=[PAGES[0], PAGES[7]])
    assert deducted(rows) == []


@pytest.mark.parametrize(
    "report", ["The Lerwin harbour is a place of great charm.", "Nothing to see here.", "# Harbour\n", "？"]
)
def test_where_nothing_can_be_checked_the_question_is_unanswered(report: str, gateway: TestGateway, tmp_path: Path) -> None:
    rows = rows_of(report, gateway, tmp_path)
    assert [(row.status, row.value, row.label, row.reason_code) for row in rows] == [
        (Status.UNANSWERED, None, "", NOTHING_CHECKED)
    ]
    assert measuring.values(metric_of(gateway, tmp_path, None), rows)["mean"] is None


def test_unanswered_questions_stay_out_of_the_mean(gateway: TestGateway, tmp_path: Path) -> None:
    painter = Verification(what="The painter.", tools=["web_search"])
    plan = Plan(extract="Painter, ceiling, fresco.", verify=[painter], criteria=["Names."])
    other = RqItem(id="r2", question="Who painted the ceiling?", plan=plan)
    both = protocol(8, rq=[ITEM, other])
    rows = rows_of("The Lerwin harbour has 51 berths for ships.", gateway, tmp_path, both)
    assert [(row.label, row.status) for row in rows if row.family == "question"] == [
        ("7", Status.SCORED),
        ("", Status.UNANSWERED),
    ]
    assert measuring.values(metric_of(gateway, tmp_path, both), rows)["mean"] == pytest.approx(0.7)


def test_chinese_is_checked_like_english(gateway: TestGateway, tmp_path: Path) -> None:
    pages = [
        page("ku/qiao", "兰溪大桥全长340米，是省里的主要桥梁。"),
        page("bao/qiao", "兰溪大桥全长340米，1961年建成通车，是当地的主要桥梁。", "2022-05-01"),
    ]
    plan = Plan(
        extract="报告对兰溪大桥全长和建成通车年份的说法。",
        verify=[Verification(what="兰溪大桥的全长和建成通车年份。", tools=["web_search", "page_visit"])],
        criteria=["兰溪大桥的数字应与来源一致。"],
    )
    asked = protocol(8, rq=[RqItem(id="r1", question="兰溪大桥是怎样建成的？", plan=plan)])
    wrong = rows_of("兰溪大桥全长520米，是当地的主要桥梁。", gateway, tmp_path, asked, pages=pages)
    ((kind, _, quote),) = deducted(wrong)
    assert kind == "refuted_step" and "340米" in quote
    right = rows_of("兰溪大桥全长340米，是当地的主要桥梁。", gateway, tmp_path, asked, pages=pages)
    assert deducted(right) == [] and grade(right) == "10"
    sums = rows_of("兰溪大桥的车道从4条增加到6条，增加了3条。", gateway, tmp_path, asked, pages=pages)
    assert [kind for kind, _, _ in deducted(sums)] == ["refuted_step"]


def test_the_same_report_gets_the_same_rows_and_ends_by_itself(gateway: TestGateway, tmp_path: Path) -> None:
    report = "The Lerwin harbour has 51 berths for ships, because sailors sang. It grew from 20 to 34 berths, by 18 berths."
    first, second = rows_of(report, gateway, tmp_path), rows_of(report, gateway, tmp_path)
    assert [(row.label, row.rationale) for row in first] == [(row.label, row.rationale) for row in second]
    assert first[0].reason_code == "", "no budget ended its work"
