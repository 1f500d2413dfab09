"""`yes_no` by rules: the question is turned into the statement that it asks for, and the report is searched for it.

"Does the report state that X?" asks for X. Yes is said when the rules find X supported; where the question only asks for a
mention, when most of its words stand together. Absence and contradiction are no.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from dreambench.documents import Document
from dreambench.judges.embedded.view import view_of
from dreambench.judges.kinds.yes_no import Context
from dreambench.language.entailment import Relation, relate
from dreambench.language.text import blank_out

_REPORT = r"(?:the |this )?(?:report|answer|article|response|text|document|author|analysis)"
STATING = (
    r"states?|says?|reports?|gives?|notes?|finds?|concludes?|claims?|specif(?:y|ies)|indicates?|confirms?|acknowledges?|recogni[sz]es?"
    r"|explains?|shows?|argues?|makes? clear|points? out|conveys?|warns?|correctly (?:state|say|identify|note)s?"
)
MENTIONING = (
    r"mentions?|discuss(?:es)?|describes?|covers?|address(?:es)?|includes?|identif(?:y|ies)|names?|lists?|refers? to|cites?"
    r"|compares?|provides?|presents?|outlines?|considers?|details?|quantif(?:y|ies)|analy[sz]es?|examines?"
)
_ENGLISH = re.compile(
    rf"^(?:does|do|did|has|is|can|will)\s+{_REPORT}\s+(?:also |explicitly |clearly |accurately |correctly )?"
    rf"(?:(?P<state>{STATING})(?: that)?|(?P<mention>{MENTIONING}))\s+(?P<rest>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_CHINESE = re.compile(
    r"^(?:该|这份|这篇|此|本)?(?:报告|文章|回答|文中|文本)(?:中)?(?:是否|有没有|有无)(?:明确|准确|正确|清楚)?地?"
    r"(?:(?P<state>指出|说明|表明|声明|认为|写明|给出|得出|陈述|确认)了?"
    r"|(?P<mention>提到|提及|讨论|描述|包括|包含|涉及|列出|介绍|分析|比较|涵盖)了?)(?P<rest>.+)$",
    re.DOTALL,
)
_LEADING = re.compile(r"^(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would)\s+", re.IGNORECASE)
_END = re.compile(r"[\s?？。.吗]+$")
_TARGET = re.compile(r"\](?P<target>\([^)\s]*\))")
_SAID = {
    "supports": "supports it",
    "partially": "supports a part of it",
    "contradicts": "contradicts it",
    "unrelated": "says nothing of it",
}
MENTIONED = 0.6
"""Sureness of a partial relation from which on something counts as mentioned."""


def refusal(settings: Mapping[str, Any]) -> str | None:
    """None: no setting changes the question."""
    return None


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Yes with the sentence that says so, or no."""
    return judge_item(context.item, context.report)


def judge_item(item: str, report: str) -> dict[str, Any]:
    """Reason, quote and answer for one question about a report."""
    claim, mention_is_enough = statement_of(item)
    document = view_of(report).document
    relation, offset = best_relation(claim, stretches_of(document))
    if relation is None or not relation.quote:
        why = relation.why if relation else "the report has no text"
        return {"reason": f"Nothing in the report says so: {why}.", "quote": "", "answer": "no"}
    stated = relation.label == "supports"
    mentioned = mention_is_enough and relation.label == "partially" and relation.confidence >= MENTIONED
    first = relation.quote[0]
    return {
        "reason": reason_of(relation),
        "quote": document.text[offset + first.start : offset + first.end],
        "answer": "yes" if stated or mentioned else "no",
    }


def reason_of(relation: Relation) -> str:
    """A relation in words."""
    said = _SAID[relation.label]
    return f"The closest sentence {said} (sure to {relation.confidence:.2f}): {relation.why}."


def statement_of(item: str) -> tuple[str, bool]:
    """The statement that a question asks for, and whether a mention of it is enough."""
    text = _END.sub("", item.strip())
    for pattern in (_ENGLISH, _CHINESE):
        if match := pattern.match(text):
            return match["rest"].strip(), match["mention"] is not None
    return _LEADING.sub("", text), False


def stretches_of(document: Document) -> list[tuple[int, str]]:
    """The sections of the body with their places. Each is read by itself, so that what a report states does not depend on the
    order in which it is told, and what one section says is not undone by another. Markers and addresses are blank."""
    starts = [section.span.start for section in document.sections if section.level > 0]
    targets = [match.span("target") for match in _TARGET.finditer(document.text)]
    text = blank_out(document.text, [*((span.start, span.end) for span in document.silent_markers), *targets], " ")
    found = []
    for span in document.body:
        cuts = [span.start, *(start for start in starts if span.start < start < span.end), span.end]
        found += [(start, text[start:end]) for start, end in pairwise(cuts)]
    return found


def best_relation(claim: str, stretches: list[tuple[int, str]]) -> tuple[Relation | None, int]:
    """How the stretch that says most about `claim` relates to it, and where that stretch starts."""
    rank = {"supports": 3, "contradicts": 2, "partially": 1, "unrelated": 0}
    found = [(relate(claim, text), start) for start, text in stretches]
    return max(found, key=lambda pair: (rank[pair[0].label], pair[0].confidence), default=(None, 0))
