"""`verifiers`: pass/fail checks of one report, one required key per check id. A partial answer is taken for what it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from dreambench.judges import kinds
from dreambench.judges.keyed import keyed_model
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
    said = "The verdict on check {}."
    return keyed_model("VerifiersAnswer", checklist.PartialAnswer, Item, tuple(context.items), said, partial=True)


KIND = kinds.Kind("verifiers", "pass/fail checks of one report, one required key each", Context, checklist.Answer, specialise)
