"""`fact_in_context` by rules: the fact stays as it is (extraction has put names for pronouns), and it is to the point when it
shares a content word with the question or with the report's first heading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dreambench.judges.embedded.view import view_of
from dreambench.judges.kinds.fact_in_context import Context
from dreambench.language.tokens import content_words


def refusal(settings: Mapping[str, Any]) -> str | None:
    """None: the question has no settings."""
    return None


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Yes with the shared words, or no."""
    headings = view_of(context.report).headings
    about = set(content_words(context.question)) | (set(content_words(headings[0].title)) if headings else set())
    shared = [word for word in dict.fromkeys(content_words(context.claim)) if word in about]
    said = f"It shares {', '.join(shared[:5])} with the question." if shared else "It shares no word with the question."
    return {"fact": context.claim, "reason": said, "relevant": "yes" if shared else "no"}
