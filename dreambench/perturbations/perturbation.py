"""`Perturbation`: what every kind has in common.

A kind says which units of a report it could change and how it would change each; dose, order, log and authorship are here.
A unit's change never depends on which other units are chosen (kinds that must see the whole choice override `changes`), and
a growing dose takes units in one fixed order, so the units of a smaller dose are among those of a larger one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar

from dreambench.documents import Document
from dreambench.engine.call import canonical_json
from dreambench.errors import ConfigError, Problem
from dreambench.judges.judge import Judge
from dreambench.judges.rubric import RubricShelf
from dreambench.perturbations.draws import Draws, units_at
from dreambench.perturbations.edits import Author, Change, EditLog, Perturbed, Role, make_edits
from dreambench.perturbations.prose import View, view
from dreambench.records import Report, Task
from dreambench.tools.corpus import Corpus

if TYPE_CHECKING:
    from dreambench.perturbations.authors import Pen

VERSION = 2
"""Changes whenever an embedded author writes another text for the same input; part of every identity."""

Make = Callable[[Random], Sequence[Change]]


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing that can be changed: where it stands, and how the embedded author changes it."""

    start: int
    end: int
    make: Make
    mode: str = ""
    options: tuple[str, ...] = ()
    """Where an llm author has to choose: what it may choose from."""


@dataclass(frozen=True)
class Source:
    """What a perturbation works on."""

    task: Task
    report: Report
    document: Document
    corpus: Corpus | None
    draws: Draws

    @property
    def view(self) -> View:
        """The report's prose, cut for editing."""
        return view(self.document)

    @property
    def text(self) -> str:
        """The report as it is."""
        return self.document.text


class Perturbation(ABC):
    """One arm: a kind at one dose with one seed, written by rules (`embedded`) or by a judge as author (`llm`)."""

    id: ClassVar[str]
    kind: ClassVar[Role]
    axes: ClassVar[tuple[str, ...]] = ("dose", "seed")
    check: ClassVar[Mapping[str, Any]] = {}
    """Settings of the `rewrite` question: what the llm author must keep; see `dreambench.judges.kinds.rewrite`."""

    def __init__(
        self,
        *,
        dose: float = 1.0,
        seed: int = 0,
        author: Author = "embedded",
        name: str = "",
        shelf: RubricShelf | None = None,
    ) -> None:
        """Raises ConfigError for a dose outside [0, 1] or a negative seed."""
        self.dose = dose
        self.seed = seed
        self.author: Author = author
        self.name = name or self.id
        self._shelf = shelf
        where = f"perturbation.{self.name}"
        problems = [] if 0 <= dose <= 1 else [Problem(f"{where}.dose", f"{dose:g} is out of range", ["0 to 1"])]
        problems += [] if seed >= 0 else [Problem(f"{where}.seed", f"{seed} is negative", ["0, 1, 2, ..."])]
        if problems:
            raise ConfigError(*problems)

    def settings(self) -> Mapping[str, Any]:
        """The kind's own keys, JSON-able."""
        return {}

    def identity(self) -> Mapping[str, Any]:
        """All that can change the text, except the author's judge, whose own identity stands beside it."""
        from dreambench.perturbations.authors import load_rubric

        rubric = load_rubric(self.id, self._shelf).sha256 if self.author == "llm" else ""
        known = {"perturbation": self.id, "version": VERSION, "dose": self.dose, "seed": self.seed, "author": self.author}
        return {**known, **({"rubric": rubric} if rubric else {}), **self.settings()}

    @abstractmethod
    def units(self, source: Source) -> list[Unit]:
        """The eligible units, in text order."""

    def changes(self, source: Source, units: Sequence[Unit], chosen: Sequence[int]) -> list[tuple[int, Change]]:
        """What the embedded author does to the chosen units (sorted)."""
        made = []
        for number in chosen:
            unit = units[number]
            made += [(number, change) for change in unit.make(source.draws.stream("unit", unit.start, unit.end))]
        return made

    def instruction(self, source: Source, unit: Unit) -> dict[str, Any]:
        """What the llm author is told about a unit beside the passage: `mode`, and `material` to work with."""
        return {"mode": unit.mode, "material": ""}

    def answered(self, source: Source, unit: Unit, text: str) -> Sequence[Change]:
        """The changes that put an llm author's `text` in the place of the unit."""
        return [Change(unit.start, unit.end, text, unit.mode or self.id)]

    async def written(
        self, source: Source, units: Sequence[Unit], order: Sequence[int], wanted: int, pen: Pen
    ) -> tuple[list[tuple[int, Change]], str]:
        """What the llm author does: the changes of `wanted` units, taken in `order`, and a note for the log."""
        from dreambench.perturbations.authors import write

        return await write(self, source, units, order, wanted, pen)

    async def apply(
        self, task: Task, report: Report, document: Document, corpus: Corpus | None = None, judge: Judge | None = None
    ) -> Perturbed:
        """The changed report and its log. Raises ConfigError when the llm author has no judge to write with."""
        source = Source(task, report, document, corpus, Draws(self.seed, self.id, report.id))
        units = self._units(source)
        order = source.draws.order(len(units))
        wanted = self.wanted(len(units))
        note = "" if units else self.nothing(source)
        if self.author == "llm" and wanted:
            from dreambench.perturbations.authors import Pen

            changes, note = await self.written(source, units, order, wanted, Pen(self, judge, self._shelf))
        else:
            changes = self.changes(source, units, sorted(order[:wanted])) if wanted else []
        text, edits = make_edits(document.text, changes)
        changed = len({edit.unit for edit in edits})
        log = EditLog(
            self.id, self.kind, self.dose, changed / len(units) if units else 0.0, self.seed, self.author,
            len(units), changed, edits, note,
        )  # fmt: skip
        return Perturbed(replace(report, text=text) if edits else report, log)

    def _units(self, source: Source) -> list[Unit]:
        """`units`, worked out once for all doses of a report; what is kept dies with the document's view."""
        key = (
            self.id,
            canonical_json(dict(self.settings())),
            self.seed,
            source.report.id,
            source.task.as_of,
            id(source.corpus),
        )
        if key not in source.view.memo:
            source.view.memo[key] = (self.units(source), source.corpus)
        found: list[Unit] = source.view.memo[key][0]
        return found

    def wanted(self, eligible: int) -> int:
        """How many of the eligible units are changed: the dose, to the nearest whole unit."""
        return units_at(self.dose, eligible)

    def nothing(self, source: Source) -> str:
        """Said in the log of a report without an eligible unit."""
        return f"nothing in this report can be changed by {self.id}"
