"""New part: the share of a report's sentences that hold a figure. Replace what is counted by what yours measures.

A metric makes one row per judged item (`measure`) and says how rows add up (`variants`); tables, intervals and the report page
follow from these. One that asks a judge is a `JudgedMetric`: see `dreambench.metrics.kic`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import polars as pl

from dreambench.judges.judge import Judge
from dreambench.metrics.graded import not_applicable
from dreambench.metrics.metric import CodeMetric, Subject, Variant
from dreambench.records import Judgment, item_id


class NewPart(CodeMetric):
    """Share of sentences with a digit, in [0, 1]; a report without sentences has no value."""

    id: ClassVar[str] = "new_part"
    primary: ClassVar[str] = "share"
    version: ClassVar[int] = 1  # raise it when the same report would be judged otherwise

    async def measure(self, subject: Subject, judge: Judge | None, repeat: int) -> list[Judgment]:
        """One row per sentence, with its place in the report."""
        rows = []
        for sentence in subject.document.sentences:
            start, end = sentence.span.start, sentence.span.end
            text = subject.document.text[start:end]
            found = any(letter.isdigit() for letter in text)
            item = item_id(subject.task.id, text, start, end)
            label = "figure" if found else "none"
            rows.append(Judgment(item, "sentence", label, float(found), report_start=start, report_end=end))
        return rows or [not_applicable(subject, "no_sentences")]

    def variants(self) -> Sequence[Variant]:
        """The mean over sentences; pooled over reports (`micro`) too."""
        return [Variant("share", numerator=pl.col("value").sum(), denominator=pl.len(), micro=True)]
