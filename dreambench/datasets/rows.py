"""One record of a file and typed access to its fields: a missing or mistyped field is reported with its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from dreambench.datasets.problems import Problems
from dreambench.errors import nearest

_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Row:
    """The record that starts at `line` of `path`."""

    path: Path
    line: int
    values: Mapping[str, Any]

    @property
    def place(self) -> str:
        """`file:line`, as findings and errors show it."""
        return f"{self.path}:{self.line}"

    def present(self, name: str) -> bool:
        """Whether the field is there, null included. A dotted name (`output.text`) looks into nested objects."""
        return self._get(name) is not _ABSENT

    def text(self, name: str, problems: Problems, key: str = "", needed: str = "") -> str | None:
        """The field as text; None (reported) when it is missing or no text.

        `key` is the config key of its name; `needed` says what a record like this one has to have.
        """
        value = self._get(name)
        if isinstance(value, str):
            return value
        if value is _ABSENT:
            present = sorted(self.values)
            near = nearest(name, present)
            fix = f"{key}={near or 'FIELD'}" if key else None
            if near:
                problems.add(self.path, self.line, f"has no field {name!r}; did you mean {near!r}?", present, fix)
            else:
                found = f"; it has {', '.join(present) or 'none'}" + (f" ({needed})" if needed else "")
                problems.add(self.path, self.line, f"has no field {name!r}", (), fix, found)
        else:
            problems.add(self.path, self.line, f"field {name!r} is {_described(value)}, text is needed")
        return None

    def identifier(self, name: str, problems: Problems, key: str = "", needed: str = "") -> str | None:
        """The field as an id: a whole number or a text that is not blank; 59, 59.0 and "59" are the same id."""
        value = self._get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return identifier(value)
        found = self.text(name, problems, key, needed)
        if found is not None and not found.strip():
            problems.add(self.path, self.line, f"field {name!r} is blank, an id is needed")
            return None
        return found.strip() if found is not None else None

    def label(self, name: str) -> str:
        """An optional text (domain, language, agent); empty when it is not there or null."""
        value = self._get(name)
        return "" if value is _ABSENT or value is None else str(value).strip()

    def day(self, name: str, problems: Problems) -> date | None:
        """An optional ISO date; a date with a time is cut to its day."""
        found = self.label(name)
        if not found:
            return None
        try:
            return date.fromisoformat(found[:10])
        except ValueError:
            problems.add(
                self.path,
                self.line,
                f"field {name!r} is {found!r}, a date is needed",
                ["a date as YYYY-MM-DD, such as 2025-06-30"],
            )
            return None

    def _get(self, name: str) -> Any:
        if name in self.values:
            return self.values[name]
        value: Any = self.values
        for part in name.split("."):
            if not isinstance(value, Mapping) or part not in value:
                return _ABSENT
            value = value[part]
        return value


def identifier(value: float | str) -> str:
    """The canonical text of an id: 59, 59.0 and " 59 " give "59"."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()


def _described(value: Any) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object", type(None): "null"}
    return names.get(type(value), f"a {type(value).__name__}")
