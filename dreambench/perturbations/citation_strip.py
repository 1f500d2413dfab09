"""Citation strip: claims lose their citations; the reference list stays as it is.

Eligible units are the runs of neighbouring markers (`[1][2], [5]` is one), whatever they resolve to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from random import Random
from typing import Any, ClassVar

from dreambench.documents import Citation, Document, Span
from dreambench.perturbations.citation_swap import group_markers
from dreambench.perturbations.edits import Change, Role
from dreambench.perturbations.perturbation import Perturbation, Source, Unit

_BETWEEN = re.compile(r"[ \t]*[,，、;；]?[ \t]*")
_PREPOSITION = re.compile(
    r"(?:\b(?:according to|see|in|by|from|of|per|and|with|to|as|than|or|cf\.|via)"
    r"|根据|参见|见|据|如|在|由|于|与|和|参考)[ \t]*$",
    re.IGNORECASE,
)
_STAND_INS = {False: ("the literature", "published work", "the available sources"), True: ("文献", "相关资料", "公开资料")}


class CitationStrip(Perturbation):
    """Takes out each chosen run of markers, with the blank before it."""

    id: ClassVar[str] = "citation_strip"
    kind: ClassVar[Role] = "flaw"
    check: ClassVar[Mapping[str, Any]] = {"shortest": 0.0, "longest": 1.0, "no_numbers": True}

    def units(self, source: Source) -> list[Unit]:
        document = source.document
        groups = group_markers(document)
        return [
            Unit(run[0].start, run[-1].end, partial(_strip, document, run, groups))
            for run in _runs(document.text, list(groups))
        ]

    def answered(self, source: Source, unit: Unit, text: str) -> Sequence[Change]:
        """The author's words; without any, what the embedded author does, which tidies the blanks."""
        planned = unit.make(source.draws.stream("unit", unit.start, unit.end))
        return [Change(unit.start, unit.end, text, self.id)] if text.strip() else planned


def _runs(text: str, spans: Sequence[Span]) -> list[tuple[Span, ...]]:
    runs: list[list[Span]] = []
    for span in spans:
        if runs and _BETWEEN.fullmatch(text, runs[-1][-1].end, span.start):
            runs[-1].append(span)
        else:
            runs.append([span])
    return [tuple(run) for run in runs]


def _strip(document: Document, run: tuple[Span, ...], groups: dict[Span, list[Citation]], rng: Random) -> list[Change]:
    text, start, end = document.text, run[0].start, run[-1].end
    words = " ".join(word for span in run if (word := _words(groups[span][0], text)))
    if words:
        return [Change(start, end, words, "citation_strip")]
    open_, close = text[start - 1 : start], text[end : end + 1]
    if (open_, close) in (("(", ")"), ("（", "）")):
        start, end = start - 1, end + 1
    if _PREPOSITION.search(text, max(0, start - 20), start) and text[start - 1 : start] != "\n":
        return [Change(start, end, rng.choice(_STAND_INS[document.language == "zh"]), "citation_strip")]
    while start > 0 and text[start - 1] in " \t\u3000":
        start -= 1
    at_line_start = start == 0 or text[start - 1] == "\n"
    if at_line_start:
        start = run[0].start
        while end < len(text) and text[end] in " \t":
            end += 1
    return [Change(start, end, "", "citation_strip")]


def _words(citation: Citation, text: str) -> str:
    """The words of a marker that belong to the sentence: those of a link, and the name in `Li (2023)`."""
    raw = citation.raw
    if citation.style in ("link", "html_link") and not citation.label.isdigit() and raw[:1] not in "(（" and raw[:2] != "[[":
        return citation.label
    if citation.style == "cite_tag":
        return ""
    if citation.style == "author_year" and not raw.startswith(("(", "（")):
        return raw.partition("(")[0].partition("（")[0].strip()
    return ""
