"""One turn of a conversation with native tool calls: what a model said, and the calls that it asks for.

A turn is stored as JSON text like any other answer. Ids of calls are ours, so that equal conversations have equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dreambench.engine.call import canonical_json
from dreambench.judges.judge import ToolRequest, Turn


def turn_text(message: Any) -> str:
    """A provider's message as the text that is stored: the words, and name and arguments of each call."""
    calls = [
        {"name": str(call.function.name or ""), "arguments": str(call.function.arguments or "")}
        for call in getattr(message, "tool_calls", None) or []
    ]
    words = str(getattr(message, "content", None) or getattr(message, "refusal", None) or "")
    return canonical_json({"text": words, "calls": calls})


def read_turn(stored: str, cost: float | None) -> Turn:
    """The inverse of `turn_text`."""
    record = json.loads(stored)
    return Turn(record["text"], tuple(ToolRequest(**call) for call in record["calls"]), cost)


@dataclass(frozen=True, slots=True)
class Answered:
    """A request with its number in the conversation, from 1, and the text that answers it."""

    number: int
    request: ToolRequest
    result: str


def turn_messages(text: str, answered: Sequence[Answered]) -> list[dict[str, Any]]:
    """The messages that carry a turn and the results of its calls on: the model's own, then one per result."""
    calls = [
        {
            "id": _call_id(one.number),
            "type": "function",
            "function": {"name": one.request.name or "unnamed", "arguments": one.request.arguments or "{}"},
        }
        for one in answered
    ]
    said: dict[str, Any] = {"role": "assistant", "content": text, "tool_calls": calls}
    results = [{"role": "tool", "tool_call_id": _call_id(one.number), "content": one.result} for one in answered]
    return [said, *results]


def _call_id(number: int) -> str:
    return f"call{number:05d}"  # nine letters and digits: the narrowest form that a provider insists on
