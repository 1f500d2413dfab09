"""How an agent's turns are asked for: native tool calls in one conversation, or one typed action a turn.

Both show the model the same words and the same tools and end in the same `Move`. Tool results are fenced in both: they
are texts from outside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from dreambench.engine.call import canonical_json
from dreambench.judges.fence import fence
from dreambench.judges.judge import Judge, ToolRequest
from dreambench.judges.kinds.agent_step import FINISH, Answer, Context, Step, ToolSheet
from dreambench.judges.llm.turns import Answered, turn_messages
from dreambench.judges.rubric import Rubric
from dreambench.tools.tool import Tool


@dataclass(frozen=True, slots=True)
class Move:
    """What the agent does in a turn; without requests it is done looking things up."""

    thought: str
    requests: tuple[ToolRequest, ...]


class Dialect(Protocol):
    """Asks for the next move, and is told what came of it."""

    async def next(self, steps: Sequence[Step]) -> Move:
        """Asks for a move; `steps` are all that was looked up so far."""

    def took(self, move: Move, steps: Sequence[Step]) -> None:
        """`steps` are what came of the move, one for each of its requests."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What both dialects start from."""

    judge: Judge
    rubric: Rubric
    context: Mapping[str, Any]
    """`question`, `as_of` and `job` of the rubric's context."""
    tools: Sequence[Tool]
    repeat: int
    role: str


def dialect_of(opening: Opening) -> Dialect:
    """The dialect that the judge's `tool_mode` names."""
    return NativeDialect(opening) if opening.judge.tool_mode == "native" else TypedDialect(opening)


class TypedDialect:
    """One question of kind `agent_step` a turn. All steps are in the prompt, in order, so that its beginning stays the same."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._sheets = [_sheet(tool) for tool in opening.tools]

    async def next(self, steps: Sequence[Step]) -> Move:
        opening = self._opening
        answer = await opening.judge.ask(
            opening.rubric,
            repeat=opening.repeat,
            role=opening.role,
            **opening.context,
            tools=[sheet.model_dump() for sheet in self._sheets],
            steps=[step.model_dump() for step in steps],
        )
        assert isinstance(answer, Answer)
        done = answer.tool == FINISH
        return Move(answer.thought, () if done else (ToolRequest(answer.tool, canonical_json(answer.arguments)),))

    def took(self, move: Move, steps: Sequence[Step]) -> None:
        """Nothing to keep: the steps are all there is."""


class NativeDialect:
    """One conversation; the provider's own tool calls, several in a turn where the model wants that."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._schemas = [tool.schema for tool in opening.tools]
        context = Context(**opening.context, tools=[_sheet(tool) for tool in opening.tools], native=True)
        self._messages: list[dict[str, Any]] = [dict(message) for message in opening.rubric.render(context)]
        self._calls = 0

    async def next(self, steps: Sequence[Step]) -> Move:
        opening = self._opening
        turn = await opening.judge.converse(list(self._messages), self._schemas, repeat=opening.repeat, role=opening.role)
        return Move(turn.text, turn.calls)

    def took(self, move: Move, steps: Sequence[Step]) -> None:
        answered = [
            Answered(self._calls + number, request, fence(step.result, "result"))
            for number, (request, step) in enumerate(zip(move.requests, steps, strict=True), 1)
        ]
        self._calls += len(answered)
        self._messages += turn_messages(move.thought, answered)


def _sheet(tool: Tool) -> ToolSheet:
    function = tool.schema["function"]
    return ToolSheet(name=tool.name, description=function["description"], parameters=function["parameters"])
