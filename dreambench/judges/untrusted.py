"""What a judge gets to read of texts from outside: the same for every backbone, before a prompt is rendered or a rule runs.

`cut`: without hidden text and without passages addressed to the judge, so that a detected passage changes nothing at all.
`show`: without hidden text only; a language model then sees visible passages, fenced like the rest (for studies of how easily
a model is led).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from dreambench.documents.hostile import read_hostile
from dreambench.judges.kinds import Context

Hostile = Literal["cut", "show"]
"""What becomes of visible passages that are addressed to the judge."""

_OUTSIDE = frozenset({"report", "first", "second", "page", "about", "title", "titles", "text", "claim"})
"""Fields of contexts, at any depth, whose strings were written by agents or come from pages."""


def cleaned(context: Context, hostile: Hostile) -> Context:
    """The context as it may be read; the same object where nothing has to go."""
    given = {name: getattr(context, name) for name in type(context).model_fields}
    made = {name: _value(value, name in _OUTSIDE, hostile) for name, value in given.items()}
    changed = {name: value for name, value in made.items() if value is not given[name]}
    return type(context).model_validate({**context.model_dump(), **changed}) if changed else context


def readable(text: str, hostile: Hostile) -> str:
    """One text from outside as it may be read."""
    return read_hostile(text, visible=hostile == "cut").text


def _value(value: Any, outside: bool, hostile: Hostile) -> Any:
    if isinstance(value, str):
        return readable(value, hostile) if outside and value else value
    if isinstance(value, Mapping):
        made: Any = {key: _value(one, outside or key in _OUTSIDE, hostile) for key, one in value.items()}
        return made if any(made[key] is not one for key, one in value.items()) else value
    if isinstance(value, list | tuple):
        parts = [_value(one, outside, hostile) for one in value]
        return parts if any(new is not old for new, old in zip(parts, value, strict=True)) else value
    fields = getattr(type(value), "model_fields", None)
    if fields:
        record = {name: getattr(value, name) for name in fields}
        made = _value(record, False, hostile)
        return made if made is not record else value
    return value
