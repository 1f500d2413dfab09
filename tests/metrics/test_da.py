"""Domain Authoritativeness: the worked example, degenerate reports, about pages, and judging a domain once."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from dreambench.config.locations import bundled
from dreambench.engine.call import CallRecord
from dreambench.errors import ProviderError
from dreambench.judges.kinds import Context
from dreambench.judges.rubric import Rubric, RubricShelf
from dreambench.metrics.da import DomainAuthoritativeness
from dreambench.records import Status
from dreambench.tools.toolset import CorpusTools, NoTools, Visit
from tests.support import measuring
from tests.support.gateway import TestGateway
from tests.support.scripted_judge import ScriptedJudge

SHELF = RubricShelf([bundled("rubrics")])
SCORES = {"a.example": 10, "b.example": 8, "c.example": 5, "d.example": 2}
REPORT = " ".join(f"Said [here](https://{site}/{page})." for site in SCORES for page in ("one", "two"))


def da(tools: NoTools | None = None) -> DomainAuthoritativeness:
    return DomainAuthoritativeness(name="da", shelf=SHELF, tools=tools or NoTools())


def script(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
    return {"reason": context.about or "unknown", "category": "other", "score": SCORES[context.domain]}


def judge(gateway: TestGateway, answers: Any = script) -> ScriptedJudge:
    return ScriptedJudge(name="j", gateway=gateway, script=answers)


def judging(records: list[CallRecord]) -> list[CallRecord]:
    return [record for record in records if record.role == "judging"]


def test_the_worked_example(gateway: TestGateway) -> None:
    rows = measuring.judgments(da(), REPORT, judge(gateway))
    found = measuring.values(da(), rows)
    assert found == {"mean": pytest.approx(0.625), "citing_only": pytest.approx(0.625)}
    assert len(rows) == 4, "each domain once per report"
    assert REPORT[rows[0].report_start : rows[0].report_end].startswith("[here](https://a.example")


def test_a_report_without_citations_scores_zero_and_is_left_out_of_citing_only(gateway: TestGateway) -> None:
    rows = measuring.judgments(da(), "Nothing is cited.", judge(gateway))
    assert measuring.values(da(), rows) == {"mean": 0.0, "citing_only": None}
    assert gateway.records == []


def test_a_domain_is_judged_once_across_reports(gateway: TestGateway) -> None:
    other = f"Another report. {REPORT}"
    measuring.judgments(da(), REPORT, judge(gateway))
    measuring.judgments(da(), other, judge(gateway))
    assert [record.source for record in judging(gateway.records)] == ["provider"] * 4 + ["cache"] * 4


def test_the_about_page_is_what_a_domain_is_judged_by(gateway: TestGateway, tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "about.md").write_text(
        "---\nurl: https://a.example/about\ntitle: About\n---\nWe are a registry.\n", encoding="utf-8"
    )
    tools = CorpusTools(gateway=gateway, path=pages)
    rows = measuring.judgments(da(tools), REPORT, judge(gateway))
    assert [row.rationale for row in rows] == ["a.example: We are a registry.", *(f"{d}.example: unknown" for d in "bcd")]
    assert rows[0].evidence[0].url == "https://a.example/about"
    assert rows[1].evidence == ()


class BrokenTools(NoTools):
    async def page_visit(self, url: str, as_of: date | None) -> Visit:
        raise ProviderError("no route", code="connection")


def test_our_own_trouble_with_a_page_is_a_tool_error_and_no_score(gateway: TestGateway) -> None:
    rows = measuring.judgments(da(BrokenTools()), REPORT, judge(gateway))
    assert {row.status for row in rows} == {Status.TOOL_ERROR}
    assert measuring.values(da(), rows)["mean"] is None


def test_one_failed_domain_stays_out_and_is_counted(gateway: TestGateway) -> None:
    def one_down(rubric: Rubric, context: Context, repeat: int) -> dict[str, Any]:
        if context.domain == "d.example":  # type: ignore[attr-defined]
            raise ProviderError("down", code="server_error", permanent=True)
        return script(rubric, context, repeat)

    metric = da()
    rows = measuring.judgments(metric, REPORT, judge(gateway, one_down))
    assert measuring.values(metric, rows)["mean"] == pytest.approx((1 + 0.8 + 0.5) / 3)
    assert sum(row.status is Status.JUDGE_ERROR for row in rows) == 1


def test_a_fatal_error_is_not_swallowed(gateway: TestGateway) -> None:
    def refused(rubric: Rubric, context: Context, repeat: int) -> dict[str, Any]:
        raise ProviderError("key refused", code="auth", fatal=True)

    with pytest.raises(ProviderError, match="key refused"):
        measuring.judgments(da(), REPORT, judge(gateway, refused))
