"""Leakage: whether a report, or the agent's trace, shows a source that its task forbids. Counted by code; nobody is asked.

One row per forbidden source: `cited` (an address or reference entry of the report is the source), `named` (its title stands
in the text), `viewed_not_cited` (the agent asked for it), `clean`, or `not_in_report` where there is no trace to tell. A
source that a search merely listed was not viewed. What an agent knows of a source without opening or naming it cannot be
seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from dreambench.datasets.dataset import Dataset
from dreambench.documents import Document
from dreambench.errors import ConfigError, Problem
from dreambench.judges.judge import Judge
from dreambench.judges.rubric import Rubric, RubricShelf
from dreambench.metrics.blocked import Blocked, read_blocked, read_traces
from dreambench.metrics.gold import covers
from dreambench.metrics.graded import not_applicable
from dreambench.metrics.metric import Metric, Subject, Variant
from dreambench.records import Evidence, Judgment, item_id

FAMILY = "source"
CITED, NAMED, VIEWED, CLEAN, UNTRACED = "cited", "named", "viewed_not_cited", "clean", "not_in_report"
LEAKS = (CITED, NAMED, VIEWED)


class Leakage(Metric):
    """Shares of forbidden sources that were cited, named or viewed."""

    id: ClassVar[str] = "leakage"
    axes: ClassVar[tuple[str, ...]] = ()
    evaluator: ClassVar[str] = "code"
    primary: ClassVar[str] = "leaked"

    def __init__(self, *, name: str, shelf: RubricShelf, blocked: str | None = None, traces: str | None = None) -> None:
        """Raises DatasetError for files that cannot be used, ConfigError without a list of forbidden sources."""
        super().__init__(name=name, shelf=shelf)
        where = f"metric.{name}"
        if blocked is None:
            what = "is required: which sources a task forbids"
            raise ConfigError(
                Problem(f"{where}.blocked", what, ["JSON lines of {id, blocked}"], f"{where}.blocked=blocked.jsonl")
            )
        self._blocked = read_blocked(Path(blocked).expanduser(), f"{where}.blocked")
        self._traces = read_traces(Path(traces).expanduser(), f"{where}.traces") if traces else None

    def identity(self) -> Mapping[str, Any]:
        traces = self._traces.sha256 if self._traces else None
        return {"metric": self.id, "version": self.version, "blocked": self._blocked.sha256, "traces": traces}

    def rubrics(self) -> Sequence[Rubric]:
        return []

    def prepare(self, dataset: Dataset) -> list[Problem]:
        return covers(self._blocked, dataset, f"metric.{self.name}.blocked", "forbidden source")

    async def measure(self, subject: Subject, judge: Judge | None, repeat: int) -> list[Judgment]:
        """One row per forbidden source of the task."""
        sources = self._blocked.of(subject.task)
        opened = self._traces.opened(subject.report) if self._traces else None
        found = [source_row(subject.task.id, subject.document, source, opened) for source in sources]
        return found or [not_applicable(subject, "nothing_forbidden")]

    def variants(self) -> Sequence[Variant]:
        label, only = pl.col("label"), pl.col("family") == FAMILY
        traced = (label != UNTRACED).sum()
        return [
            Variant(self.primary, label.is_in(LEAKS).sum(), pl.len(), micro=True, only=only),
            Variant(CITED, (label == CITED).sum(), pl.len(), micro=True, only=only),
            Variant(NAMED, (label == NAMED).sum(), pl.len(), micro=True, only=only),
            Variant(VIEWED, (label == VIEWED).sum(), traced, micro=True, only=only),
        ]


def source_row(task_id: str, document: Document, source: Blocked, opened: Sequence[str] | None) -> Judgment:
    """The state of one forbidden source; `opened` are the addresses that the agent asked for, None when unknown."""
    item = item_id(task_id, f"blocked {source.key}")
    for citation in document.citations:
        if citation.url and source.is_at(citation.url):
            start, end = citation.span.start, citation.span.end
            proof = (Evidence(citation.url),)
            return Judgment(item, FAMILY, CITED, 1.0, rationale=source.key, report_start=start, report_end=end, evidence=proof)
    for reference in document.references:
        entry, start, end = reference.span.of(document.text), reference.span.start, reference.span.end
        if any(source.is_at(url) for url in reference.urls) or source.titled_in(entry):
            return Judgment(item, FAMILY, CITED, 1.0, rationale=source.key, report_start=start, report_end=end)
    if source.titled_in(document.text) or any(url in document.text for url in source.urls):
        return Judgment(item, FAMILY, NAMED, 1.0, rationale=source.key)
    if opened is None:
        return Judgment(item, FAMILY, UNTRACED, 0.0, rationale=source.key)
    seen = next((url for url in opened if source.is_at(url)), None)
    if seen:
        return Judgment(item, FAMILY, VIEWED, 1.0, rationale=source.key, evidence=(Evidence(seen),))
    return Judgment(item, FAMILY, CLEAN, 0.0, rationale=source.key)
