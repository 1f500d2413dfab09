"""Making one protocol from a query and a date: no report reaches this module.

A short question selects the tools; then an agent researches up to the task's date and closes with typed items, once for the
key facts and once for the reasoning questions. Every fact's words are looked up on their page by code; what is not there,
came out later or repeats another is rejected and replaced, in at most two rounds. The creator `agent` does the same without
tools that find pages, `llm` asks the closing questions alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from dreambench.evaluators.agent import AgentEvaluator, AgentLimits, Job
from dreambench.evaluators.agent_trajectory import Trajectory
from dreambench.judges.judge import Judge
from dreambench.judges.kinds import Answer, key_facts, reasoning_questions, select_tools
from dreambench.judges.quotes import check_quote
from dreambench.judges.rubric import Rubric, RubricShelf
from dreambench.protocols.model import Creator, KicItem, Plan, Protocol, Rejected, RqItem, Verification
from dreambench.protocols.source import PartName, folded
from dreambench.records import Task
from dreambench.tools.toolset import NoTools

ROLE = "creation"
WITHOUT_PAGES = ("calculate",)
"""Tools that find nothing: all that an agent without retrieval has."""
USUAL = ("web_search", "page_visit", "calculate")
"""Tools that plans may name where a protocol is made without any."""
Made = Literal["llm", "agent", "agent_retrieval"]


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many key facts (`least` to `most`) and reasoning questions are wanted, and how often rejected facts are replaced."""

    least: int
    most: int
    questions: int
    rounds: int


@dataclass(slots=True)
class _Facts:
    """The key facts as they come together."""

    kept: list[KicItem] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)


@dataclass(slots=True)
class _Questions:
    """The reasoning questions."""

    kept: list[RqItem] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)


