"""`extract_citations` by rules: each sentence with a citation that has an address, once per address.

The fact is the sentence without markers; a link keeps its text where that is part of the sentence and not set apart at its
end; the cells of a table row are joined by commas.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dreambench.documents import Document, parse_document
from dreambench.judges.kinds.extract_citations import Context

_LINK = re.compile(r"!?\[(.*?)\]\(.*\)", re.DOTALL)
_MARKUP = re.compile(r"\*\*|__|`|<[^<>\n]{1,200}>")
_EMPTY_BRACKETS = re.compile(r"[(\[（【]\s*[,;，；]*\s*[)\]）】]")
_GAP = re.compile(r"\s+(?=[.,;:!?，。；！？])")
_ENDS = re.compile(r"[\s.,;:!?)，。；：！？）]*")
_CELLS = re.compile(r"\s*\|\s*")
_LEADING = re.compile(r"^(?:[-*+•]|\d+[.)]|#+|>)\s+")


def refusal(settings: Mapping[str, Any]) -> str | None:
    """None: the question has no settings."""
    return None


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The cited sentences of the report's body with the addresses that they cite."""
    document = parse_document(context.report)
    found: dict[tuple[str, str], None] = {}
    for index in document.sentences_with_citation:
        if document.in_body(document.sentences[index].span) and (fact := _fact(document, index)):
            urls = dict.fromkeys(citation.url for citation in document.citations_of(index) if citation.url)
            found |= dict.fromkeys((fact, url) for url in urls)
    return {"citations": [{"fact": fact, "url": url} for fact, url in found]}


def _fact(document: Document, index: int) -> str:
    """The sentence without its markers; empty when nothing is left of it."""
    span = document.sentences[index].span
    pieces, position = [], span.start
    silent = set(document.silent_within(span))
    for marker in sorted({citation.span for citation in document.citations_of(index)} | silent):
        if marker.start >= position:
            kept = "" if marker in silent else _kept(document.text, marker.start, marker.end, span.end)
            pieces += [document.text[position : marker.start], kept]
            position = marker.end
    text = _MARKUP.sub("", "".join([*pieces, document.text[position : span.end]]))
    text = _CELLS.sub(", ", text.strip().strip("|"))
    text = _GAP.sub("", " ".join(_EMPTY_BRACKETS.sub("", text).split()))
    return _LEADING.sub("", text).strip(" .,;，；") and _LEADING.sub("", text)


def _kept(text: str, start: int, end: int, sentence_end: int) -> str:
    """A link's text where it is part of the sentence; nothing for other markers and for a link set apart at the end."""
    found = _LINK.fullmatch(text[start:end])
    closes = _ENDS.fullmatch(text, end, sentence_end) is not None
    apart = closes and not text[:start].rstrip(" ")[-1:].isalnum()
    return found[1] if found and not apart else ""
