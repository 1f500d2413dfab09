"""A corpus of a few pages, an LLM judge on a scripted server, and scripts for the turns of an agent in both dialects."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dreambench.engine.gateway import Gateway
from dreambench.judges.llm import LLMJudge
from dreambench.tools.toolset import CorpusTools
from tests.support.openai_stub import Act, OpenAIStub, saying

PAGES = [
    {
        "url": f"https://pages.example/{n}",
        "title": f"Bridge {n}",
        "published": "2020-01-01",
        "text": f"# {n}\nBridge {n} was opened in 2019. It bears {n}00 tons.",
    }
    for n in range(1, 16)
]


def corpus(folder: Path, gateway: Gateway, pages: Sequence[Mapping[str, Any]] = PAGES) -> CorpusTools:
    file = folder / "pages.jsonl"
    file.write_text("\n".join(json.dumps(page) for page in pages), encoding="utf-8")
    return CorpusTools(gateway=gateway, path=file)


def step(tool: str, **arguments: Any) -> dict[str, Any]:
    """A typed action of the json dialect."""
    return {"thought": f"now {tool}", "tool": tool, "arguments": arguments}


def calling(*calls: tuple[str, Mapping[str, Any] | str], words: str = "looking") -> Act:
    """A turn with native tool calls; arguments given as text are sent as they are."""
    made = [
        {
            "id": f"theirs-{number}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for number, (name, given) in enumerate(calls)
    ]
    return Act(message={"content": words, "tool_calls": made})


def done(words: str = "That is all.") -> Act:
    """A turn without tool calls."""
    return Act(message={"content": words})


def turn(mode: str, *calls: tuple[str, Mapping[str, Any]]) -> list[Act]:
    """The same calls in either dialect: one turn of native calls, or a typed action each; no call: finish."""
    if mode == "native":
        return [calling(*calls) if calls else done()]
    return [saying(step(name, **given)) for name, given in calls] or [saying(step("finish"))]


def is_turn(body: dict[str, Any]) -> bool:
    """Whether a request is a turn of an agent, in either dialect."""
    names = [tool["function"]["name"] for tool in body.get("tools", [])]
    return names == ["AgentStep"] or "web_search" in names or "calculate" in names


def asks(name: str) -> Any:
    """Whether a request wants a typed answer whose fields include `name`."""

    def wants(body: dict[str, Any]) -> bool:
        tools = body.get("tools", [])
        return len(tools) == 1 and name in tools[0]["function"]["parameters"].get("properties", {})

    return wants


def model(stub: OpenAIStub, gateway: Gateway, **keys: Any) -> LLMJudge:
    return LLMJudge(name="j", gateway=gateway, model="openai/m", api_base=stub.url, **keys)
