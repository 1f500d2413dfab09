"""A report as vectors: one per sentence, made once and shared by all questions about the report."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from dreambench.judges.embedded.memory import Memory
from dreambench.judges.embedded.semantic.encoder import Vectors, encode
from dreambench.judges.embedded.view import Part, ReportView, Sentence, view_of

MOST_ENCODED = 100
"""Sentences that are encoded; of a longer report the first ones, and the reason says so."""


class SemanticView:
    """Vectors of a report's sentences and parts."""

    def __init__(self, base: ReportView) -> None:
        self.base = base

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """The first sentences of the body."""
        return self.base.sentences[:MOST_ENCODED]

    @cached_property
    def vectors(self) -> Vectors:
        """One row per sentence."""
        return encode([sentence.text for sentence in self.sentences])

    @property
    def remark(self) -> str:
        """What limits the answer: sentences left out, a language that the encoder was not trained on."""
        cut = f" Only the first {MOST_ENCODED} sentences were encoded." if len(self.base.sentences) > MOST_ENCODED else ""
        return cut + (" The encoder knows English only, so likeness in Chinese is rough." if self.base.chinese else "")

    @cached_property
    def parts(self) -> tuple[tuple[Part, Vectors], ...]:
        """Main parts that have encoded sentences, with the rows of those sentences."""
        found = []
        for part in self.base.parts:
            rows = [row for row, sentence in enumerate(self.sentences) if part.first <= sentence.block <= part.last]
            if rows:
                found.append((part, self.vectors[rows]))
        return tuple(found)

    @cached_property
    def centres(self) -> Vectors:
        """The centre of each part, of length 1."""
        return np.stack([centre(rows) for _, rows in self.parts])

    @cached_property
    def neighbours(self) -> Vectors:
        """Likeness of each sentence to the one before it, for pairs within a section."""
        pairs = [row for row in range(1, len(self.sentences)) if self._same_section(row)]
        return np.asarray([likeness(self.vectors[row - 1], self.vectors[row]) for row in pairs], np.float32)

    @cached_property
    def items(self) -> tuple[tuple[int, Vectors], ...]:
        """List items that have encoded sentences: the number of their list and the centre of their sentences."""
        rows: dict[int, list[int]] = {}
        for row, sentence in enumerate(self.sentences):
            rows.setdefault(self.base.document.blocks[sentence.block].span.start, []).append(row)
        return tuple(
            (number, centre(self.vectors[rows[start]]))
            for number, group in enumerate(self.base.lists)
            for start in group.starts
            if start in rows
        )

    def ends(self) -> tuple[Vectors, Vectors]:
        """Centres of the opening and of the closing."""
        opening, closing = ([s.text for s in side] for side in (self.base.opening, self.base.closing))
        return centre(encode(opening)), centre(encode(closing))

    def _same_section(self, row: int) -> bool:
        return self.sentences[row - 1].section == self.sentences[row].section


def centre(rows: Vectors) -> Vectors:
    """The mean of vectors, scaled to length 1 (zero where there are none)."""
    mean: Vectors = rows.mean(axis=0) if len(rows) else np.zeros(384, np.float32)
    length = float(np.linalg.norm(mean))
    return mean / np.float32(length) if length else mean


def likeness(a: Vectors, b: Vectors) -> float:
    """Cosine of two vectors of length 1, to four decimals."""
    return round(float(a @ b), 4)


def mean_of(values: Sequence[float] | Vectors) -> float:
    """Mean to four decimals, 0 for none."""
    return round(float(np.mean(values)), 4) if len(values) else 0.0


semantic_view_of: Memory[str, SemanticView] = Memory(lambda text: SemanticView(view_of(text)), size=8)
"""The vectors of a report's text."""
