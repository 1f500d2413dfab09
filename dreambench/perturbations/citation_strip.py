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
    r"(?:\b(?:according to|see|(?<!baked )(?<!built )(?<!plugged )(?<!logged )in|by|from|of|per|and|with|to|as|than|or|cf\."
    r"|via)"
    r"|根据|参见|(?<![可意常罕偏预])见|(?<![数依证论凭收占])据|(?<![例比假诸])如|(?<![存现潜所正内旨仍])在|(?<![理自缘])由"
    r"|(?<![属处位用基])于|(?<![参])与|(?<![总缓饱中温共])和|参考)[ \t]*$",
    re.IGNORECASE,
)
_POINTER = re.compile(
    r"[(（][ \t]*(?:see(?: also)?|cf\.|refs?\.?|sources?|references?|参考文献|参考资料|参考|参见|详见|见|来源|出处|引自)?"
    r"[ \t]*[:：]?[ \t]*$",
    re.IGNORECASE,
)
"""What stands in a bracket that only points to sources: it goes with them."""
_LABEL = re.compile(
    r"(?:^|\n)[ \t]*(?:[-*+•][ \t]+|\d+[.)][ \t]+)?[*_]{0,3}[^\n:：*_。，,]{1,14}[*_]{0,3}[:：][*_]{0,3}[ \t]*$"
)
"""A label at the start of a line, which would be left with nothing behind it."""
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
    """The run without its markers. Words of links stay, and what parts them; brackets and blanks around markers go."""
    text, start, end = document.text, run[0].start, run[-1].end
    words = [_words(groups[span][0], text) for span in run]
    if any(words):
        return _worded(text, run, words)
    opening = _POINTER.search(text, max(0, start - 20), start)
    if opening and text[end : end + 1] in (")", "）"):
        return [_gone(text, opening.start(), end + 1)]
    is_line = text[max(0, start - 1) : start] in ("", "\n")
    if not is_line and (
        _PREPOSITION.search(text, max(0, start - 20), start)
        or (_ends_line(text, end) and _LABEL.search(text, max(0, text.rfind("\n", 0, start)), start))
    ):
        return [Change(start, end, rng.choice(_STAND_INS[document.language == "zh"]), "citation_strip")]
    return [_gone(text, start, end)]


def _ends_line(text: str, at: int) -> bool:
    return re.match(r"[ \t.。]*(?:\n|$)", text[at : at + 12]) is not None


def _gone(text: str, start: int, end: int) -> Change:
    """The stretch taken out with the blank before it, at the start of a line with the blank behind it."""
    first = start
    while start > 0 and text[start - 1] in " \t\u3000":
        start -= 1
    if start == 0 or text[start - 1] == "\n":
        start = first
        while end < len(text) and text[end] in " \t":
            end += 1
    return Change(start, end, "", "citation_strip")


def _worded(text: str, run: tuple[Span, ...], words: Sequence[str]) -> list[Change]:
    """Links as their words; a marker without words goes with the sign that parts it from the one before."""
    changes: list[Change] = []
    reach = run[0].start
    for span, shown in zip(run, words, strict=True):
        start = span.start if shown or not changes else reach
        changes.append(Change(start, span.end, shown, "citation_strip"))
        reach = span.end
    return changes


def _words(citation: Citation, text: str) -> str:
    """The words of a marker that belong to the sentence: those of a link, and the name in `Li (2023)`; no address."""
    raw, label = citation.raw, citation.label
    if citation.style in ("link", "html_link") and not label.isdigit() and raw[:1] not in "(（" and raw[:2] != "[[":
        if address := re.fullmatch(r"(?:https?://)?(?:www\.)?([^/\s]+\.[a-z]{2,})(?:[/?#]\S*)?", label):
            return address[1]
        return re.sub(r"[ \t]*[(（](?:1[89]|20)\d\d[^)）]*[)）]$", "", label)
    if citation.style == "cite_tag":
        return ""
    if citation.style == "author_year" and not raw.startswith(("(", "（")):
        return raw.partition("(")[0].partition("（")[0].strip()
    return ""
