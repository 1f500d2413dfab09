"""`agent_step` by rules: search for the question's words, open the best pages one after the other, finish.

A policy that nobody would call clever, and the same every time. A job that checks a report along a plan has its own
(`reasoning.policy`); what other jobs ask for is left to their closing question.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dreambench.judges.embedded.reasoning.policy import ADDRESS, is_check, next_action, query_of
from dreambench.judges.kinds.agent_step import FINISH, Context

MOST_PAGES = 8


def refusal(settings: Mapping[str, Any]) -> str | None:
    """None: settings belong to the wording."""
    return None


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """A search, then a page that it found and that was not opened yet, at most MOST_PAGES; then the end."""
    tools = {tool.name for tool in context.tools}
    if is_check(context.job):
        action = next_action(context.job, context.steps, tools)
        if action is None:
            return _action("There is nothing more to look up.", FINISH)
        return _action(action.thought, action.tool, **{action.key: action.value})
    searched = [step for step in context.steps if step.tool == "web_search"]
    if "web_search" in tools and not searched:
        about = str(context.job.get("item", context.question))
        return _action("Search for the words of the question.", "web_search", query=query_of(about))
    found = dict.fromkeys(url for step in searched for url in ADDRESS.findall(step.result))
    opened = {_url(step.arguments) for step in context.steps if step.tool == "page_visit"}
    rest = [url for url in found if url not in opened]
    if "page_visit" in tools and rest and len(opened) < MOST_PAGES:
        return _action("Open the best page that was not read yet.", "page_visit", url=rest[0])
    return _action("There is nothing more to open.", FINISH)


def _action(thought: str, tool: str, **arguments: str) -> dict[str, Any]:
    return {"thought": thought, "tool": tool, "arguments": arguments}


def _url(arguments: str) -> str:
    return str(json.loads(arguments).get("url", ""))
