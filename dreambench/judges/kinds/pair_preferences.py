"""`pair_preferences`: which of two reports is better on every criterion, and by how much; one required key per criterion id.

A side has to be named even where the reports are equally good (the gap is then 0).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from dreambench.judges import kinds
from dreambench.judges.kinds.race_scores import Context

WIDEST = 5
"""The largest gap."""


class Preference(BaseModel):
    """The better report on one criterion; the reason comes first, so that the choice follows from it."""

    model_config = ConfigDict(extra="forbid")

    reason: str = Field(min_length=1, description="One or two sentences: what in the two reports decides.")
    preferred: Literal["first", "second"] = Field(description="The better report; name one even if they are equally good.")
    gap: int = Field(ge=0, le=WIDEST, description="How much better it is, 0 (equally good) to 5 (as far apart as can be).")


class Answer(kinds.Answer):
    """One `Preference` per criterion id; see `by_id`."""

    model_config = ConfigDict(extra="forbid", serialize_by_alias=True)

    def by_id(self) -> dict[str, Preference]:
        """The preferences under the ids of the criteria, in their order."""
        return {info.alias or name: getattr(self, name) for name, info in type(self).model_fields.items()}


def specialise(settings: Mapping[str, Any], context: Context) -> type[Answer]:
    """The answer model for these criteria; equal ids give the same model."""
    return _for_criteria(tuple(criterion.id for criterion in context.criteria))


@lru_cache(maxsize=512)
def _for_criteria(ids: tuple[str, ...]) -> type[Answer]:
    fields: dict[str, Any] = {
        f"criterion_{number}": (Preference, Field(alias=name, description=f"The preference on criterion {name}."))
        for number, name in enumerate(ids)
    }
    return create_model("PairPreferencesAnswer", __base__=Answer, **fields)


KIND = kinds.Kind(
    "pair_preferences", "which of two reports is better on every criterion, and by how much", Context, Answer, specialise
)
