"""The llm author: a judge writes each chosen unit anew, code checks what it wrote.

The judge sends an answer back once that its question kind refuses (`dreambench.judges.kinds.rewrite`). A unit that still has
no usable text is left alone and the next in the order takes its place, so that the dose is met; the log names it.
"""

from __future__ import annotations

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


def load_rubric(kind: str, shelf: RubricShelf | None) -> Rubric:
    """The rubric that tells an author how to write this kind. Raises RubricError."""
    return (shelf or RubricShelf([bundled("rubrics")])).load(f"perturbations/{kind}.default")


async def write(
    perturbation: Perturbation,
    source: Source,
    units: Sequence[Unit],
    order: Sequence[int],
    wanted: int,
    judge: Judge | None,
    shelf: RubricShelf | None,
) -> tuple[list[tuple[int, Change]], str]:
    """Changes of `wanted` units in `order`, and a note on those that no usable text came for.

    Raises ConfigError without a judge, and what the judge raises apart from unusable answers.
    """
    if judge is None:
        where = f"perturbation.{perturbation.name}.author"
        raise ConfigError(Problem(where, "llm needs a judge to write with", ["embedded"], "judge=litellm"))
    rubric = load_rubric(perturbation.id, shelf)
    changes: list[tuple[int, Change]] = []
    failed: list[str] = []
    written = 0
    for number in order:
        if written == wanted:
            break
        unit = units[number]
        try:
            answer: Any = await judge.ask(
                rubric, repeat=perturbation.seed, role="perturbing", **_context(perturbation, source, unit)
            )
        except AnswerError as error:
            failed.append(f"unit {number} at {unit.start} ({error.code})")
            continue
        made = perturbation.answered(source, unit, _trimmed(source.text[unit.start : unit.end], answer.text))
        changes += [(number, change) for change in made]
        written += 1
    note = f"the author gave no usable text for {', '.join(failed)}" if failed else ""
    return changes, note


def _context(perturbation: Perturbation, source: Source, unit: Unit) -> dict[str, Any]:
    text = source.text
    settings = dict(perturbation.check)
    keep: tuple[str, ...] = ()
    if settings.pop("keep", "") == "markers":
        keep = tuple(text[m.start : m.end] for m in source.document.markers if unit.start <= m.start and m.end <= unit.end)
    return {
        "query": source.task.query,
        "passage": text[unit.start : unit.end],
        "before": text[max(0, unit.start - AROUND) : unit.start],
        "after": text[unit.end : unit.end + AROUND],
        "language": source.document.language,
        "keep": keep,
        **settings,
        **perturbation.instruction(source, unit),
    }


def _trimmed(passage: str, text: str) -> str:
    """The answer with the white space at both ends that the passage has."""
    left = passage[: len(passage) - len(passage.lstrip())]
    right = passage[len(passage.rstrip()) :]
    return left + text.strip() + right