class ProtocolMaker:
    """Makes protocols with one tool set, one set of rubrics and one size."""

    def __init__(
        self, *, shelf: RubricShelf, tools: NoTools, creator: Made, sizes: Sizes, limits: AgentLimits, rubric: str
    ) -> None:
        self.creator = Creator(creator)
        self._tools = tools
        self._sizes = sizes
        self._agent = AgentEvaluator(tools=tools, limits=limits)
        names = ("select_tools", "research_facts", "key_facts", "research_reasoning", "reasoning_questions")
        self._rubrics = {name: shelf.load(f"protocols/{name}.{rubric}") for name in names}

    def rubrics(self, parts: set[PartName]) -> list[Rubric]:
        """All that the creating judge may be asked for these parts."""
        wanted = {"kic": ("research_facts", "key_facts"), "rq": ("research_reasoning", "reasoning_questions")}
        names = ["select_tools"] + [name for part in sorted(parts) for name in wanted[part]]
        asks_once = self.creator is Creator.LLM
        return [self._rubrics[name] for name in names if not (asks_once and name.startswith(("select", "research")))]

    def identity(self) -> dict[str, Any]:
        """All but judge and tools that can change a protocol."""
        return {
            "rubrics": {name: rubric.sha256 for name, rubric in self._rubrics.items()},
            "kic_items": [self._sizes.least, self._sizes.most],
            "rq_items": self._sizes.questions,
            "rounds": self._sizes.rounds,
            "limits": self._agent.limits.model_dump(),
        }

    async def make(self, task: Task, judge: Judge, parts: set[PartName]) -> tuple[Protocol, dict[str, Trajectory]]:
        """The protocol of `task`, and the agent's work by name. Raises TransientError: then nothing is made."""
        chosen = await self._select(task, judge)
        work: dict[str, Trajectory] = {}
        facts, questions = _Facts(), _Questions()
        makings = []
        if "kic" in parts:
            makings.append(self._facts(task, judge, chosen, work, facts))
        if "rq" in parts:
            makings.append(self._questions(task, judge, chosen, work, questions))
        for failed in await asyncio.gather(*makings, return_exceptions=True):  # once all have ended: no answer in hand is lost
            if failed is not None:
                raise failed
        blank = self.blank(task, judge, parts)
        protocol = Protocol(
            **{
                **dict(blank),
                "settings": {**(blank.settings or {}), "tools_chosen": chosen},
                "kic": facts.kept,
                "rq": questions.kept,
                "rejected": [*facts.rejected, *questions.rejected],
            }
        )
        return protocol, work

    def blank(self, task: Task, judge: Judge, parts: set[PartName]) -> Protocol:
        """The protocol of `task` without its items: where it comes from."""
        return Protocol(
            query=task.query,
            as_of=task.as_of,
            creator=Creator.EMBEDDED if by_rules(judge) else self.creator,
            judge=dict(judge.identity()),
            tools=dict(self._tools.identity()),
            settings={**self.identity(), "parts": sorted(parts)},
        )

    async def _select(self, task: Task, judge: Judge) -> list[str]:
        """The tools that the judge wants to research with."""
        if self.creator is Creator.LLM:
            return []
        finding = [name for name in self._tools.tools if name not in WITHOUT_PAGES]
        offered = {
            name: tool.description
            for name, tool in self._tools.tools.items()
            if self.creator is Creator.AGENT_RETRIEVAL or name not in finding
        }
        if len(offered) < 2:
            return list(offered)
        needed = [name for name in finding if name in offered]
        answer = await self._ask(judge, "select_tools", task, tools=offered, one_of=needed)
        assert isinstance(answer, select_tools.Answer)
        named = [name for name in offered if name in answer.tools]
        return named if set(named) & set(needed) or not needed else [*named, *needed]

    async def _facts(self, task: Task, judge: Judge, chosen: Sequence[str], work: dict[str, Trajectory], facts: _Facts) -> None:
        """Fills `facts` with key facts, those that are rejected replaced."""
        least, most = self._sizes.least, self._sizes.most
        if by_rules(judge):
            least = 0  # rules find what there is: asking again would not find more
        for number in range(self._sizes.rounds + 1):
            verdict = {
                "least": least,
                "most": most,
                "kept": [item.fact for item in facts.kept],
                "refused": [{"fact": str(one.item["fact"]), "reason": one.reason} for one in facts.rejected],
                "pages": self.creator.reads_pages,
            }
            answer = await self._research(task, judge, chosen, ("research_facts", "key_facts"), verdict, work, f"kic-{number}")
            assert isinstance(answer, key_facts.Answer)
            refused = await self._take(task, answer.facts, most, facts, number)
            most = min(refused, self._sizes.most - len(facts.kept))
            least = 0 if by_rules(judge) else 1
            if most <= 0:
                return

    async def _take(self, task: Task, drafts: Sequence[key_facts.Fact], most: int, facts: _Facts, number: int) -> int:
        """Adds what can be taken to `facts`; returns how many were rejected."""
        checked = await asyncio.gather(*(self._check(task, draft) for draft in drafts), return_exceptions=True)
        if failed := next((one for one in checked if isinstance(one, BaseException)), None):
            raise failed
        before = len(facts.rejected)
        seen = {folded(text) for item in facts.kept for text in (item.fact, item.question)}
        room = most
        for draft, found in zip(drafts, checked, strict=True):
            own = {folded(draft.fact), folded(draft.question)}
            why = "duplicate" if own & seen else found if isinstance(found, str) else "" if room else "too_many"
            if why or not isinstance(found, dict):
                item = draft.model_dump(mode="json")
                facts.rejected.append(Rejected(part="kic", round=number, reason=str(why), item=item))
                continue
            seen |= own
            room -= 1
            facts.kept.append(KicItem(id=f"k{len(facts.kept) + 1}", **found))
        return len(facts.rejected) - before

    async def _check(self, task: Task, draft: key_facts.Fact) -> dict[str, Any] | str:
        """The fact's fields as they are taken, or why it is rejected."""
        fields = draft.model_dump()
        if not self.creator.reads_pages:
            return {**fields, "url": "", "quote": "", "published": None}  # from memory: nothing was read
        if not draft.url.strip() or not draft.quote.strip():
            return "no_url_or_quote"
        visit = await self._tools.page_visit(draft.url.strip(), task.as_of)
        if visit.page is None:
            return f"page_{visit.reason_code}"
        if check_quote(draft.quote, visit.page.text) is None:
            return "quote_not_on_page"
        published = visit.page.published or draft.published
        if task.as_of and published and published > task.as_of:
            return "later_than_as_of"
        return {**fields, "published": published}

    async def _questions(
        self, task: Task, judge: Judge, chosen: Sequence[str], work: dict[str, Trajectory], questions: _Questions
    ) -> None:
        """Fills `questions`; those whose plan cannot be followed, and those over the number, are rejected."""
        tools = list(self._tools.tools) or list(USUAL)
        verdict = {"count": self._sizes.questions, "tools": tools}
        rubrics = ("research_reasoning", "reasoning_questions")
        answer = await self._research(task, judge, chosen, rubrics, verdict, work, "rq")
        assert isinstance(answer, reasoning_questions.Answer)
        for draft in answer.questions:
            unknown = reasoning_questions.unknown_tools(draft, tools)
            why = "unknown_tool" if unknown else "too_many" if len(questions.kept) >= self._sizes.questions else ""
            if why:
                item = draft.model_dump(mode="json")
                questions.rejected.append(Rejected(part="rq", round=0, reason=why, item=item))
            else:
                questions.kept.append(_question(draft, len(questions.kept) + 1))

    async def _research(
        self,
        task: Task,
        judge: Judge,
        chosen: Sequence[str],
        rubrics: tuple[str, str],
        verdict: Mapping[str, Any],
        work: dict[str, Trajectory],
        name: str,
    ) -> Answer:
        """The closing question's answer, after an agent's work unless the creator asks at once."""
        opening, closing = rubrics
        if self.creator is Creator.LLM:
            return await self._ask(judge, closing, task, **verdict, steps=[])
        job = Job(self._rubrics[opening], self._rubrics[closing], task.query, task.as_of, verdict, verdict, tools=chosen)
        run = await self._agent.run(judge, job, role=ROLE)
        work[name] = run.trajectory
        return run.answer

    async def _ask(self, judge: Judge, rubric: str, task: Task, **context: Any) -> Answer:
        as_of = task.as_of.isoformat() if task.as_of else None
        return await judge.ask(self._rubrics[rubric], role=ROLE, question=task.query, as_of=as_of, **context)


def _question(draft: reasoning_questions.Question, number: int) -> RqItem:
    checks = [Verification(what=check.what, tools=check.tools) for check in draft.verify]
    plan = Plan(extract=draft.extract, verify=checks, criteria=draft.criteria)
    return RqItem(id=f"r{number}", question=draft.question, plan=plan)


def by_rules(judge: Judge) -> bool:
    """Whether `judge` answers by rules and not by a language model: what it makes is called `embedded`."""
    return str(judge.identity().get("judge", "")).startswith("embedded")
