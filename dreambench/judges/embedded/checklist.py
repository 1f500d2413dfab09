"""`checklist` by rules: each item as a `yes_no` question of its own, or as a statement that the report supports or not.

Settings: `relations` says which answer each of the rules' four relations (supports, partially, contradicts, unrelated) stands
for, where a rubric has other answers than yes and no. `about: form` marks questions on how a report is written, not on what
it says; the rules compare statements and cannot answer those.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dreambench.judges.embedded.view import view_of
from dreambench.judges.embedded.yes_no import MENTIONING, STATING, best_relation, judge_item, reason_of, stretches_of
from dreambench.judges.kinds.checklist import DEFAULT_ANSWERS, Context, answers_of

RELATIONS = ("supports", "partially", "contradicts", "unrelated")
_REPORT = r"(?:the |this |a )?(?:report|answer|article|response|text|document|author|analysis)"
_CRITERION = re.compile(
    rf"^(?:{_REPORT}\s+)?(?:should |must |has to )?(?:also |explicitly |clearly |accurately |correctly )?"
    rf"(?:{STATING}|{MENTIONING})(?: that)?\s+(?P<rest>.+)$",
    re.IGNORECASE | re.DOTALL,
)


def refusal(settings: Mapping[str, Any]) -> str | None:
    """Why a rubric cannot be answered: it asks about form, or no relation stands for its answers."""
    answers = answers_of(settings)
    if settings.get("about") == "form":
        return "it compares statements, and this rubric asks how a report is written"
    relations = settings.get("relations")
    if relations is None:
        return None if answers == DEFAULT_ANSWERS else f"it answers yes or no, not {' or '.join(answers)}"
    if not isinstance(relations, Mapping) or sorted(relations) != sorted(RELATIONS):
        return f"its front matter needs relations with the keys {', '.join(RELATIONS)}"
    strange = [answer for answer in relations.values() if answer not in answers]
    return f"relations: {strange[0]!r} is none of its answers" if strange else None


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """One answer under each item's id."""
    relations = settings.get("relations")
    if relations is None:
        return {name: judge_item(item, context.report) for name, item in context.items.items()}
    return {name: relate_item(item, context.report, relations) for name, item in context.items.items()}


def relate_item(item: str, report: str, relations: Mapping[str, str]) -> dict[str, Any]:
    """The answer that stands for how the closest sentence of the report relates to the item's statement."""
    found = _CRITERION.match(item.strip())
    claim = found["rest"].strip() if found else item.strip()
    document = view_of(report).document
    relation, offset = best_relation(claim, stretches_of(document))
    if relation is None or not relation.quote:
        why = relation.why if relation else "the report has no text"
        return {"reason": f"Nothing in the report says so: {why}.", "quote": "", "answer": relations["unrelated"]}
    first = relation.quote[0]
    silent = relation.label == "unrelated"
    return {
        "reason": reason_of(relation),
        "quote": "" if silent else document.text[offset + first.start : offset + first.end],
        "answer": relations[relation.label],
    }
