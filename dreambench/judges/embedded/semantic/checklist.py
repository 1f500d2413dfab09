"""`checklist`: each item as a `yes_no` question of its own; items with other answers as the rules answer them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dreambench.judges.embedded import checklist as rules
from dreambench.judges.embedded.checklist import refusal as refusal
from dreambench.judges.embedded.semantic.yes_no import judge_item
from dreambench.judges.kinds.checklist import Context


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """One answer under each item's id."""
    if settings.get("relations") is not None:
        return rules.answer(settings, context)
    return {name: judge_item(item, context.report) for name, item in context.items.items()}
