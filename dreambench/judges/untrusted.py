"""What a judge gets to read of texts from outside: the same for every backbone, before a prompt is rendered or a rule runs.

`cut`: without hidden text and without passages addressed to the judge, so that a detected passage changes nothing at all.
`show`: without hidden text only; a language model then sees visible passages, fenced like the rest (for studies of how easily
a model is led).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import BaseModel

from dreambench.documents.hostile import read_hostile
from dreambench.judges.kinds import Context

Hostile = Literal["cut", "show"]
"""What becomes of visible passages that are addressed to the judge."""

_NUMBERS = (int, float)
_OUTSIDE = frozenset({"report", "first", "second", "page", "about", "title", "titles", "text", "claim"})
"""Fields of contexts, at any depth, whose strings were written by agents or come from pages."""


def cleaned(context: Context, hostile: Hostile) -> Context:
    """The context as it may be read; the same object where nothing has to go."""
    changed = _changes(context, False, hostile)
    return type(context).model_validate({**context.model_dump(), **changed}) if changed else context


def readable(text: str, hostile: Hostile) -> str:
    """One text from outside as it may be read."""
    return read_hostile(text, visible=hostile == "cut").text


def _changes(fields: Iterable[tuple[str, Any]], outside: bool, hostile: Hostile) -> dict[str, Any]:
    """What has to be read otherwise of a record's fields, by name. Runs for every question: most fields are passed by."""
    changed = {}
    for name, value in fields:
        inside = not (outside or name in _OUTSIDE)
        if not value or isinstance(value, _NUMBERS) or (inside and isinstance(value, str)):
            continue
        made = _value(value, not inside, hostile)
        if made is not value:
            changed[name] = made
    return changed


def _value(value: Any, outside: bool, hostile: Hostile) -> Any:
    if isinstance(value, str):
        return readable(value, hostile) if outside and value else value
    if isinstance(value, BaseModel):
        changed = _changes(value, False, hostile)
        return {**dict(value), **changed} if changed else value
    if isinstance(value, list | tuple):
        parts = [_value(one, outside, hostile) for one in value]
        return parts if any(new is not old for new, old in zip(parts, value, strict=True)) else value
    if isinstance(value, Mapping):
        changed = _changes(value.items(), outside, hostile)
        return {**value, **changed} if changed else value
    return value
