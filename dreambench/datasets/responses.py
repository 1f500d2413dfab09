"""Stored answers of model APIs: the body alone, or in an envelope that also tells the task and the query.

Envelopes: a line of a batch result (`custom_id`, `response.body`), or a record of the user's own with `response` beside `id`
and `query` (or `prompt`, `question`, `input`). Metadata of a request (`metadata.task_id`, `metadata.query`) counts too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dreambench.datasets.dumps import first_question
from dreambench.datasets.fields import QUERY_NAMES
from dreambench.datasets.rows import Row, identifier


@dataclass(frozen=True, slots=True)
class Stored:
    """An API's answer with what its envelope tells; empty texts where it does not."""

    body: Row
    task_id: str
    query: str

    @property
    def error(self) -> str:
        """The error that came in place of an answer."""
        error = self.body.values.get("error")
        if isinstance(error, Mapping):
            return str(error.get("message") or error.get("code") or "an error without a message")
        return str(error) if error else ""


def opened(row: Row) -> Stored:
    """The answer in `row`, out of its envelope if it has one."""
    outer: Mapping[str, Any] = row.values
    body: Any = outer
    for name in ("response", "body"):
        inner = body.get(name)
        body = inner if isinstance(inner, Mapping) else body
    wrapped = body is not outer
    metadata = body.get("metadata")
    told = [outer] if wrapped else []
    told += [metadata] if isinstance(metadata, Mapping) else []
    own_id = ("custom_id", "task_id", "id") if wrapped else ("custom_id", "task_id")
    task_id = _first([outer], own_id) or _first(told, ("task_id",))
    query = _first([outer, *told], QUERY_NAMES) or _asked(outer.get("input")) or _asked(body.get("input"))
    return Stored(Row(row.path, row.line, body), task_id, query)


def _asked(value: Any) -> str:
    return value if isinstance(value, str) else first_question(value)


def _first(places: list[Mapping[str, Any]], names: tuple[str, ...]) -> str:
    """The first of the fields that is a text or a number."""
    for place in places:
        for name in names:
            value = place.get(name)
            if isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
                return identifier(value)
    return ""
