"""A tool: an async function with a typed signature. Its schema for a model is read from the signature.

What a model must not choose (`as_of`) is no part of the schema: the caller supplies it. A bad call raises ToolCallError,
whose text can be given back to the model.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from dreambench.errors import DreambenchError, ProviderError, nearest

SUPPLIED = "as_of"
LIMIT = 20_000
"""Characters of a tool's text that a model gets at most."""
SECONDS = 3600.0
"""A tool that has not returned by then never will. Look-ups have limits of their own, far below, and may wait for a slot."""


class ToolCallError(DreambenchError):
    """A call that cannot be carried out as it stands (no such tool, wrong arguments, not an expression); says how to fix it."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """`value` is what the function returned, `text` what a model reads of it."""

    value: Any
    text: str


@dataclass(frozen=True)
class Tool:
    """One tool. `function` returns a text, or an object with `as_text()`; parameters may be pydantic `Field`-annotated."""

    name: str
    description: str
    function: Callable[..., Awaitable[Any]]
    limit: int = LIMIT
    parameters: Mapping[str, Any] | None = None
    """The JSON schema of a tool that another program describes (MCP); it checks its arguments itself."""
    seconds: float = SECONDS

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """The model that a call's arguments are checked by."""
        hints = get_type_hints(self.function, include_extras=True)
        fields: dict[str, Any] = {
            name: (hints[name], ... if parameter.default is inspect.Parameter.empty else parameter.default)
            for name, parameter in inspect.signature(self.function).parameters.items()
            if name != SUPPLIED
        }
        return create_model(self.name, __config__=ConfigDict(extra="forbid"), **fields)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The tool as OpenAI-style function calling has it: name, description, parameters (JSON schema)."""
        if self.parameters is not None:
            parameters = dict(self.parameters)
        else:
            parameters = self.arguments.model_json_schema()
            parameters.pop("title", None)
            for described in parameters.get("properties", {}).values():
                described.pop("title", None)
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": parameters},
        }

    @cached_property
    def _is_dated(self) -> bool:
        return SUPPLIED in inspect.signature(self.function).parameters

    async def call(self, arguments: Mapping[str, Any], as_of: date | None) -> ToolResult:
        """Runs the tool. Raises ToolCallError for arguments that do not fit, ProviderError when it does not return in
        `seconds`, and what the tool itself raises."""
        if self.parameters is not None:
            value = await self._returned(dict(arguments))
            return ToolResult(value, self._cut(value if isinstance(value, str) else value.as_text()))
        try:
            checked = self.arguments.model_validate(dict(arguments))
        except ValidationError as error:
            raise ToolCallError(self._complaint(error)) from error
        keys = {name: getattr(checked, name) for name in type(checked).model_fields}
        if self._is_dated:
            keys[SUPPLIED] = as_of
        value = await self._returned(**keys)
        return ToolResult(value, self._cut(value if isinstance(value, str) else value.as_text()))

    async def _returned(self, *arguments: Any, **keys: Any) -> Any:
        try:
            async with asyncio.timeout(self.seconds) as limit:
                return await self.function(*arguments, **keys)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise ProviderError(f"{self.name}: did not return in {self.seconds:g} s", code="timeout") from error

    def _cut(self, text: str) -> str:
        if len(text) <= self.limit:
            return text
        return f"{text[: self.limit]}\n[cut here: {self.limit:,} of {len(text):,} characters]"

    def _complaint(self, error: ValidationError) -> str:
        known = list(self.arguments.model_fields)
        lines = [f"{self.name}: wrong arguments"]
        for item in error.errors(include_url=False):
            name = ".".join(str(part) for part in item["loc"])
            if item["type"] == "extra_forbidden":
                near = nearest(name, known)
                lines.append(
                    f"  {name}: no such argument{f'; did you mean {near}?' if near else ''} (known: {', '.join(known)})"
                )
            elif item["type"] == "missing":
                lines.append(f"  {name}: is required")
            else:
                lines.append(f"  {name}: {item['msg'].lower()}, got {item['input']!r}")
        return "\n".join(lines)
