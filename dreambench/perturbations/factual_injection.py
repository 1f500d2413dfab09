"""Factual injection: true statements made false in place; the citation stays and now supports something else.

Eligible units are the sentences and table rows with at least one number, date, known name, word of direction or denial, or
quantifier (of the sorts in `sorts`) that can be replaced. One place per sentence is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from random import Random
from typing import Any, ClassVar, Literal

from dreambench.documents import BlockKind
from dreambench.errors import ConfigError, Problem
from dreambench.judges.rubric import RubricShelf
from dreambench.perturbations.edits import Author, Change, Role
from dreambench.perturbations.facts import dates, entities, numbers, words
from dreambench.perturbations.facts.target import Target
from dreambench.perturbations.perturbation import Perturbation, Source, Unit
from dreambench.perturbations.prose import Line, View, excluded

Sort = Literal["numbers", "dates", "entities", "polarity", "quantifiers"]
FINDERS: Mapping[str, Callable[[Line, View], list[Target]]] = {
    "numbers": numbers.targets,
    "dates": dates.targets,
    "entities": entities.targets,
    "polarity": words.polarity,
    "quantifiers": words.quantifiers,
}
_WEIGHTS = {"numbers": 3, "dates": 3, "entities": 3, "polarity": 1, "quantifiers": 2}
"""Nearly every sentence has a word to deny: without weights, most edits would be denials."""
ALL_SORTS: tuple[Sort, ...] = ("numbers", "dates", "entities", "polarity", "quantifiers")


class FactualInjection(Perturbation):
    """Changes one fact in each chosen sentence: a number, a date, a name, a direction or denial, a quantifier."""

    id: ClassVar[str] = "factual_injection"
    kind: ClassVar[Role] = "flaw"
    check: ClassVar[Mapping[str, Any]] = {"keep": "markers", "shortest": 0.6, "longest": 1.6}

    def __init__(
        self,
        *,
        dose: float = 1.0,
        seed: int = 0,
        author: Author = "embedded",
        sorts: list[Sort] | None = None,
        name: str = "",
        shelf: RubricShelf | None = None,
    ) -> None:
        """`sorts` are the facts to change, all five when None. Raises ConfigError when it is empty."""
        super().__init__(dose=dose, seed=seed, author=author, name=name, shelf=shelf)
        self.sorts: tuple[Sort, ...] = tuple(ALL_SORTS if sorts is None else sorts)
        if not self.sorts:
            raise ConfigError(Problem(f"perturbation.{self.name}.sorts", "is empty", ALL_SORTS))

    def settings(self) -> Mapping[str, Any]:
        return {"sorts": list(self.sorts)}

    def units(self, source: Source) -> list[Unit]:
        found = []
        for line, targets in facts(source.view, self.sorts):
            modes = sorted(targets)
            (mode,) = source.draws.stream("mode", line.start).choices(modes, [_WEIGHTS[mode] for mode in modes])
            found.append(Unit(line.start, line.end, partial(_change, line, mode, targets[mode]), mode))
        return found


@lru_cache(maxsize=16)
def facts(view: View, sorts: tuple[str, ...] = ALL_SORTS) -> list[tuple[Line, dict[str, list[Target]]]]:
    """The sentences in which a fact can be made false, each with the places by sort."""
    rows = {line.index for line in view.lines if line.kind is BlockKind.TABLE}
    prose = {line.index for line in view.prose}
    found = []
    for line in view.lines:
        if (line.index not in prose and line.index not in rows) or _about_itself(line):
            continue
        usable = [sort for sort in sorts if line.index in prose or sort in ("numbers", "dates")]
        targets = {sort: places for sort in usable if (places := FINDERS[sort](line, view))}
        if targets:
            found.append((line, targets))
    return found


def _about_itself(line: Line) -> bool:
    return excluded(line.words) == "self_reference"


def _change(line: Line, mode: str, targets: Sequence[Target], rng: Random) -> list[Change]:
    target = rng.choice(list(targets))
    return [Change(line.start + target.start, line.start + target.end, target.write(rng), mode)]
