"""Neutral padding: sentences that lead through the text and claim nothing make the report longer.

Eligible units are the paragraphs of running text and the headings that a list or table follows; a chosen one gets one sentence
about the subject of its section, in front of the paragraph or below the heading.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any, ClassVar

from dreambench.documents import BlockKind
from dreambench.perturbations.edits import Change, Role
from dreambench.perturbations.facts.dates import dates
from dreambench.perturbations.facts.numbers import quantities
from dreambench.perturbations.perturbation import Perturbation, Source, Unit
from dreambench.perturbations.prose import Line, View
from dreambench.perturbations.wording import say, words_of

_COUNTS = re.compile("[0-9一二两三四五六七八九十百千万亿]")


class NeutralPadding(Perturbation):
    """Puts a sentence without a claim in front of each chosen paragraph."""

    id: ClassVar[str] = "neutral_padding"
    kind: ClassVar[Role] = "placebo"
    check: ClassVar[Mapping[str, Any]] = {"shortest": 0.02, "longest": 1.2, "no_numbers": True}

    def units(self, source: Source) -> list[Unit]:
        view = source.view
        prose = {line.index for line in view.prose}
        found: list[Unit] = []
        seen: set[int] = set()
        for number in view.running_blocks:
            block = view.block(number)
            first = view.by_block[number][0]
            if (
                block.kind is not BlockKind.PARAGRAPH
                or first.index not in prose
                or first.core.start > 0
                or not first.text[:1].isalnum()
            ):
                continue
            key = "going_on" if block.section in seen else "opening"
            seen.add(block.section)
            found.append(Unit(first.start, first.end, partial(_pad, view, first, key)))
        return sorted([*found, *_bare_headings(view)], key=lambda unit: unit.start)

    def answered(self, source: Source, unit: Unit, text: str) -> Sequence[Change]:
        """The sentence, where the embedded author would have put its own."""
        (planned,) = unit.make(source.draws.stream("unit", unit.start, unit.end))
        left = planned.after[: len(planned.after) - len(planned.after.lstrip())]
        right = planned.after[len(planned.after.rstrip()) :]
        return [replace(planned, after=left + text.strip() + right)]


def _bare_headings(view: View) -> list[Unit]:
    """Headings with a list or a table right below."""
    document = view.document
    found = []
    for number, (block, following) in enumerate(pairwise(document.blocks)):
        listed = following.kind in (BlockKind.LIST_ITEM, BlockKind.TABLE) and document.in_body(following.span)
        parted = view.text[block.content.end : following.span.start].count("\n") >= 2
        if block.kind is BlockKind.HEADING and block.level > 0 and listed and parted and document.in_body(block.span):
            end = block.span.start + len(block.span.of(view.text).rstrip())
            found.append(Unit(block.span.start, end, partial(_introduce, view, number, end)))
    return found


def _introduce(view: View, block: int, at: int, rng: Random) -> list[Change]:
    return [Change(at, at, f"\n\n{_sentence(view, block, 'opening', rng)}", "neutral_padding")]


def _pad(view: View, line: Line, key: str, rng: Random) -> list[Change]:
    sentence = _sentence(view, line.block, key, rng)
    return [Change(line.start, line.start, sentence if view.chinese else f"{sentence} ", "neutral_padding")]


def _sentence(view: View, block: int, key: str, rng: Random) -> str:
    """A sentence on the subject of the block's own heading; on none where the heading names none or would add a number."""
    topic = words_of(view).own_topic(block)
    plain = topic and not _COUNTS.search(topic) and not quantities(topic) and not dates(topic)
    return say("padding", view.chinese, key if plain else f"{key}_bare", rng, topic=topic)
