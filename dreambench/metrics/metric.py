"""The interface of every metric: `measure` makes judgments of one report, `variants` say how they add up.

A metric holds no state about what it judged. Its scores are aggregations of the item table and nothing else, so anyone
can recompute them (see `aggregation`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar

import polars as pl

from dreambench.datasets.dataset import Dataset
from dreambench.documents import Document, parse_document
from dreambench.errors import Problem
from dreambench.judges.judge import Judge
from dreambench.judges.rubric import Rubric, RubricShelf
from dreambench.protocols.source import NoProtocols
from dreambench.records import Judgment, Report, Task
from dreambench.tools.toolset import NoTools


class MissingPolicy(StrEnum):
    """What an item without a usable judgment does to its report.

    `exclude`: the item stays out of numerator and denominator and is counted; where a variant needs every item
    (`Variant.complete`), its report has no value. `zero`: the item counts as 0. `fail`: no score is shown at all.
    """

    EXCLUDE = "exclude"
    ZERO = "zero"
    FAIL = "fail"


class Unit(StrEnum):
    """How a variant's values read: a `share` in [0, 1], shown x100; a `signed` share, which penalties can take below 0, shown
    x100 too; or a `count` (words, domains), shown as it is."""

    SHARE = "share"
    SIGNED = "signed"
    COUNT = "count"


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to score a report: numerator / denominator over its scored items, both polars aggregations.

    `primary` is the variant that tables lead with. An empty denominator gives no value (not applicable), never 0.
    `micro` says whether pooling numerators and denominators over reports means something. `only` narrows the items.
    """

    name: str
    numerator: pl.Expr
    denominator: pl.Expr
    unit: Unit = Unit.SHARE
    micro: bool = False
    only: pl.Expr | None = None
    complete: bool = False
    """Whether a report that lacks one item has no value, because the others' weights would mean something else."""
    spread: bool = False
    """Whether sd, min and max over reports are shown as well (lengths)."""
    harmonic_of: tuple[str, ...] = ()
    """Two variants of the metric: the data set's value is the harmonic mean of their means over tasks, not a mean of values."""


@dataclass(frozen=True)
class Subject:
    """What a metric reads: one report to one task."""

    task: Task
    report: Report

    @cached_property
    def document(self) -> Document:
        """The text's structure, taken apart when it is first asked for (milliseconds)."""
        return parse_document(self.report.text)

    @property
    def is_parsed(self) -> bool:
        """Whether the structure is there already."""
        return "document" in vars(self)

    @property
    def as_of(self) -> str | None:
        """The task's date as questions show it (ISO); None where it has none."""
        return self.task.as_of.isoformat() if self.task.as_of else None


class Metric(ABC):
    """One metric under the name of its config node."""

    id: ClassVar[str]
    """The metric's id in every table; the node's name may differ."""
    axes: ClassVar[tuple[str, ...]] = ("rubric",)
    """Keys that take a list, one node per value."""
    evaluator: ClassVar[str] = "llm"
    """Who executes it: `llm`, `agent`, `workflow` or `code`."""
    reads_document: ClassVar[bool] = True
    """Whether `measure` looks at the report's structure: it is then taken apart before, beside the event loop. One that only
    puts the whole text to a judge says False."""
    version: ClassVar[int] = 1
    """Raised when the same inputs would give other judgments."""
    primary: ClassVar[str]
    """Name of the variant that tables lead with."""

    def __init__(self, *, name: str, shelf: RubricShelf, missing_policy: MissingPolicy = MissingPolicy.EXCLUDE) -> None:
        self.name = name
        self.shelf = shelf
        self.missing_policy = MissingPolicy(missing_policy)
        self.tools: NoTools | None = None
        self.protocols: NoProtocols | None = None
        self.repeats = 1

    @property
    def rubric_variant(self) -> str:
        """The rubric variant that this node asks with; empty for metrics that ask nothing."""
        return ""

    @abstractmethod
    def identity(self) -> Mapping[str, Any]:
        """All that can change a judgment or a score: JSON-able, rubric hashes included."""

    @abstractmethod
    def rubrics(self) -> Sequence[Rubric]:
        """Every rubric that `measure` may ask; judges are checked against them before the run."""

    def prepare(self, dataset: Dataset) -> list[Problem]:
        """A look at what will be measured, before anything is spent: takes what the metric needs, says what is missing."""
        return []

    @abstractmethod
    async def measure(self, subject: Subject, judge: Judge | None, repeat: int) -> list[Judgment]:
        """The judgments of one report. `judge` is None for metrics whose evaluator is `code`."""

    @abstractmethod
    def variants(self) -> Sequence[Variant]:
        """The primary variant first."""

    @property
    def asks(self) -> bool:
        """Whether a judge takes part."""
        return self.evaluator != "code"


class CodeMetric(Metric):
    """A metric that code counts: asks nobody, has no rubrics and no keys."""

    evaluator: ClassVar[str] = "code"

    def __init__(self, *, name: str, shelf: RubricShelf) -> None:
        super().__init__(name=name, shelf=shelf)

    def identity(self) -> Mapping[str, Any]:
        return {"metric": self.id, "version": self.version}

    def rubrics(self) -> Sequence[Rubric]:
        return []
