"""`verifiers`: pass/fail checks of one report, one required key per check id. A partial answer is taken for what it has."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

from pydantic import Field, create_model

from dreambench.judges import kinds
from dreambench.judges.kinds import checklist


class Context(checklist.Context):
    """`items` maps ids to checks, as their authors wrote them (`unit cost = 105-110, NOT 98`)."""


class Item(checklist.Item):
    """The verdict on one check."""

    answer: Literal["pass", "fail"] = Field(
        description="pass: the report meets the check as it is written. fail: it does not, or says nothing about it."
    )


def specialise(settings: Mapping[str, Any], context: Context) -> type[checklist.PartialAnswer]:
    """The answer model for these check ids; equal ids give the same model."""
    return _for_items(tuple(context.items))


@lru_cache(maxsize=512)
def _for_items(ids: tuple[str, ...]) -> type[checklist.PartialAnswer]:
    fields: dict[str, Any] = {
        f"item_{number}": (Item | None, Field(default=None, alias=name, description=f"The verdict on check {name}."))
        for number, name in enumerate(ids)
    }
    return create_model("VerifiersAnswer", __base__=checklist.PartialAnswer, **fields)


KIND = kinds.Kind("verifiers", "pass/fail checks of one report, one required key each", Context, checklist.Answer, specialise)
