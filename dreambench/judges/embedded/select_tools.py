"""`select_tools` by rules: the tools that its policy knows how to use (`agent_step`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dreambench.judges.kinds.select_tools import Context

USED = ("web_search", "page_visit")


def refusal(settings: Mapping[str, Any]) -> str | None:
    """None: settings belong to the wording."""
    return None


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Search and pages, as far as they are on offer; else whatever is."""
    known = [name for name in USED if name in context.tools]
    return {"reason": "The policy searches and opens pages.", "tools": known or list(context.tools)}
