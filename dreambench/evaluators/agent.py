"""The agent evaluator: a judge and a tool set in a loop of calls, then one typed answer without tools.

Turn by turn the judge calls tools or says that it is done; what came of every call is a `Step`. The final question (the
`closing` rubric) is put with all steps in its context and is answered like any other, with its checks and its re-asking.
When a budget is nearly spent the loop ends early and the closing question says so: there is always a verdict on what is
there. A bad call is answered with what is wrong with it and counted; so is one to an
address that a page may have made up (`agent_addresses`). Our own trouble with a tool leaves the loop as an
error: the item is owed and never scored on half of its evidence.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from pydantic import BaseModel, ConfigDict, PositiveFloat, PositiveInt

from dreambench.engine.call import canonical_json
from dreambench.engine.clock import Clock
from dreambench.engine.scope import Meter, metered
from dreambench.errors import CacheMissError, ProviderError, TransientError
from dreambench.evaluators.agent_addresses import Addresses
from dreambench.evaluators.agent_dialect import Dialect, Move, Opening, dialect_of
from dreambench.evaluators.agent_trajectory import Trajectory
from dreambench.judges.judge import Judge, ToolRequest
from dreambench.judges.kinds import Answer
from dreambench.judges.kinds.agent_step import Step
from dreambench.judges.rubric import Rubric
from dreambench.tools.tool import Tool, ToolCallError
from dreambench.tools.toolset import NoTools

OK, BAD_CALL, OVER_BUDGET = "ok", "bad_call", "over_budget"


class ToolTroubleError(TransientError):
    """A tool could not be reached; `code` is the boundary's own (timeout, connection, rate_limited, ...)."""

    def __init__(self, tool: str, error: TransientError) -> None:
        super().__init__(f"{tool}: {error}")
        self.code = error.code if isinstance(error, ProviderError) else type(error).__name__


class AgentLimits(BaseModel):
    """What one agent may spend; null is without limit. `result` is the most characters of one tool result.

    With `seconds` a replay ends where the stored answers end, because time cannot be replayed.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    steps: PositiveInt = 12
    calls: PositiveInt = 30
    tokens: PositiveInt | None = None
    money: PositiveFloat | None = None
    seconds: PositiveFloat | None = None
    result: PositiveInt = 6000


@dataclass(frozen=True, slots=True)
class Job:
    """What an agent is to do: how it is opened and closed, on what, with which tools (None: all of the set)."""

    opening: Rubric
    closing: Rubric
    question: str
    as_of: date | None
    job: Mapping[str, Any]
    verdict: Mapping[str, Any]
    """What the closing question's context holds besides question, date and steps."""
    tools: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class AgentRun:
    """The final typed answer, and all that led to it."""

    answer: Answer
    trajectory: Trajectory


@dataclass(slots=True)
class _Spending:
    """How far the budgets are used up. The dearest turn so far stands for the next one and for the closing question."""

    limits: AgentLimits
    meter: Meter
    clock: Clock
    started: float
    turns: int = 0
    calls: int = 0
    _before: tuple[float, ...] = (0, 0, 0)
    _dearest: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])

    def _spent(self) -> tuple[float, ...]:
        return (self.meter.tokens, self.meter.money, self.clock.monotonic() - self.started)

    def turn_ended(self) -> None:
        self.turns += 1
        now = self._spent()
        self._dearest = [max(dear, a - b) for dear, a, b in zip(self._dearest, now, self._before, strict=True)]
        self._before = now

    def nearly(self) -> str | None:
        """The budget that does not allow for another turn and the closing question; None when all do."""
        limits = self.limits
        if self.turns >= limits.steps:
            return "steps"
        if self.calls >= limits.calls:
            return "calls"
        bounds = {"tokens": limits.tokens, "money": limits.money, "seconds": limits.seconds}
        for (name, limit), spent, dear in zip(bounds.items(), self._spent(), self._dearest, strict=True):
            if limit is not None and spent + 2 * dear >= limit:
                return name
        return None


@dataclass(frozen=True, slots=True)
class _Reach:
    """What an agent's calls can get at."""

    offered: Mapping[str, Tool]
    addresses: Addresses
    as_of: date | None


