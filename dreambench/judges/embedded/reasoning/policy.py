"""What an agent by rules looks up to check a report's reasoning: sums, the question and its plan, causes, cited pages.

The same job and steps give the same next action. At most MOST_ACTIONS are taken, so that the agent ends by itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from dreambench.judges.embedded.reasoning.passage import Passage, about
from dreambench.judges.kinds.agent_step import Step
from dreambench.language.text import has_cjk
from dreambench.language.tokens import content_words

MOST_SUMS, MOST_CAUSES, MOST_CITED, MOST_PAGES = 2, 2, 4, 6
MOST_ACTIONS = MOST_SUMS + 1 + MOST_CAUSES + MOST_PAGES
ADDRESS = re.compile(r"^https?://\S+$", re.MULTILINE)
LONGEST = 300
"""Characters of a query."""


@dataclass(frozen=True, slots=True)
class Action:
    """A tool call and what it is for."""

    thought: str
    tool: str
    key: str
    value: str


def is_check(job: Mapping[str, Any]) -> bool:
    """Whether a job is to check a report along a plan."""
    return {"report", "item", "plan"} <= set(job)


def next_action(job: Mapping[str, Any], steps: Sequence[Step], tools: set[str]) -> Action | None:
    """The first action that is wanted, on offer and not done yet; None when there is none."""
    done = {(step.tool, _argument(step)) for step in steps}
    for action in _wanted(job, steps):
        if action.tool in tools and (action.tool, action.value) not in done:
            return action if len(steps) < MOST_ACTIONS else None
    return None


def query_of(text: str) -> str:
    """A text as a search query: its content words, Chinese as it stands."""
    query = text if has_cjk(text) else " ".join(dict.fromkeys(content_words(text)))
    return query[:LONGEST].strip() or text[:LONGEST]


def _wanted(job: Mapping[str, Any], steps: Sequence[Step]) -> Iterator[Action]:
    passages = about(job)
    for expression in failing_sums(passages):
        yield Action("Calculate a sum that the report states.", "calculate", "expression", expression)
    checks = " ".join(str(check.get("what", "")) for check in job["plan"].get("verify", ()))
    item = query_of(f"{job['item']} {checks}")
    yield Action("Search for the question and what its plan verifies.", "web_search", "query", item)
    for passage in uncited_causes(passages):
        yield Action("Search for evidence of a cause that the report names.", "web_search", "query", query_of(passage.text))
    cited = list(dict.fromkeys(url for passage in passages if _checkable(passage) for url in passage.cited))[:MOST_CITED]
    pages = list(dict.fromkeys([*cited, *_found(steps)]))
    opened = sum(step.tool == "page_visit" for step in steps)
    for url in pages[:MOST_PAGES] if opened < MOST_PAGES else ():
        yield Action("Read a page that the report cites or that was found.", "page_visit", "url", url)


def failing_sums(passages: Sequence[Passage]) -> list[str]:
    """The expressions of the sums that do not compute."""
    found = [one.expression for passage in passages for one in passage.sums if not one.holds]
    return list(dict.fromkeys(found))[:MOST_SUMS]


def uncited_causes(passages: Sequence[Passage]) -> list[Passage]:
    """The causal claims that name no source of their own."""
    return [passage for passage in passages if passage.causal and not passage.cited][:MOST_CAUSES]


def _checkable(passage: Passage) -> bool:
    return bool(passage.quotations or passage.countable or passage.causal)


def _found(steps: Sequence[Step]) -> list[str]:
    """Addresses that searches gave, the best of each search first."""
    lists = [ADDRESS.findall(step.result) for step in steps if step.tool == "web_search"]
    return [url for row in zip_longest(*lists) for url in row if url]


def _argument(step: Step) -> str:
    given = json.loads(step.arguments) if step.arguments.strip() else {}
    return str(next(iter(given.values()), "")) if isinstance(given, dict) else ""
