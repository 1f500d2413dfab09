"""Lists of items as "reports": the criteria of a query, the questions of a protocol. One JSON list per task and origin.

This lets the material of an evaluation be judged by the engine that judges answers: cached, journaled, counted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from dreambench.judges.keyed import ItemId


class ListedItem(BaseModel):
    """One item: its first line is its heading; `weight` is its share where items are weighted, else 1."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: ItemId
    text: str
    weight: float = 1.0


_ITEMS = TypeAdapter(list[ListedItem])


def write_items(items: Sequence[ListedItem]) -> str:
    """The list as text; equal lists give equal texts."""
    return json.dumps([item.model_dump() for item in items], ensure_ascii=False, indent=1)


def read_items(text: str) -> list[ListedItem] | None:
    """The list that `write_items` wrote; None for any other text."""
    try:
        return _ITEMS.validate_json(text) or None
    except ValidationError:
        return None
