"""Question kinds: what can be asked of a judge, each with the context it needs and the answer it must give.

A kind is one module of this package, named like the kind, that defines `KIND`. It owns its response model; a rubric only
words the question. Adding a kind is adding a module; nothing else is edited.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, PrivateAttr

from dreambench.errors import Problem, RubricError, nearest


class Context(BaseModel):
    """What a question is about: plain JSON-able data, given equally to the template and to the embedded judge."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Answer(BaseModel):
    """A typed answer. Field descriptions are instructions to the model; validators' messages are what it is re-asked with."""

    _cost: float | None = PrivateAttr(default=None)

    @property
    def cost(self) -> float | None:
        """US dollars that this answer cost when it was bought; None when the price is unknown."""
        return self._cost

    def with_cost(self, cost: float | None) -> Answer:
        """The same answer with its price noted."""
        self._cost = cost
        return self


@dataclass(frozen=True, slots=True)
class Reading:
    """The pydantic validation context of an answer: what was asked about, and whether a wrong quote is an error.

    A judge that can be asked again reads strictly until its last turn; what is then still wrong is marked by the metric.
    """

    context: Context
    strict: bool = True


@dataclass(frozen=True, slots=True)
class Kind:
    """A question kind. `specialise` narrows the answer model to a rubric's settings and a context (ids, labels, scale)."""

    name: str
    purpose: str
    context: type[Context]
    answer: type[Answer]
    specialise: Callable[[Mapping[str, Any], Any], type[Answer]] | None = None

    def answer_model(self, settings: Mapping[str, Any], context: Context) -> type[Answer]:
        """The pydantic model that an answer to this very question must satisfy."""
        return self.specialise(settings, context) if self.specialise else self.answer


def kind_names() -> list[str]:
    """The names of all kinds, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


@cache
def load_kind(name: str) -> Kind:
    """The kind called `name`. Raises RubricError naming the nearest kind when there is none."""
    if name not in kind_names():
        raise RubricError(
            Problem(f"kind: {name}", f"no such question kind; did you mean {nearest(name, kind_names())}?", kind_names())
        )
    kind: Kind = importlib.import_module(f"{__name__}.{name}").KIND
    return kind
