"""A report as RACE shows it: its own answer without citation markers, link targets and reference lists.

The benchmark has a model remove citations before scoring, so that they are judged by FACT alone; here code does it.
"""

from __future__ import annotations

import re

from dreambench.documents import Document

_LINK_TEXT = re.compile(r"!?\[(.*?)\]\(.*\)", re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")
_GAP = re.compile(r"[ \t]+(?=[.,;:!?，。；！？](?:\s|$))")


def without_citations(document: Document) -> str:
    """The body of the report: links that are words of their sentence keep their text, other markers go and leave no gap."""
    texts = {citation.span: _text(citation.raw) for citation in document.citations} | dict.fromkeys(document.silent_markers, "")
    markers = sorted(texts)
    parts = []
    for span in document.body:
        pieces, position = [], span.start
        for marker in markers:
            if position <= marker.start < span.end:
                pieces += [document.text[position : marker.start], texts[marker]]
                position = marker.end
        pieces.append(document.text[position : max(position, span.end)])
        parts.append(_GAP.sub("", "".join(pieces)).strip())
    return "\n\n".join(part for part in parts if part)


def _text(raw: str) -> str:
    found = _LINK_TEXT.fullmatch(raw)
    return _TAG.sub("", found[1] if found else raw)
