"""`score` by rules: one of the ten aspects of writing quality, from features of the text alone.

Settings: `aspect` (required), `scale`. A report without text gets the lowest score, with that reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dreambench.errors import nearest
from dreambench.judges.embedded.aspects import aspects
from dreambench.judges.embedded.measures import Feature, Finding
from dreambench.judges.embedded.view import MOST_SENTENCES, view_of
from dreambench.judges.kinds.score import Context, scale_of


def refusal(settings: Mapping[str, Any]) -> str | None:
    """Why a rubric cannot be answered: it names no aspect, or none that is known."""
    aspect = settings.get("aspect")
    scale_of(settings)
    if aspect in aspects():
        return None
    if aspect is None:
        return f"its front matter has no aspect; rules exist for {', '.join(sorted(aspects()))}"
    near = nearest(str(aspect), aspects())
    return f"there are no rules for the aspect {aspect!r}" + (f"; did you mean {near}?" if near else "")


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The score on the rubric's scale, with the features that it is made of."""
    view = view_of(context.report)
    finding = aspects()[settings["aspect"]](view, context.question) if view.sentences else EMPTY
    low, high = scale_of(settings)
    cut = f" Only the first {MOST_SENTENCES} sentences were read." if view.cut else ""
    return {"reason": finding.reason + cut, "score": low + round(finding.degree * (high - low))}


EMPTY = Finding((Feature("sentences", 0.0, 0.0),), "the report has no sentences")
