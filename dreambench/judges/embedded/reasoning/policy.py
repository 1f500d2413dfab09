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

from dreambench.judges.embedded.reasoning.dispute import dispute_on, unknown_sites
from dreambench.judges.embedded.reasoning.passage import Passage, about
from dreambench.judges.embedded.reasoning.source import about_page, sources_of
from dreambench.judges.kinds.agent_step import Step
from dreambench.language.text import has_cjk
from dreambench.language.tokens import content_words

MOST_SUMS, MOST_CLAIMS, MOST_CITED, MOST_PAGES, MOST_ABOUT = 1, 2, 2, 5, 2
MOST_ACTIONS = MOST_SUMS + 1 + MOST_CLAIMS + MOST_PAGES + MOST_ABOUT
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
    for passage in _claims(passages):
        yield Action("Search for what the report states.", "web_search", "query", query_of(passage.text))
    cited = list(dict.fromkeys(url for passage in passages if _checkable(passage) for url in passage.cited))[:MOST_CITED]
    about_pages = [step for step in steps if step.tool == "page_visit" and _argument(step) == about_page(_argument(step))]
    read = sum(step.tool == "page_visit" for step in steps) - len(about_pages)
    for url in dict.fromkeys([*cited, *_found(steps)]) if read < MOST_PAGES else ():
        yield Action("Read a page that the report cites or that was found.", "page_visit", "url", url)
    if len(about_pages) < MOST_ABOUT:
        yield from _publishers(job, passages, steps)


def _publishers(job: Mapping[str, Any], passages: Sequence[Passage], steps: Sequence[Step]) -> Iterator[Action]:
    """The pages on which sites say who they are, where their word would decide."""
    sources = sources_of(steps)
    found = [dispute_on(passage, str(job["report"]), sources) for passage in passages]
    for source in unknown_sites([dispute for dispute in found if dispute]):
        yield Action("See who publishes a page that would decide.", "page_visit", "url", about_page(source.url))


def failing_sums(passages: Sequence[Passage]) -> list[str]:
    """The expressions of the sums that do not compute."""
    found = [one.expression for passage in passages for one in passage.sums if not one.holds]
    return list(dict.fromkeys(found))[:MOST_SUMS]


def _claims(passages: Sequence[Passage]) -> list[Passage]:
    """What is worth a search of its own: causes without a source, then figures, the fitting ones first."""
    causes = [passage for passage in passages if passage.causal and not passage.cited]
    figures = [passage for passage in passages if passage.countable and passage not in causes]
    return [*causes, *figures][:MOST_CLAIMS]


def _checkable(passage: Passage) -> bool:
    return bool(passage.quotations or passage.countable or passage.causal)


def _found(steps: Sequence[Step]) -> list[str]:
    """Addresses that searches gave, the best of each search first."""
    lists = [ADDRESS.findall(step.result) for step in steps if step.tool == "web_search"]
    return [url for row in zip_longest(*lists) for url in row if url]


def _argument(step: Step) -> str:
    given = json.loads(step.arguments) if step.arguments.strip() else {}
    return str(next(iter(given.values()), "")) if isinstance(given, dict) else ""