class AgentEvaluator:
    """Runs agents over one tool set within limits."""

    def __init__(self, *, tools: NoTools, limits: AgentLimits, clock: Clock | None = None) -> None:
        self.tools = tools
        self.limits = limits
        self._clock = clock or Clock()

    def identity(self) -> Mapping[str, Any]:
        """All that can change what an agent finds: its tools and its limits."""
        return {**self.tools.identity(), "limits": self.limits.model_dump()}

    async def run(self, judge: Judge, job: Job, *, repeat: int = 0, role: str = "judging") -> AgentRun:
        """Works through `job`. Raises ToolTroubleError when a tool, TransientError when the judge gave no usable answer."""
        offered = self._offered(job)
        as_of = job.as_of.isoformat() if job.as_of else None
        about = {"question": job.question, "as_of": as_of}
        dialect = dialect_of(Opening(judge, job.opening, {**about, "job": dict(job.job)}, list(offered.values()), repeat, role))
        with metered() as meter:
            spending = _Spending(self.limits, meter, self._clock, self._clock.monotonic())
            addresses = Addresses(canonical_json({**about, "job": dict(job.job)}))
            steps, ended = await self._loop(dialect, spending, _Reach(offered, addresses, job.as_of))
            dumped = [step.model_dump() for step in steps]
            answer = await judge.ask(job.closing, repeat=repeat, role=role, **about, **job.verdict, steps=dumped, ended=ended)
        trajectory = Trajectory(
            judge=dict(judge.identity()),
            dialect=judge.tool_mode,
            tools=list(offered),
            question=job.question,
            as_of=as_of,
            job=dict(job.job),
            steps=steps,
            ended=ended,
            turns=spending.turns,
            calls=spending.calls,
            bad_calls=sum(step.outcome == BAD_CALL for step in steps),
            unmade_calls=sum(step.outcome == OVER_BUDGET for step in steps),
            tokens=meter.tokens,
            money=None if meter.unpriced else meter.money,
            answer=answer.model_dump(mode="json"),
        )
        return AgentRun(answer, trajectory)

    def _offered(self, job: Job) -> dict[str, Tool]:
        return {name: tool for name, tool in self.tools.tools.items() if job.tools is None or name in job.tools}

    async def _loop(self, dialect: Dialect, spending: _Spending, reach: _Reach) -> tuple[list[Step], str]:
        steps: list[Step] = []
        while (ended := spending.nearly()) is None:
            try:
                move = await dialect.next(steps)
            except CacheMissError:
                if self.limits.seconds is None:
                    raise
                return steps, "seconds"  # the answer to be replayed was given when time was up here
            if not move.requests:
                spending.turn_ended()
                return steps, "finished"
            taken = await self._carry_out(move, spending, reach)
            dialect.took(move, taken)
            steps += taken
            spending.turn_ended()
        return steps, ended

    async def _carry_out(self, move: Move, spending: _Spending, reach: _Reach) -> list[Step]:
        left = self.limits.calls - spending.calls
        spending.calls += min(left, len(move.requests))
        results = await asyncio.gather(
            *(self._call(request, reach) for request in move.requests[:left]), return_exceptions=True
        )
        if failed := next((result for result in results if isinstance(result, BaseException)), None):
            raise failed
        texts = [result for result in results if not isinstance(result, BaseException)]
        texts += [("not carried out: the budget of tool calls is used up", OVER_BUDGET)] * (len(move.requests) - len(texts))
        return [
            Step(
                turn=spending.turns + 1,
                thought=move.thought,
                tool=request.name,
                arguments=request.arguments,
                result=text,
                outcome=outcome,
            )
            for request, (text, outcome) in zip(move.requests, texts, strict=True)
        ]

    async def _call(self, request: ToolRequest, reach: _Reach) -> tuple[str, str]:
        offered = reach.offered
        if why := reach.addresses.refusal(request):
            return why, BAD_CALL
        try:
            if offered and request.name not in offered and request.name in self.tools.tools:
                raise ToolCallError(f"the tool {request.name} is not on offer here (tools: {', '.join(offered)})")
            found = await self.tools.call(request.name, request.arguments, reach.as_of)
        except ToolCallError as error:
            return str(error), BAD_CALL
        except CacheMissError:
            raise
        except TransientError as error:
            if isinstance(error, ProviderError) and error.fatal:
                raise
            raise ToolTroubleError(request.name, error) from error
        reach.addresses.took(found)
        text, limit = found.text, self.limits.result
        if len(text) > limit:
            text = f"{text[:limit]}\n[cut here: {limit:,} of {len(text):,} characters]"
        return text, OK
