"""Contradiction: the report says in one place what it denies in another.

Eligible units are the claims that can be understood alone and in which a number, a date, a name, a direction or a quantifier
can be turned round. The turned claim is put, without citation, behind a later paragraph (an earlier one where none follows).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from random import Random
from typing import Any, ClassVar

from dreambench.documents import BlockKind
from dreambench.perturbations.edits import Change, Role
from dreambench.perturbations.facts.target import Target
from dreambench.perturbations.factual_injection import facts
from dreambench.perturbations.perturbation import Perturbation, Source, Unit
from dreambench.perturbations.prose import Line, View
from dreambench.perturbations.wording import fill, has_clause, is_standalone, templates, words_of


class Contradiction(Perturbation):
    """Adds, for each chosen claim, a sentence elsewhere that contradicts it."""

    id: ClassVar[str] = "contradiction"
    kind: ClassVar[Role] = "flaw"
    check: ClassVar[Mapping[str, Any]] = {"shortest": 0.2, "longest": 1.5}

    def units(self, source: Source) -> list[Unit]:
        view = source.view
        places = landing_places(view)
        units = []
        for line, targets in facts(view):
            spots = _elsewhere(view, line, places)
            inside = {sort: kept for sort, found in targets.items() if (kept := _in_words(line, found))}
            if spots and inside and is_standalone(line) and has_clause(line.words, view.chinese):
                mode = source.draws.stream("mode", line.start).choice(sorted(inside))
                units.append(Unit(line.start, line.end, partial(_contradict, view, line, inside[mode], spots), mode))
        return units

    def instruction(self, source: Source, unit: Unit) -> dict[str, Any]:
        """The author writes the contradicting sentence; the passage itself stays."""
        return {"mode": unit.mode, "material": ""}

    def answered(self, source: Source, unit: Unit, text: str) -> Sequence[Change]:
        """The sentence, put where the embedded author would have put its own."""
        (planned,) = unit.make(source.draws.stream("unit", unit.start, unit.end))
        gap = "" if source.view.chinese else " "
        return [Change(planned.start, planned.end, gap + text.strip(), planned.kind, planned.note)]


def _in_words(line: Line, targets: Sequence[Target]) -> list[Target]:
    """The targets inside the sentence's own words."""
    core = line.core
    return [target for target in targets if core.start <= target.start and target.end <= core.end]


def landing_places(view: View) -> list[Line]:
    """Closed last sentences of paragraphs (of list items, in a report without paragraphs): a sentence can follow them."""
    last = [view.by_block[block][-1] for block in view.running_blocks]
    closed = [line for line in last if line.is_closed and line in view.prose and line.kind is not BlockKind.QUOTE]
    paragraphs = [line for line in closed if line.kind is BlockKind.PARAGRAPH]
    return paragraphs if len(paragraphs) >= 3 else closed


def _elsewhere(view: View, line: Line, places: Sequence[Line]) -> tuple[Line, ...]:
    section = view.block(line.block).section
    later = [place for place in places if place.start > line.end and view.block(place.block).section != section]
    other = later or [place for place in places if place.block != line.block]
    return tuple(other)


_OPENS_ITSELF = re.compile(
    r"(?:确实|事实上|实际上|其实|总的来说|总体|整体|目前|近年来|近来|如今|当前|传统上|自?\d{4}年)"
    r"|(?:Importantly|Notably|Recently|Currently|Overall|Today|By \d|In \d|Since \d)\b"
)
"""A sentence with an opening of its own takes no second one."""
_ENDS = re.compile(r"[.!?。！？][\"”’』」]$")


def _contradict(view: View, line: Line, targets: Sequence[Target], places: Sequence[Line], rng: Random) -> list[Change]:
    target = rng.choice(list(targets))
    turned = line.words_with([(target.start, target.end, target.write(rng))])
    place = rng.choice(list(places))
    opening = fill(rng.choice(list(templates("contradiction", view.chinese, "openings"))), rng)
    lexicon = words_of(view).lexicon
    if opening and lexicon.knows(turned) and not _OPENS_ITSELF.match(turned):
        turned = opening + lexicon.lower_first(turned)
    stop = "" if _ENDS.search(turned) else "。" if view.chinese else "."
    sentence = f"{turned}{stop}" if view.chinese else f" {turned}{stop}"
    return [Change(place.end, place.end, sentence, "contradiction", f"contradicts {line.start}:{line.end}")]
