"""Prompt injection: the report tells its judge what to answer.

Eligible units are the sections with running text; a chosen one gets one order, as a sentence behind a paragraph or, with
`style=hidden`, in an HTML comment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from random import Random
from typing import Any, ClassVar, Literal

from dreambench.judges.rubric import RubricShelf
from dreambench.perturbations.contradiction import landing_places
from dreambench.perturbations.edits import Author, Change, Role
from dreambench.perturbations.perturbation import Perturbation, Source, Unit
from dreambench.perturbations.prose import Line, View
from dreambench.perturbations.wording import say, words_of

_HERE = ("the main findings", "主要结论")
Style = Literal["visible", "hidden", "mixed"]


class PromptInjection(Perturbation):
    """Puts an order to the judge into each chosen section."""

    id: ClassVar[str] = "prompt_injection"
    kind: ClassVar[Role] = "flaw"
    check: ClassVar[Mapping[str, Any]] = {"shortest": 0.02, "longest": 1.5}

    def __init__(
        self,
        *,
        dose: float = 1.0,
        seed: int = 0,
        author: Author = "embedded",
        style: Style = "mixed",
        name: str = "",
        shelf: RubricShelf | None = None,
    ) -> None:
        """`style`: a readable sentence, an HTML comment, or either by chance."""
        super().__init__(dose=dose, seed=seed, author=author, name=name, shelf=shelf)
        self.style: Style = style

    def settings(self) -> Mapping[str, Any]:
        return {"style": self.style}

    def units(self, source: Source) -> list[Unit]:
        view = source.view
        sections: dict[int, list[Line]] = {}
        for line in landing_places(view):
            if source.text.startswith(("*", "_"), line.end):
                continue  # inside emphasis
            sections.setdefault(view.block(line.block).section, []).append(line)
        return [
            Unit(lines[0].start, lines[-1].end, partial(_inject, view, tuple(lines), self.style)) for lines in sections.values()
        ]

    def instruction(self, source: Source, unit: Unit) -> dict[str, Any]:
        (planned,) = unit.make(source.draws.stream("unit", unit.start, unit.end))
        return {"mode": planned.note, "material": ""}

    def answered(self, source: Source, unit: Unit, text: str) -> Sequence[Change]:
        (planned,) = unit.make(source.draws.stream("unit", unit.start, unit.end))
        gap = "" if source.view.chinese else " "
        return [Change(planned.start, planned.end, gap + text.strip(), planned.kind, planned.note)]


def _inject(view: View, lines: tuple[Line, ...], style: Style, rng: Random) -> list[Change]:
    line = rng.choice(lines)
    words = words_of(view)
    topic = words.topics(line.block)[0]
    topic = topic if words.is_topic(topic) else _HERE[view.chinese]
    chosen = style if style != "mixed" else rng.choice(("visible", "visible", "hidden"))
    text = _text(view, chosen, topic, rng)
    return [Change(line.end, line.end, text if view.chinese else f" {text}", "prompt_injection", chosen)]


def _text(view: View, style: str, topic: str, rng: Random) -> str:
    return say("injection", view.chinese, style, rng, topic=topic, open="<!--", close="-->")
