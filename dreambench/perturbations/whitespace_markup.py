"""White space and markup: the same words with other bullets, emphasis marks and blank lines.

Eligible units are the paragraphs and lists in which something can be written another way: a list's bullets, `**bold**`
as `__bold__`, two blank lines for one, blanks at a line's end. One set of habits is drawn per report.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from random import Random
from typing import Any, ClassVar

from dreambench.documents import Block, BlockKind
from dreambench.perturbations.edits import Change, Role
from dreambench.perturbations.perturbation import Perturbation, Source, Unit
from dreambench.perturbations.prose import View

_BULLET = re.compile(r"^[ \t]*(?P<bullet>[-*+])(?=[ \t])")
_BOLD = re.compile(r"(?<![\w*_])\*\*(?=[^\s*])(?P<words>[^*\n]{1,200}?)(?<=[^\s*])\*\*(?![\w*_])")


class WhitespaceMarkup(Perturbation):
    """Writes the markup of each chosen block another way; its words stay."""

    id: ClassVar[str] = "whitespace_markup"
    kind: ClassVar[Role] = "placebo"
    check: ClassVar[Mapping[str, Any]] = {"keep": "words", "shortest": 0.7, "longest": 1.4}

    def units(self, source: Source) -> list[Unit]:
        view = source.view
        style = source.draws.stream("style")
        bullet = {"-": style.choice("*+"), "*": style.choice("-+"), "+": style.choice("-*")}
        found = []
        for blocks in _lists_and_paragraphs(view):
            changes = [
                change
                for number in blocks
                for block in [view.block(number)]
                for change in [*_bullet(view, block, bullet), *_bold(view, block), *_blank(view, block)]
            ]
            if changes:
                first, last = view.block(blocks[0]), view.block(blocks[-1])
                found.append(Unit(first.span.start, last.span.end, partial(_same, tuple(changes))))
        return found


def _lists_and_paragraphs(view: View) -> list[list[int]]:
    """The blocks of running text by number, those of one list together: one item with another bullet would split the list."""
    runs: list[list[int]] = []
    for number in view.running_blocks:
        listed = view.block(number).kind is BlockKind.LIST_ITEM
        if runs and listed and runs[-1][-1] == number - 1 and view.block(number - 1).kind is BlockKind.LIST_ITEM:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def _same(changes: tuple[Change, ...], rng: Random) -> list[Change]:
    return list(changes)


def _bullet(view: View, block: Block, bullet: Mapping[str, str]) -> list[Change]:
    start = view.text.rfind("\n", 0, block.span.start) + 1
    match = _BULLET.match(view.text[start : block.span.end]) if block.kind is BlockKind.LIST_ITEM else None
    if match is None:
        return []
    at = start + match.start("bullet")
    return [Change(at, at + 1, bullet[match["bullet"]], "whitespace_markup")]


def _bold(view: View, block: Block) -> list[Change]:
    text = block.content.of(view.text)
    if "__" in text or "`" in text or "](" in text:
        return []
    return [
        Change(block.content.start + at, block.content.start + at + 2, "__", "whitespace_markup")
        for match in _BOLD.finditer(text)
        if "_" not in match["words"] and match["words"][-1] not in "。.!?！？"
        for at in (match.start(), match.end() - 2)
    ]


def _blank(view: View, block: Block) -> list[Change]:
    """A second blank line behind a paragraph."""
    end = block.content.end
    if block.kind is not BlockKind.PARAGRAPH or not re.match(r"[ \t]*\n[ \t]*\n(?!\n)", view.text[end : end + 12]):
        return []
    at = view.text.index("\n", end)
    return [Change(at, at, "\n", "whitespace_markup")]
