"""`rubric_items` by rules: is the item stated in the report; -1 where its sentence cites nothing but the forbidden source.

What an item asks of form ("presented as a table") is nothing that a sentence can state: rubrics that cover presentation are
refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dreambench.documents import Document, normalize_url
from dreambench.judges.embedded.view import view_of
from dreambench.judges.embedded.yes_no import judge_item
from dreambench.judges.kinds.rubric_items import Context, Source
from dreambench.judges.quotes import check_quote


def refusal(settings: Mapping[str, Any]) -> str | None:
    """Why a rubric cannot be answered: it covers presentation."""
    if "presentation" in settings.get("covers", ("presentation",)):
        return "it cannot see presentation; type metric.drb2.dimensions=[info_recall,analysis]"
    return None


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """A verdict under each item's id."""
    return {name: _verdict(item, context) for name, item in context.items.items()}


def _verdict(item: str, context: Context) -> dict[str, Any]:
    found = judge_item(item, context.report)
    if found["answer"] != "yes":
        return {**found, "answer": "0"}
    if context.blocked and _rests_on(context.blocked, found["quote"], view_of(context.report).document):
        return {**found, "reason": f"{found['reason']} It cites only the forbidden source.", "answer": "-1"}
    return {**found, "answer": "1"}


def _rests_on(blocked: Source, quote: str, document: Document) -> bool:
    """Whether the sentence of the quote has resolved citations, all of them of the forbidden source."""
    place = check_quote(quote, document.text)
    if place is None:
        return False
    forbidden = {normalize_url(url) for url in blocked.urls}
    cited = [
        normalize_url(citation.url)
        for citation in document.resolved
        if citation.url and citation.sentence is not None and document.sentences[citation.sentence].span.overlaps(place)
    ]
    return bool(cited) and set(cited) <= forbidden
