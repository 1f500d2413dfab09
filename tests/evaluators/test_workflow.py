"""The workflow evaluator: items overtake each other within a report and between reports; errors wait for the others."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from dreambench.engine.budget import BudgetReached, Limits
from dreambench.engine.limiter import Widths
from dreambench.errors import ProviderError
from dreambench.evaluators.workflow import Once, StageFailed, need, together, total_cost
from dreambench.judges.kinds import Answer, Context
from dreambench.judges.rubric import Rubric
from dreambench.metrics.asking import Failed
from dreambench.metrics.ci import CitationIntegrity
from dreambench.metrics.factuality import Factuality
from dreambench.metrics.metric import Metric
from dreambench.records import Judgment, Status
from tests.support import measuring
from tests.support.gateway import TestGateway, make_gateway
from tests.support.scripted_judge import ScriptedJudge
from tests.support.workflow import SHELF, Answers, corpus, page

CLAIMS = ["Slow bridges are 10 metres long.", "Fast bridges are 20 metres long.", "Other bridges are 30 metres long."]
URLS = [f"https://{name}.example/p" for name in ("slow", "fast", "other")]
TEXT = " ".join(f"{claim[:-1]} [p]({url})." for claim, url in zip(CLAIMS, URLS, strict=True))
PAGES = [page(url, f"{claim.split()[0]} bridges were measured.") for claim, url in zip(CLAIMS, URLS, strict=True)]


class WaitingJudge(ScriptedJudge):
    """Holds the question that `held` matches back until the judgments of the other claims are all there."""

    def __init__(self, gateway: TestGateway, script: Answers, held: tuple[str, str], last: str, others: int) -> None:
        super().__init__(name="j", gateway=gateway, script=script)
        self.held = held
        self.last = last
        self.missing = others
        self.released = asyncio.Event()
        self.order: list[tuple[str, str]] = []

    async def answer(self, rubric: Rubric, context: Context, *, repeat: int, role: str) -> Answer:
        claim = str(getattr(context, "claim", getattr(context, "question", "")))
        if (rubric.name, claim) == self.held:
            await self.released.wait()
        given = await super().answer(rubric, context, repeat=repeat, role=role)
        self.order.append((rubric.name, claim))
        if rubric.name == self.last and claim != self.held[1]:
            self.missing -= 1
            if self.missing == 0:
                self.released.set()
        return given


def made(kind: type[Factuality] | type[CitationIntegrity], gateway: TestGateway, folder: Path, **keys: Any) -> Metric:
    return kind(name="m", shelf=SHELF, tools=corpus(gateway, folder, PAGES), **keys)


def script() -> Answers:
    return Answers([(claim, claim[:-1]) for claim in CLAIMS], dict.fromkeys(CLAIMS, "supported"))


@pytest.mark.parametrize(
    ("kind", "held", "last"),
    [
        (Factuality, "queries", "judgment"),
        (Factuality, "confirming", "judgment"),
        (Factuality, "contradicting", "judgment"),
        (CitationIntegrity, "support", "support"),
    ],
)
def test_no_stage_waits_for_the_slowest_claim(
    gateway: TestGateway, tmp_path: Path, kind: type[Factuality] | type[CitationIntegrity], held: str, last: str
) -> None:
    """The slow claim is let go only after the others are through: a barrier between stages would wait for ever."""
    judge = WaitingJudge(gateway, script(), (held, CLAIMS[0]), last, others=2)
    metric = made(kind, gateway, tmp_path)
    rows = asyncio.run(asyncio.wait_for(metric.measure(measuring.subject(TEXT), judge, 0), 30))
    verdicts = [row for row in rows if row.family == "claim"]
    assert [(row.label, row.status) for row in verdicts] == [("supported", Status.SCORED)] * 3
    assert judge.order.index((last, CLAIMS[1])) < judge.order.index((held, CLAIMS[0]))


def test_no_claim_waits_for_another_part_of_its_report(gateway: TestGateway, tmp_path: Path) -> None:
    """The first part's extraction ends only after the claims of the second part are judged."""
    text = f"# A\n\n{'Nothing to see here. ' * 10}\n\n# B\n\n{TEXT}"

    class FirstPartWaits(WaitingJudge):
        async def answer(self, rubric: Rubric, context: Context, *, repeat: int, role: str) -> Answer:
            if rubric.name == "extract" and "Nothing to see" in getattr(context, "report", ""):
                await self.released.wait()
            return await super().answer(rubric, context, repeat=repeat, role=role)

    judge = FirstPartWaits(gateway, script(), ("none", ""), "support", others=3)
    metric = made(CitationIntegrity, gateway, tmp_path, part_chars=250, overlap_chars=0)
    rows = asyncio.run(asyncio.wait_for(metric.measure(measuring.subject(text), judge, 0), 30))
    assert "in 2 parts" in rows[-1].rationale
    assert sum(row.family == "claim" for row in rows) == 3


