"""Key-Information Coverage (DREAM, METRICS 1.5): which of a task's essential facts a report states.

The facts are the yes/no questions of the task's protocol. Each is answered from the report alone, without tools:
v in {0, 1}, KIC = mean v. A task whose protocol has fewer than eight facts is not applicable. With `batched`, all questions
are one call with a required key each, and only those that came back without an answer are asked again; else each is a call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import polars as pl

from dreambench.evaluators.workflow import lead_first
from dreambench.judges.judge import Judge
from dreambench.judges.kinds.checklist import Item
from dreambench.judges.kinds.yes_no import Answer as YesNo
from dreambench.judges.quotes import check_quote
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.asking import Failed, ask, ask_keyed, failed_row
from dreambench.metrics.graded import context_of
from dreambench.metrics.judged_metric import JudgedMetric
from dreambench.metrics.metric import MissingPolicy, Subject, Variant
from dreambench.protocols.model import LEAST_KIC, KicItem
from dreambench.protocols.source import NoProtocols
from dreambench.records import Evidence, Judgment, Status, item_id

TIME_SENSITIVE, LASTING = "time_sensitive", "lasting"
QUESTION = "facts"
Given = tuple[Item | YesNo | Failed, float | None]
"""An item's answer (or why there is none) and its share of the price."""


class KeyInformationCoverage(JudgedMetric):
    """KIC over the facts of the task's protocol."""

    id: ClassVar[str] = "kic"
    axes: ClassVar[tuple[str, ...]] = ("rubric", "batched")
    evaluator: ClassVar[str] = "llm"
    reads_document: ClassVar[bool] = False
    primary: ClassVar[str] = "mean"

    def __init__(
        self,
        *,
        name: str,
        shelf: RubricShelf,
        protocols: NoProtocols,
        rubric: str = "default",
        batched: bool = True,
        repeats: int = 1,
        missing_policy: MissingPolicy = MissingPolicy.EXCLUDE,
    ) -> None:
        asked = {QUESTION: f"kic/{'facts' if batched else 'fact'}"}
        super().__init__(name=name, shelf=shelf, asked=asked, rubric=rubric, repeats=repeats, missing_policy=missing_policy)
        self.protocols = protocols
        protocols.want("kic")
        self._batched = batched

    @property
    def rubric_variant(self) -> str:
        """The variant, and whether facts were asked one by one: the two ways are told apart in every table."""
        return self.wording + ("" if self._batched else "+one_by_one")

    def identity(self) -> Mapping[str, Any]:
        assert self.protocols is not None
        return {
            **super().identity(),
            "rubric": self.asked[QUESTION].sha256,
            "batched": self._batched,
            **self.protocols.identity(),
        }

    async def measure(self, subject: Subject, judge: Judge | None, repeat: int) -> list[Judgment]:
        """One judgment per fact, at the words of the report that decide; one row that says why where there is no protocol."""
        assert judge is not None and self.protocols is not None
        protocol = await self.protocols.get(subject.task, judge)
        trouble = protocol.kic_trouble() if protocol else "no_protocol"
        if protocol is None or trouble:
            found = f"fewer than {LEAST_KIC} facts were found: {len(protocol.kic)}" if protocol else ""
            return [not_applicable(subject, self.id, trouble or "", found)]
        given = await (self._together if self._batched else self._one_by_one)(subject, judge, repeat, protocol.kic)
        return [_row(subject, item, *given[item.id]) for item in protocol.kic]

    async def _together(self, subject: Subject, judge: Judge, repeat: int, items: Sequence[KicItem]) -> dict[str, Given]:
        """All facts in one call; what comes back without an answer in a second one, and no third."""
        wanted = {item.id: item.question for item in items}
        return dict(await ask_keyed(judge, self.asked[QUESTION], wanted, repeat=repeat, **context_of(subject)))

    async def _one_by_one(self, subject: Subject, judge: Judge, repeat: int, items: Sequence[KicItem]) -> dict[str, Given]:
        """Each fact in a call of its own; the first goes ahead so that the report is in the provider's prompt cache."""

        async def one(item: KicItem) -> Given:
            answer = await ask(judge, self.asked[QUESTION], repeat=repeat, **context_of(subject), item=item.question)
            if isinstance(answer, Failed):
                return answer, None
            assert isinstance(answer, YesNo)
            return answer, answer.cost

        return dict(zip((item.id for item in items), await lead_first(judge, one, items), strict=True))

    def variants(self) -> Sequence[Variant]:
        """The share of facts that the report states: all, those that change with time, and the others."""
        parts = [
            Variant(family, pl.col("value").sum(), pl.len(), micro=True, only=pl.col("family") == family)
            for family in (TIME_SENSITIVE, LASTING)
        ]
        return [Variant(self.primary, pl.col("value").sum(), pl.len(), micro=True), *parts]


def not_applicable(subject: Subject, metric: str, why: str, rationale: str = "") -> Judgment:
    """The one row of a report that cannot be scored, because its task has no protocol to score it by."""
    item = item_id(subject.task.id, f"{metric} {why}")
    return Judgment(item, "report", why, None, Status.NOT_APPLICABLE, reason_code=why, rationale=rationale)


def _row(subject: Subject, item: KicItem, answer: Item | YesNo | Failed, cost: float | None) -> Judgment:
    identity = item_id(subject.task.id, item.question)
    family = TIME_SENSITIVE if item.time_sensitive else LASTING
    if isinstance(answer, Failed):
        return failed_row(identity, family, "", answer)
    place = check_quote(answer.quote, subject.report.text) if answer.quote.strip() else None
    published = item.published.isoformat() if item.published else ""
    return Judgment(
        identity,
        family,
        answer.answer,
        1.0 if answer.answer == "yes" else 0.0,
        reason_code="quote_not_found" if answer.quote.strip() and place is None else "",
        rationale=f"{item.question} {answer.reason}",
        report_start=place.start if place else None,
        report_end=place.end if place else None,
        evidence=(Evidence(url=item.url, published=published, quote=item.quote),) if item.url else (),
        cost=cost,
    )
