"""Length: words, sections and sentences of a report (the columns of DREAM's Table 11: mean, sd, min, max)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import polars as pl

from dreambench.judges.judge import Judge
from dreambench.metrics.metric import CodeMetric, Subject, Unit, Variant
from dreambench.records import Judgment, item_id

COUNTS = ("words", "sections", "sentences")


class Length(CodeMetric):
    """Counts over the report's body, without reference lists and wrappers; Chinese counts characters as words."""

    id: ClassVar[str] = "length"
    primary: ClassVar[str] = "words"

    async def measure(self, subject: Subject, judge: Judge | None, repeat: int) -> list[Judgment]:
        """One row per count; its `value` is the count itself."""
        document = subject.document
        counts = (document.word_count, len(document.sections), len(document.sentences))
        return [
            Judgment(item_id(subject.task.id, name), name, name, float(count))
            for name, count in zip(COUNTS, counts, strict=True)
        ]

    def variants(self) -> Sequence[Variant]:
        return [
            Variant(
                name,
                numerator=pl.col("value").sum(),
                denominator=pl.len(),
                unit=Unit.COUNT,
                only=pl.col("family") == name,
                spread=True,
            )
            for name in COUNTS
        ]
