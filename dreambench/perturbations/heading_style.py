"""Heading style: headings look another way and say the same.

Eligible units are the headings of the body. One style is drawn per report among bold, italics, closing marks and wider
spacing; a chosen heading takes it on. Words and levels stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from typing import Any, ClassVar

from dreambench.documents import Block, BlockKind
from dreambench.perturbations.edits import Change, Role
from dreambench.perturbations.perturbation import Perturbation, Source, Unit

_ATX = re.compile(r"^(?P<marks>[ \t]{0,3}#{1,6}[ \t]+)(?P<words>.*?)(?P<close>[ \t]+#+)?(?P<tail>[ \t]*)$")


class HeadingStyle(Perturbation):
    """Restyles each chosen heading; its words stay."""

    id: ClassVar[str] = "heading_style"
    kind: ClassVar[Role] = "placebo"
    check: ClassVar[Mapping[str, Any]] = {"keep": "words", "shortest": 0.3, "longest": 2.0}

    def units(self, source: Source) -> list[Unit]:
        document = source.document
        headings = [
            block
            for block in document.blocks
            if block.kind is BlockKind.HEADING
            and document.in_body(block.span)
            and _ATX.match(block.span.of(source.text).rstrip("\n"))
        ]
        style = source.draws.stream("style").choice(sorted(_STYLES))
        return [
            Unit(block.span.start, block.span.end, partial(_restyle, source.text, block, _STYLES[style])) for block in headings
        ]


def _restyle(text: str, block: Block, style: Callable[[str, str, int], str], rng: Random) -> list[Change]:
    line = block.span.of(text).rstrip("\n")
    match = _ATX.match(line)
    assert match is not None
    new = style(match["marks"], match["words"], block.level) + match["tail"]
    return [Change(block.span.start, block.span.start + len(line), new, "heading_style")]


def _bold(marks: str, words: str, level: int) -> str:
    """Bold, or plain where it is bold already."""
    if words.startswith("**") and words.endswith("**") and len(words) > 4:
        return marks + words[2:-2]
    return f"{marks}**{words}**" if "*" not in words and "_" not in words else f"{marks}{words} {'#' * level}"


def _closed(marks: str, words: str, level: int) -> str:
    """Closing marks, as in `## Title ##`."""
    return f"{marks}{words} {'#' * level}"


def _italic(marks: str, words: str, level: int) -> str:
    """Italics, where nothing is emphasised yet."""
    return f"{marks}*{words}*" if "*" not in words and "_" not in words else _closed(marks, words, level)


def _spaced(marks: str, words: str, level: int) -> str:
    """More room between the marks and the words."""
    return f"{marks}  {words}"


_STYLES = {"bold": _bold, "closed": _closed, "italic": _italic, "spaced": _spaced}
