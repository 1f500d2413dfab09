"""Citations, counted by code alone: no page is opened and nobody is asked.

How much of a report is attributed, how many markers lead nowhere, how many listed sources are never cited, how many sites
the report rests on, how densely it links. Says nothing about whether a cited page supports its sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import polars as pl

from dreambench.documents import CitationStatus, Document, registrable_domain
from dreambench.judges.judge import Judge
from dreambench.metrics.metric import CodeMetric, Subject, Unit, Variant
from dreambench.records import Judgment, item_id

WORDS = 1000
NEVER_CITED = "never_cited"
"""An entry of the reference list that nothing cites; `uncited` is a sentence without a citation."""
_FAMILY, _LABEL, _VALUE = pl.col("family"), pl.col("label"), pl.col("value")


class Citations(CodeMetric):
    """One row per sentence, citation, list entry and cited domain, and one with the number of words."""

    id: ClassVar[str] = "citations"
    version: ClassVar[int] = 2
    primary: ClassVar[str] = "attribution"

    async def measure(self, subject: Subject, judge: Judge | None, repeat: int) -> list[Judgment]:
        """The rows described above, each with its place in the report."""
        task, document = subject.task.id, subject.document
        return [
            *_sentence_rows(task, document),
            *_citation_rows(task, document),
            *_reference_rows(task, document),
            *_domain_rows(task, document),
            Judgment(item_id(task, "words"), "words", "words", float(document.word_count)),
        ]

    def variants(self) -> Sequence[Variant]:
        report = (_FAMILY == "words").sum()
        return [
            Variant("attribution", _share("sentence", "cited"), _count("sentence"), micro=True),
            Variant("dangling", _share("citation", CitationStatus.DANGLING.value), _count("citation"), micro=True),
            Variant(NEVER_CITED, _share("reference", NEVER_CITED), _count("reference"), micro=True),
            Variant("domains", _count("domain"), report, unit=Unit.COUNT),
            Variant(
                "links_per_1000_words",
                WORDS * _share("citation", CitationStatus.RESOLVED.value),
                _VALUE.filter(_FAMILY == "words").sum(),
                unit=Unit.COUNT,
                micro=True,
            ),
        ]


def _count(family: str) -> pl.Expr:
    return (_FAMILY == family).sum()


def _share(family: str, label: str) -> pl.Expr:
    return ((_FAMILY == family) & (_LABEL == label)).sum()


def _sentence_rows(task: str, document: Document) -> list[Judgment]:
    """`cited` when a citation that resolves to a URL stands in the sentence, else `uncited`."""
    cited = {citation.sentence for citation in document.citations if citation.status is CitationStatus.RESOLVED}
    rows = []
    for index, sentence in enumerate(document.sentences):
        start, end = sentence.span.start, sentence.span.end
        item = item_id(task, document.text[start:end], start, end)
        label = "cited" if index in cited else "uncited"
        rows.append(Judgment(item, "sentence", label, float(index in cited), report_start=start, report_end=end))
    return rows


def _citation_rows(task: str, document: Document) -> list[Judgment]:
    rows = []
    for citation in document.citations:
        start, end = citation.span.start, citation.span.end
        value = float(citation.status is CitationStatus.RESOLVED)
        item = item_id(task, f"{citation.label} {citation.raw}", start, end)
        rows.append(
            Judgment(item, "citation", citation.status.value, value, rationale=citation.raw, report_start=start, report_end=end)
        )
    return rows


def _reference_rows(task: str, document: Document) -> list[Judgment]:
    cited = {citation.reference for citation in document.citations}
    rows = []
    for index, reference in enumerate(document.references):
        start, end = reference.span.start, reference.span.end
        label = "cited" if index in cited else NEVER_CITED
        item = item_id(task, document.text[start:end], start, end)
        rows.append(Judgment(item, "reference", label, float(index in cited), report_start=start, report_end=end))
    return rows


def _domain_rows(task: str, document: Document) -> list[Judgment]:
    """One row per cited registrable domain, at its first citation."""
    rows: dict[str, Judgment] = {}
    for citation in document.citations:
        domain = registrable_domain(citation.url) if citation.url else None
        if domain and domain not in rows:
            start, end = citation.span.start, citation.span.end
            rows[domain] = Judgment(item_id(task, domain), "domain", domain, 1.0, report_start=start, report_end=end)
    return list(rows.values())
