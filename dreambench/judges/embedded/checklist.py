"""`checklist` by rules: each item as a `yes_no` question of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dreambench.judges.embedded.yes_no import judge_item
from dreambench.judges.kinds.checklist import DEFAULT_ANSWERS, Context, answers_of


def refusal(settings: Mapping[str, Any]) -> str | None:
    """Why a rubric cannot be answered: it wants other answers than yes and no."""
    if (answers := answers_of(settings)) != DEFAULT_ANSWERS:
        return f"it answers yes or no, not {' or '.join(answers)}"
    return None


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """One answer under each item's id."""
    return {name: judge_item(item, context.report) for name, item in context.items.items()}
