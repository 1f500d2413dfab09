"""`agent_step`: what an agent does next, one typed action a turn: a tool call, or `finish`.

The same rubric opens a conversation with native tool calls (`native`: no tools and no steps are written out, and no typed
answer is asked for). A tool that does not exist or arguments that do not fit are no invalid answer: the tool says so, and
that is counted. Settings belong to the rubric's wording alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from dreambench.judges import kinds

FINISH = "finish"


class ToolSheet(BaseModel):
    """One tool as it is offered: its name, what it does, and the JSON schema of its arguments."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    description: str
    parameters: dict[str, Any]


class Step(BaseModel):
    """One tool call of an agent and what came back. `arguments` is JSON text; `outcome` is ok, bad_call or over_budget."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    turn: int
    thought: str
    tool: str
    arguments: str
    result: str
    outcome: str = "ok"


class Context(kinds.Context):
    """`job` is what the agent works on, as JSON that its rubric words; `steps` is all that was done so far."""

    question: str
    as_of: str | None
    job: dict[str, Any]
    tools: list[ToolSheet]
    steps: list[Step] = Field(default_factory=list)
    native: bool = False


class ClosingContext(kinds.Context):
    """What every question that closes an agent's work is asked with: all its steps, and why it ended.

    `ended` is `finished`, or the budget that was nearly spent (steps, calls, tokens, money, seconds).
    """

    question: str
    as_of: str | None
    steps: list[Step]
    ended: str = "finished"


class Answer(kinds.Answer):
    """The next action."""

    thought: str = Field(description="One or two sentences: what is known now, and what this step is for.")
    tool: str = Field(description=f"The tool to call, or {FINISH} when nothing more has to be looked up.")
    arguments: dict[str, Any] = Field(default_factory=dict, description="The tool's arguments; empty for finish.")


def specialise(settings: Mapping[str, Any], context: Context) -> type[Answer]:
    """The answer model whose JSON schema names the tools on offer; other names are read, for the agent to be told."""
    return _for_tools(tuple(tool.name for tool in context.tools))


@lru_cache(maxsize=64)
def _for_tools(names: tuple[str, ...]) -> type[Answer]:
    told = Answer.model_fields["tool"].description
    tool: Any = (str, Field(description=told, json_schema_extra={"enum": [*names, FINISH]}))
    return create_model("AgentStep", __base__=Answer, tool=tool)


KIND = kinds.Kind("agent_step", "the next action of an agent with tools", Context, Answer, specialise)
