"""Answers about several things in one call: one required key per id, so that none can be lost."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, create_model

from dreambench.judges import kinds

Part = TypeVar("Part", bound=BaseModel)
A = TypeVar("A", bound="KeyedAnswer[Any]")

ItemId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
"""What providers take as a property name."""


class KeyedAnswer(kinds.Answer, Generic[Part]):
    """One `Part` per id. A kind's own answer names its part; `keyed_model` makes the model for the ids of a question."""

    model_config = ConfigDict(extra="forbid", serialize_by_alias=True)

    def by_id(self) -> dict[str, Part]:
        """The parts under their ids, in the order of the question; those that a partial answer lacks are not there."""
        given = ((info.alias or name, getattr(self, name)) for name, info in type(self).model_fields.items())
        return {name: part for name, part in given if part is not None}


@lru_cache(maxsize=1024)
def keyed_model(
    name: str, base: type[A], part: type[BaseModel], ids: tuple[str, ...], description: str, *, partial: bool = False
) -> type[A]:
    """`base` with a key per id, called `name`; the same arguments give the same model.

    `description` says what stands under a key, with `{}` for the id. Keys of a `partial` answer may be left out.
    """
    kind: Any = part | None if partial else part
    default: dict[str, Any] = {"default": None} if partial else {}
    fields: dict[str, Any] = {
        f"item_{number}": (kind, Field(alias=key, description=description.format(key), **default))
        for number, key in enumerate(ids)
    }
    return create_model(name, __base__=base, **fields)
