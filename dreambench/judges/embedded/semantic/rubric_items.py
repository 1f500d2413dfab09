"""`rubric_items`: each item as a `yes_no` question of its own, -1 as the rules have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dreambench.judges.embedded.rubric_items import refusal as refusal
from dreambench.judges.embedded.rubric_items import verdicts
from dreambench.judges.embedded.semantic.yes_no import judge_item
from dreambench.judges.kinds.rubric_items import Context


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """A verdict under each item's id."""
    return verdicts(context, judge_item)
