"""`queries`: the rules' queries, those first that mean most of what the claim means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dreambench.judges.embedded import queries as rules
from dreambench.judges.embedded.queries import MOST
from dreambench.judges.embedded.queries import refusal as refusal
from dreambench.judges.embedded.semantic.retrieval import likest
from dreambench.judges.kinds.queries import Context


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """At most `count` different queries. Raises AnswerError when claim and question leave no word to search for."""
    found: list[str] = rules.answer(settings, context.model_copy(update={"count": MOST}))["queries"]
    ranked = sorted(zip(likest(context.claim, found), found, strict=True), key=lambda pair: -pair[0])
    return {"queries": [query for _, query in ranked][: context.count]}