def test_reports_overtake_each_other_and_a_waiting_cell_holds_no_slot(tmp_path: Path) -> None:
    """With one slot for calls, a second report is done while a question about the first is still held back."""
    gateway = make_gateway(tmp_path, widths=Widths(1, 1))
    judge = WaitingJudge(gateway, script(), ("queries", CLAIMS[0]), "judgment", others=1)
    metric = made(Factuality, gateway, tmp_path)
    other = TEXT.replace("Slow", "Late").replace("Other", "Late")

    async def work() -> tuple[list[Judgment], list[Judgment]]:
        first = metric.measure(measuring.subject(TEXT.split(". ")[0] + "."), judge, 0)
        second = metric.measure(measuring.subject(other), judge, 0)
        return await asyncio.gather(first, second)

    first, second = asyncio.run(asyncio.wait_for(work(), 30))
    assert [row.label for row in first if row.family == "claim"] == ["supported"]
    assert [row.label for row in second if row.family == "claim"] == ["supported"]


@pytest.mark.parametrize("kind", [Factuality, CitationIntegrity])
def test_a_reached_budget_leaves_the_whole_cell_owed(tmp_path: Path, kind: type[Factuality] | type[CitationIntegrity]) -> None:
    gateway = make_gateway(tmp_path, limits=Limits(calls=3))
    judge = ScriptedJudge(name="j", gateway=gateway, script=script())
    with pytest.raises(BudgetReached):
        asyncio.run(made(kind, gateway, tmp_path).measure(measuring.subject(TEXT), judge, 0))
    bought = [record for record in gateway.records if record.role != "tools" and record.source == "provider"]
    assert len(bought) <= 3 + 3, "what was under way is finished, nothing is begun"


def test_an_error_is_raised_when_the_others_have_ended() -> None:
    ended: list[str] = []

    async def fail() -> None:
        raise ProviderError("no", code="auth", fatal=True)

    async def succeed() -> None:
        await asyncio.sleep(0.01)
        ended.append("other")

    with pytest.raises(ProviderError, match="no"):
        asyncio.run(_all(fail(), succeed()))
    assert ended == ["other"]


async def _all(*work: Any) -> list[Any]:
    return await together(work)


def test_shared_work_is_done_once() -> None:
    calls: list[str] = []

    async def make(key: str) -> str:
        calls.append(key)
        await asyncio.sleep(0)
        return key.upper()

    async def work() -> list[str]:
        once = Once(make)
        return await together(once(key) for key in ("a", "b", "a", "a"))

    assert asyncio.run(work()) == ["A", "B", "A", "A"]
    assert calls == ["a", "b"]


def test_a_failed_stage_ends_its_chain() -> None:
    assert need(3) == 3
    failed = Failed(Status.TOOL_ERROR, "timeout", "slow")
    with pytest.raises(StageFailed) as caught:
        need(failed)
    assert caught.value.failed is failed


def test_costs_add_up_unless_one_is_unknown() -> None:
    assert total_cost([0.25, 0.5]) == 0.75
    assert total_cost([]) == 0
    assert total_cost([0.25, None]) is None
