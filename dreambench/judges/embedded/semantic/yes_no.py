"""`yes_no`: the encoder finds the sentences that mean what is asked for, the rules say whether they state it.

Where a question only asks for a mention, a likeness of .6 is a mention as long as the rules see no contradiction.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dreambench.judges.embedded.semantic.retrieval import nearest_sentences, relate_nearest
from dreambench.judges.embedded.view import view_of
from dreambench.judges.embedded.yes_no import refusal as refusal
from dreambench.judges.embedded.yes_no import statement_of
from dreambench.judges.kinds.yes_no import Context

MENTIONED = 0.6


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Yes with the sentence that says so, or no."""
    return judge_item(context.item, context.report)


def judge_item(item: str, report: str) -> dict[str, Any]:
    """Reason, quote and answer for one question about a report."""
    statement, mention_is_enough = statement_of(item)
    body = view_of(report).document.body_text
    relation, alike = relate_nearest(statement, body)
    stated = relation.label == "supports"
    mentioned = mention_is_enough and relation.label != "contradicts" and alike >= MENTIONED
    quote = relation.quote[0].text if relation.quote else ""
    if mentioned and not stated:
        quote = nearest_sentences(statement, body)[0][0].text
    return {
        "reason": f"The closest sentence has a likeness of {alike:.2f}; the rules say {relation.label}: {relation.why}.",
        "quote": quote,
        "answer": "yes" if stated or mentioned else "no",
    }
