"""`key_facts` by rules: sentences of the opened pages that give an amount or a date and share the question's words.

They are dated facts that a page states about the topic, in its own words; which of them are essential no rule knows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from dreambench.judges.kinds.key_facts import Context
from dreambench.language.claims import check_worthy_sentences
from dreambench.language.dates import find_dates
from dreambench.language.quantities import find_quantities
from dreambench.language.text import has_cjk
from dreambench.language.tokens import overlap

_PUBLISHED = re.compile(r"^published (\d{4}-\d{2}-\d{2})$", re.MULTILINE)
_CUT = re.compile(r"\n\[cut here: [^\]]*\]$")
_MARKUP = re.compile(r"^[\s>*+\-#]+|[*_`]+")
_END = re.compile(r"[\s.。]+$")
A_YEAR = 366
"""Days before the date of the question within which a fact counts as new."""


@dataclass(frozen=True, slots=True)
class _Found:
    sentence: str
    url: str
    published: date | None
    nearness: float


def refusal(settings: Mapping[str, Any]) -> str | None:
    """None: settings belong to the wording."""
    return None


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """At most `most` facts, those nearest to the question first; fewer, where the pages have no more."""
    known = {" ".join(text.casefold().split()) for text in [*context.kept, *(one.fact for one in context.refused)]}
    as_of = date.fromisoformat(context.as_of) if context.as_of else None
    facts: list[dict[str, Any]] = []
    for found in sorted(_candidates(context), key=lambda one: -one.nearness):
        folded = " ".join(found.sentence.casefold().split())
        if folded in known or len(facts) >= context.most:
            continue
        known.add(folded)
        facts.append(_fact(found, as_of))
    return {"facts": facts}


def _candidates(context: Context) -> Iterator[_Found]:
    for step in context.steps:
        if step.tool != "page_visit" or step.outcome != "ok" or "\n\n" not in step.result:
            continue
        head, _, body = step.result.partition("\n\n")
        named = _PUBLISHED.search(head)
        published = date.fromisoformat(named.group(1)) if named else None
        for line in check_worthy_sentences(_CUT.sub("", body)):
            sentence = _MARKUP.sub("", line.text).strip()
            if find_quantities(sentence) or find_dates(sentence):
                yield _Found(sentence, json.loads(step.arguments)["url"], published, overlap(context.question, sentence))


def _fact(found: _Found, as_of: date | None) -> dict[str, Any]:
    plain = _END.sub("", found.sentence)
    asked = f"该报告是否指出{plain}？" if has_cjk(plain) else f"Does the report state that {plain}?"
    new = any(as_of and (as_of - mention.last).days < A_YEAR for mention in find_dates(found.sentence))
    return {
        "fact": found.sentence,
        "question": asked,
        "url": found.url,
        "quote": found.sentence,
        "published": found.published.isoformat() if found.published else None,
        "time_sensitive": new,
    }
