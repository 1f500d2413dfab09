"""`verify_facts` by rules: each fact is compared with the page (`dreambench.language.entailment`).

Support in part counts as support, as the question wants it; contradicted and absent facts are unsupported.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dreambench.judges.kinds.verify_facts import Context
from dreambench.language.entailment import relate

_SUPPORTING = ("supports", "partially")


def refusal(settings: Mapping[str, Any]) -> str | None:
    """None: the question has no settings."""
    return None


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """A verdict per fact; all unknown where the page has no text."""
    if not context.page.strip():
        return {name: {"reason": "The page has no text.", "quote": "", "label": "unknown"} for name in context.facts}
    return {name: _verdict(fact, context.page) for name, fact in context.facts.items()}


def _verdict(fact: str, page: str) -> dict[str, str]:
    relation = relate(fact, page)
    quote = relation.quote[0].text if relation.quote else ""
    supported = relation.label in _SUPPORTING and bool(quote)
    return {
        "reason": f"{relation.label} (sure to {relation.confidence:.2f}): {relation.why}.",
        "quote": quote,
        "label": "supported" if supported else "unsupported",
    }
