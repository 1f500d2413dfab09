"""`issues` by rules, for claims without a source alone: sentences that state something checkable and cite no address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dreambench.documents import parse_document
from dreambench.judges.kinds.issues import Context
from dreambench.language.claims import check_worthy_sentences
from dreambench.language.tokens import Sentence

UNCITED = "uncited"


def refusal(settings: Mapping[str, Any]) -> str | None:
    """Why a rubric cannot be answered: it looks for another fault."""
    about = settings.get("about")
    return None if about == UNCITED else f"it can find claims without a source, not {about or 'this fault'}"


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The sentences; the score follows the rubric's ladder (pairs of most faults and score), 0 beyond it."""
    document = parse_document(context.report)
    cut = [
        Sentence(sentence.span.start, sentence.span.end, document.sentence_text(index))
        for index, sentence in enumerate(document.sentences)
        if document.in_body(sentence.span) and not any(citation.url for citation in document.citations_of(index))
    ]
    found = check_worthy_sentences(cut)
    issues = [{"issue": "States something checkable and cites no address.", "quote": claim.text} for claim in found]
    score = next((score for most, score in settings.get("ladder", []) if most is None or len(found) <= most), 0)
    said = f"{len(found)} of {len(document.sentences)} sentences state something checkable without an address."
    return {"issues": issues, "total": len(found), "reason": said, "score": score}
