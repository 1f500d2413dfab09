"""The llm author: a judge writes each chosen unit anew, code checks what it wrote.

The judge sends an answer back that its question kind refuses (`dreambench.judges.kinds.rewrite`), once by default. A unit that
still has no usable text is left alone and the next in the order takes its place, so that the dose is met; the log names it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dreambench.config.locations import bundled
from dreambench.errors import AnswerError, ConfigError, Problem
from dreambench.judges.judge import Judge
from dreambench.judges.rubric import Rubric, RubricShelf
from dreambench.perturbations.edits import Change

if TYPE_CHECKING:
    from dreambench.perturbations.perturbation import Perturbation, Source, Unit

AROUND = 1200
"""Characters of the report shown on each side of a passage."""
SLACK = 60
"""Characters by which a short passage may grow beyond its share."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def load_rubric(kind: str, shelf: RubricShelf | None) -> Rubric:
    """The rubric that tells an author how to write this kind. Raises RubricError."""
    return (shelf or RubricShelf([bundled("rubrics")])).load(f"perturbations/{kind}.default")


class Pen:
    """One perturbation's author: its judge and its rubric. Raises ConfigError without a judge."""

    def __init__(self, perturbation: Perturbation, judge: Judge | None, shelf: RubricShelf | None) -> None:
        if judge is None:
            where = f"perturbation.{perturbation.name}.author"
            raise ConfigError(Problem(where, "llm needs a judge to write with", ["embedded"], "judge=litellm"))
        self._judge = judge
        self._rubric = load_rubric(perturbation.id, shelf)
        self._seed = perturbation.seed

    async def ask(self, context: dict[str, Any]) -> str:
        """The checked text. Raises AnswerError when none came that passes, and what else the judge raises."""
        answer: Any = await self._judge.ask(self._rubric, repeat=self._seed, role="perturbing", **context)
        return str(answer.text)


async def write(
    perturbation: Perturbation, source: Source, units: Sequence[Unit], order: Sequence[int], wanted: int, pen: Pen
) -> tuple[list[tuple[int, Change]], str]:
    """Changes of `wanted` units in `order`, and a note on those that no usable text came for."""
    changes: list[tuple[int, Change]] = []
    failed: list[str] = []
    written = 0
    for number in order:
        if written == wanted:
            break
        unit = units[number]
        try:
            text = await pen.ask(context_of(perturbation, source, unit))
        except AnswerError as error:
            failed.append(f"unit {number} at {unit.start} ({error.code})")
            continue
        made = perturbation.answered(source, unit, _trimmed(source.text[unit.start : unit.end], text))
        changes += [(number, change) for change in made]
        written += 1
    return changes, f"the author gave no usable text for {', '.join(failed)}" if failed else ""


def context_of(perturbation: Perturbation, source: Source, unit: Unit) -> dict[str, Any]:
    """The context of the `rewrite` question about one unit."""
    text, check = source.text, dict(perturbation.check)
    passage = text[unit.start : unit.end]
    markers = [text[m.start : m.end] for m in source.document.markers if unit.start <= m.start and m.end <= unit.end]
    keep = check.pop("keep", "")
    kept = markers if keep in ("markers", "facts", "words") else []
    if keep == "facts":
        bare = passage
        for marker in markers:
            bare = bare.replace(marker, " ")
        kept = [*markers, *_NUMBER.findall(bare)]
    return {
        "query": source.task.query,
        "passage": passage,
        "before": text[max(0, unit.start - AROUND) : unit.start],
        "after": text[unit.end : unit.end + AROUND],
        "language": source.document.language,
        "keep": tuple(kept),
        "same_words": keep == "words",
        "least": int(check.pop("shortest", 0.5) * len(passage)),
        "most": int(check.pop("longest", 2.0) * len(passage)) + SLACK,
        **check,
        **perturbation.instruction(source, unit),
    }


def _trimmed(passage: str, text: str) -> str:
    """The answer with the white space at both ends that the passage has."""
    left = passage[: len(passage) - len(passage.lstrip())]
    right = passage[len(passage.rstrip()) :]
    return left + text.strip() + right
