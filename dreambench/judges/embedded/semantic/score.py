"""`score` by likeness of meaning: one of the ten aspects of writing quality."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dreambench.judges.embedded.score import EMPTY
from dreambench.judges.embedded.score import refusal as refusal
from dreambench.judges.embedded.semantic.aspects import ASPECTS
from dreambench.judges.embedded.semantic.view import semantic_view_of
from dreambench.judges.kinds.score import Context, scale_of


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The score on the rubric's scale, with the features that it is made of."""
    view = semantic_view_of(context.report)
    finding = ASPECTS[settings["aspect"]](view, context.question) if view.sentences else EMPTY
    low, high = scale_of(settings)
    return {"reason": finding.reason + view.remark, "score": low + round(finding.degree * (high - low))}
