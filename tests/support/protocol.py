"""Protocols of any size for tests, and a source that has one for every task."""

from __future__ import annotations

from datetime import date
from typing import Any

from dreambench.judges.judge import Judge
from dreambench.protocols.model import Creator, KicItem, Plan, Protocol, RqItem, Verification
from dreambench.protocols.source import NoProtocols
from dreambench.records import Task

QUERY = "How did bridges change?"
AS_OF = date(2025, 1, 1)


def fact(number: int, **changed: Any) -> KicItem:
    keys: dict[str, Any] = {
        "id": f"k{number}",
        "question": f"Does the report state that bridge {number} was opened?",
        "fact": f"Bridge {number} was opened.",
        "url": f"https://pages.example/{number}",
        "quote": f"Bridge {number} was opened in 2019.",
        "published": date(2020, 1, 1),
    }
    return KicItem(**{**keys, **changed})


def question(number: int) -> RqItem:
    plan = Plan(
        extract=f"Why span {number} needs steel.",
        verify=[Verification(what=f"The load of span {number}.", tools=["web_search", "calculate"])],
        criteria=["The load must exceed what wood bears."],
    )
    return RqItem(id=f"r{number}", question=f"Why is span {number} steel?", plan=plan)


def protocol(facts: int = 0, questions: int = 0, **changed: Any) -> Protocol:
    keys: dict[str, Any] = {"query": QUERY, "as_of": AS_OF, "creator": Creator.HUMAN}
    keys |= {"kic": [fact(n) for n in range(1, facts + 1)], "rq": [question(n) for n in range(1, questions + 1)]}
    return Protocol(**{**keys, **changed})


class OneProtocol(NoProtocols):
    """The same protocol for every task, or none."""

    name = "one"

    def __init__(self, given: Protocol | None) -> None:
        super().__init__()
        self.given = given

    async def get(self, task: Task, judge: Judge | None) -> Protocol | None:
        return self.given

    def hash_of(self, task: Task, judge: Judge | None) -> str:
        return self.given.content_hash() if self.given else ""
