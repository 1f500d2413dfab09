"""Omission: key facts are left out.

Eligible units are the sentences that state a key fact: they read as checkable claims and carry a citation, an amount or a
date. A paragraph or list item all of whose sentences go is taken out whole; an item with sub-items, or with a number of an
ordered list, stays.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Any, ClassVar

from dreambench.documents import BlockKind
from dreambench.perturbations.edits import Change, Role
from dreambench.perturbations.facts.dates import dates
from dreambench.perturbations.facts.numbers import quantities
from dreambench.perturbations.perturbation import Perturbation, Source, Unit
from dreambench.perturbations.prose import Line, View, excluded
from dreambench.perturbations.wording import points_back


class Omission(Perturbation):
    """Takes out each chosen sentence with its markers."""

    id: ClassVar[str] = "omission"
    kind: ClassVar[Role] = "flaw"
    check: ClassVar[Mapping[str, Any]] = {"shortest": 0.0, "longest": 0.9}

    def units(self, source: Source) -> list[Unit]:
        view = source.view
        return [Unit(line.start, line.end, _nothing) for line in view.prose if is_key(line) and droppable(view, line)]

    def changes(self, source: Source, units: Sequence[Unit], chosen: Sequence[int]) -> list[tuple[int, Change]]:
        view = source.view
        by_start = {line.start: line for line in view.prose}
        numbers = {units[number].start: number for number in chosen}
        changes = []
        for block in dict.fromkeys(by_start[start].block for start in numbers):
            lines = view.by_block[block]
            going = [line for line in lines if line.start in numbers]
            spans = _whole_block(view, block, going) if len(going) == len(lines) else _sentences(view, lines, going)
            changes += [
                (numbers[line.start], Change(start, end, "", units[numbers[line.start]].mode or self.id))
                for line, (start, end) in zip(going, spans, strict=True)
            ]
        return changes


def is_key(line: Line) -> bool:
    """Whether a sentence states a fact that a reader would miss."""
    return excluded(line.words) is None and (line.cited or bool(quantities(line.text) or dates(line.text)))


def _nothing(rng: Random) -> list[Change]:
    return []


_LEANS = re.compile(
    r"The (?:first|second|third|next|latter|former|same|resulting|results?|study|authors?|researchers|film|series)\b"
    r"|具体|主要体现|前者|后者|研究结果|结果"
)


def droppable(view: View, line: Line) -> bool:
    """Whether the sentence can go without leaving sub-items, a list number, a bold lead-in or a sentence that points back to
    it (`However, ...`) without what it belongs to, or one of two emphasis marks."""
    following = view.next_in_block(line)
    return (
        not _carries_more(view, line)
        and line.text.count("**") % 2 == 0
        and (following is None or not (points_back(following.words) or _LEANS.match(following.words)))
    )


def _carries_more(view: View, line: Line) -> bool:
    block = view.block(line.block)
    after = view.document.blocks[line.block + 1] if line.block + 1 < len(view.document.blocks) else None
    if (
        after is not None
        and after.kind is BlockKind.LIST_ITEM
        and after.level > block.level
        and block.kind is BlockKind.LIST_ITEM
    ):
        return True
    first = view.by_block[line.block][0] is line
    if first and block.kind is BlockKind.LIST_ITEM and view.text[block.span.start : block.content.start].strip()[:1].isdigit():
        return True  # the numbers of the list would no longer follow each other
    last = view.by_block[line.block][-1]
    lead = last.text.rstrip().endswith((":", "：")) and last is not line
    return lead or (first and line.core.start > 0 and len(view.by_block[line.block]) > 1)


def _whole_block(view: View, block: int, lines: Sequence[Line]) -> list[tuple[int, int]]:
    """The block with its line ends, shared out among its sentences."""
    text, span = view.text, view.block(block).span
    start = text.rfind("\n", 0, span.start) + 1
    end = span.end
    while end < len(text) and text[end] in " \t\r":
        end += 1
    if text[end : end + 1] == "\n":
        end += 1
    is_item = view.block(block).kind is BlockKind.LIST_ITEM
    before_blank = start >= 2 and text[start - 2 : start] == "\n\n"
    if not is_item or before_blank:
        while text[end : end + 1] == "\n" and (before_blank or start == 0):
            end += 1
            if is_item:
                break
    cuts = [start, *(line.start for line in lines[1:]), end]
    return list(pairwise(cuts))


def _sentences(view: View, lines: Sequence[Line], going: Sequence[Line]) -> list[tuple[int, int]]:
    """Each sentence with the white space that parts it from its neighbour, none of it taken twice."""
    spans: list[tuple[int, int]] = []
    for line in going:
        at = lines.index(line)
        if at + 1 < len(lines):
            following = lines[at + 1].start
            start = line.start + (line.core.start if at == 0 else 0)
            spans.append((start, following))
        else:
            start = lines[at - 1].end
            start = max(start, spans[-1][1]) if spans else start
            spans.append((start, line.end))
    return spans
