"""New part: headings in capitals, a placebo. Replace what is changed by the flaw (or harmless change) that yours makes.

A perturbation says which units of a report it can change and how it changes one; dose, order, seed and the log of every edit
come from the base class.
"""

from __future__ import annotations

from functools import partial
from random import Random
from typing import ClassVar

from dreambench.documents import BlockKind, Span
from dreambench.perturbations.edits import Change, Role
from dreambench.perturbations.perturbation import Perturbation, Source, Unit


class NewPart(Perturbation):
    """Writes headings in capitals; a unit is a heading."""

    id: ClassVar[str] = "new_part"
    kind: ClassVar[Role] = "placebo"  # or flaw

    def units(self, source: Source) -> list[Unit]:
        """The headings of the report's body, in text order."""
        document = source.document
        headings = [block.span for block in document.blocks if block.kind is BlockKind.HEADING and document.in_body(block.span)]
        return [Unit(span.start, span.end, partial(capitals, source.text, span)) for span in headings]


def capitals(text: str, span: Span, rng: Random) -> list[Change]:
    """The edits of one unit; draws come from `rng` alone, so that a seed names a text."""
    return [Change(span.start, span.end, span.of(text).upper(), "capitals")]
