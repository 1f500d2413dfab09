"""`rubric_items` by rules: is the item stated in the report; -1 where its sentence cites nothing but the forbidden source.

An item is an order ("Clearly state that X", "分析并指出X"); what is looked for is X. What an item asks of form ("presented as a
table") is nothing that a sentence can state: rubrics that cover presentation are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from dreambench.documents import Document, normalize_url
from dreambench.judges.embedded.view import view_of
from dreambench.judges.embedded.yes_no import judge_item
from dreambench.judges.kinds.rubric_items import Context, Source
from dreambench.judges.quotes import check_quote

JudgeItem = Callable[[str, str], dict[str, Any]]
"""What finds a statement in a report: `judge_item` of `yes_no`."""
_ENGLISH = re.compile(
    r"^(?:in the [^,]{1,60}, )?(?:the (?:report|answer|response) )?(?:(?:clearly|explicitly|correctly|accurately|able to) )*"
    r"(?:states?|explains?|analy[sz]es?|points? out|notes?|mentions?|specif(?:y|ies)|indicates?|identif(?:y|ies)|defines?"
    r"|describes?)(?: that)? (?P<rest>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_CHINESE = re.compile(
    r"^(?:在[^：:，,]{1,20}?[中分](?=[^：:，,]{0,8}(?:指出|说明|分析|解释))|[^：:，,]{1,20}部分[，,])?"
    r"(?:应|需|并|分析|明确|清楚|准确|地)*(?:指出|说明|分析|解释|列出|点明)了?\s*[：:，,]?\s*(?P<rest>.+)$",
    re.DOTALL,
)


def refusal(settings: Mapping[str, Any]) -> str | None:
    """Why a rubric cannot be answered: it covers presentation."""
    if "presentation" in settings.get("covers", ("presentation",)):
        return "it cannot see presentation; type metric.drb2.dimensions=[info_recall,analysis]"
    return None


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """A verdict under each item's id."""
    return verdicts(context, judge_item)


def verdicts(context: Context, judge: JudgeItem) -> dict[str, Any]:
    """The verdicts where `judge` says whether a statement stands in a report."""
    return {name: _verdict(statement_of(item), context, judge) for name, item in context.items.items()}


def statement_of(item: str) -> str:
    """What an item wants to see stated, without the order to state it."""
    match = _ENGLISH.match(item.strip()) or _CHINESE.match(item.strip())
    return match["rest"] if match else item.strip()


def _verdict(statement: str, context: Context, judge: JudgeItem) -> dict[str, Any]:
    found = judge(statement, context.report)
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
    cited = {
        normalize_url(citation.url)
        for citation in document.resolved
        if citation.url and citation.sentence is not None and document.sentences[citation.sentence].span.overlaps(place)
    }
    return bool(cited) and cited <= forbidden
