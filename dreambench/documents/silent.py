"""Which citation markers are no words of their sentence: what is left when they are taken out still reads.

`[3]`, `(Li, 2023)` and bare addresses never are. A link is a word of its sentence when its text is (`the [Commission](url)
said`), and none when its text is a number or a numbered label (`[2](url)`, `[Source 4](url)`), or when it stands, alone or with
others, between parentheses: `([Registry, 2024](url); [Courier](url))`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from dreambench.documents.model import Citation, Span

WITH_WORDS = ("link", "html_link", "cite_tag")
"""Styles of markers that may hold words of the text."""
_NUMBERED = re.compile(
    r"\W*(?:(?:source|ref|reference|note|cite|citation|来源|出处|注|参考|文献)\.?\s?)?\d{1,3}\W*", re.IGNORECASE
)
_BETWEEN = re.compile(r"[\s;,，；、·|&]*(?:and|和|及)?\s*")
_OPEN, _CLOSE = "(（[【", ")）]】"


def silent_markers(text: str, citations: Iterable[Citation]) -> tuple[Span, ...]:
    """The spans of such markers, each once and in order; parentheses that hold nothing else belong to them."""
    markers = {citation.span: citation for citation in citations}
    spans = sorted(span for span, citation in markers.items() if not _wordy(citation))
    wordy = sorted(span for span, citation in markers.items() if _wordy(citation))
    return tuple(sorted({*spans, *_parenthetical(text, wordy)}))


def _wordy(citation: Citation) -> bool:
    """Whether the marker, looked at by itself, holds words of the text."""
    if citation.style not in WITH_WORDS:
        return False
    return citation.style == "cite_tag" or not (_NUMBERED.fullmatch(citation.label) or citation.raw[:1] in "(（")


def _parenthetical(text: str, spans: Sequence[Span]) -> Iterable[Span]:
    """The parentheses around runs of markers that have only separators between them."""
    numbers: list[int] = []
    for before, span in zip([None, *spans], spans, strict=False):
        joined = before is not None and _BETWEEN.fullmatch(text, before.end, span.start) is not None
        numbers.append(numbers[-1] + (not joined) if numbers else 0)
    for _, run in groupby(zip(numbers, spans, strict=True), key=lambda item: item[0]):
        members = [span for _, span in run]
        start, end = members[0].start - 1, members[-1].end
        if start >= 0 and end < len(text) and text[start] in _OPEN and _CLOSE[_OPEN.index(text[start])] == text[end]:
            yield Span(start, end + 1)
