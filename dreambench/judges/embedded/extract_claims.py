"""`extract_claims` by rules: sentences that state something checkable (`dreambench.language.claims`), made to stand alone.

A sentence is cut at semicolons where both sides can be checked. A leading pronoun is replaced by the name that begins the
sentence before; a list item that names nobody is led by its heading. With a limit, the claims that are richest
in figures, dates and names and closest to the question come first; without one, all come in the order of the report.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dreambench.documents import BlockKind
from dreambench.judges.embedded.lexicon import closes, is_generic, opens
from dreambench.judges.embedded.measures import jaccard
from dreambench.judges.embedded.view import ReportView, plain_title, view_of
from dreambench.judges.kinds.extract_claims import Context
from dreambench.judges.quotes import check_quote
from dreambench.language.claims import score_parts, why_excluded
from dreambench.language.entities import find_entities
from dreambench.language.tokens import content_words

_LEAST = 0.3
_SAME = 0.75
_CUT = re.compile(r"(?<=[;；])\s*")
_PRONOUN = re.compile(r"^(it|they|he|she|its|their|his|her)\b\s*|^(其|它们|它|他们|他|她|该公司|该国|该机构)", re.IGNORECASE)
_OWNED = frozenset({"its", "their", "his", "her"})
_SENTENCE_END = re.compile(r"[.!。！;；]?$")


@dataclass(frozen=True, slots=True)
class _Found:
    claim: str
    quote: str
    weight: float


def refusal(settings: Mapping[str, Any]) -> str | None:
    """None: settings belong to the wording."""
    return None


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The claims with the words that make them; none where nothing can be checked."""
    claims = _distinct(_claims(view_of(context.report), context.question))
    if context.limit is not None:
        claims = sorted(claims, key=lambda found: -found.weight)[: context.limit]
    return {"claims": [{"claim": found.claim, "quote": found.quote} for found in claims]}


def _claims(view: ReportView, question: str) -> Iterator[_Found]:
    """All checkable statements of the body; tables are left out, their cells need headers to be statements."""
    document = view.document
    before = ""
    asked = frozenset(content_words(question))
    for index, sentence in enumerate(document.sentences):
        block = document.blocks[sentence.block]
        clean = view.clean(sentence.span)
        if block.kind is not BlockKind.TABLE and document.in_body(sentence.span):
            title = plain_title(document.sections[block.section].title)
            for piece in _pieces(clean):
                score = min(1.0, sum(value for _, value in score_parts(piece)))
                if score >= _LEAST and not why_excluded(piece):
                    claim = _standing_alone(piece, before, title, block.kind is BlockKind.LIST_ITEM)
                    yield _Found(claim, _quote(document.sentence_text(index), piece), score + _overlap(claim, asked))
        before = clean


def _overlap(claim: str, asked: frozenset[str]) -> float:
    """Share of the claim's content words that the question has, in [0, 1]."""
    words = frozenset(content_words(claim))
    return len(words & asked) / len(words) if words else 0.0


def _pieces(sentence: str) -> list[str]:
    """The sentence, or its parts between semicolons when each of them can be checked."""
    parts = [part.strip() for part in _CUT.split(sentence) if part.strip()]
    if len(parts) > 1 and all(not why_excluded(part) and sum(v for _, v in score_parts(part)) >= _LEAST for part in parts):
        return parts
    return [sentence]


def _standing_alone(piece: str, before: str, title: str, is_item: bool) -> str:
    text = _SENTENCE_END.sub("", piece)
    match = _PRONOUN.match(text)
    names = find_entities(before)
    if match and names and names[0].start < 12:
        word = match[0].strip().lower()
        owned = "'s " if word in _OWNED else "的" if word == "其" else " " if word.isascii() else ""
        return f"{names[0].text}{owned}{text[match.end() :]}."
    named = title and not (is_generic(title) or opens(title) or closes(title))
    nameless = match is not None or (is_item and not find_entities(text))
    if named and nameless and not set(content_words(title)) & set(content_words(text)):
        return f"{title}: {text}."
    return f"{text}."


def _quote(raw: str, piece: str) -> str:
    """The words of the report behind a piece; the whole sentence when they cannot be told apart."""
    span = check_quote(piece, raw)
    return span.of(raw) if span else raw


def _distinct(claims: Iterator[_Found]) -> list[_Found]:
    """Without claims that repeat an earlier one: nearly the same content words."""
    kept: list[_Found] = []
    seen: list[frozenset[str]] = []
    for found in claims:
        words = frozenset(content_words(found.claim))
        if not _repeats(words, seen):
            kept.append(found)
            seen.append(words)
    return kept


def _repeats(words: frozenset[str], seen: Sequence[frozenset[str]]) -> bool:
    return any(jaccard(words, other) >= _SAME for other in seen)
