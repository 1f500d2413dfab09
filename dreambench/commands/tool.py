"""`python -m dreambench tool NAME VALUE [--ARGUMENT VALUE ...] [--json] [OVERRIDE ...]`: what a judge would see.

`VALUE` is the tool's first argument (the query, the address, the expression); `as_of=2025-01-01`, `tools=corpus`,
`tools.path=...` and the like are ordinary overrides. Answers are cached as in a run.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from dreambench.commands.exits import Exit
from dreambench.commands.help import verb_wants_help
from dreambench.commands.verbs import configure, open_gateway, print_json, say
from dreambench.config.schema import RunConfig
from dreambench.errors import ConfigError, InputError, Problem
from dreambench.tools.tool import ToolCallError, ToolResult
from dreambench.tools.toolset import NoTools

USAGE = 'python -m dreambench tool web_search "QUERY" tools=corpus tools.path=PAGES as_of=2025-01-01'


@dataclass(frozen=True, slots=True)
class Line:
    """A taken-apart command line."""

    name: str
    value: str | None
    arguments: dict[str, str]
    overrides: list[str]
    as_json: bool


def tool(arguments: Sequence[str]) -> int:
    """Runs one tool and prints what it gives; without a name, lists the tools. Raises InputError and what the tool raises."""
    if verb_wants_help(arguments):
        say((__doc__ or "").strip())
        return Exit.DONE
    line = _take_apart(arguments)
    return asyncio.run(_run(line, configure(line.overrides)))


def _take_apart(arguments: Sequence[str]) -> Line:
    words = list(arguments)
    name = words.pop(0) if words and _is_word(words[0]) else ""
    value = words.pop(0) if name and words and not words[0].startswith("--") else None
    named: dict[str, str] = {}
    overrides: list[str] = []
    as_json = False
    while words:
        word = words.pop(0)
        if word == "--json":
            as_json = True
        elif word.startswith("--config-dir"):
            overrides += [word] if "=" in word else [word, *words[:1]]
            words = words if "=" in word else words[1:]
        elif word.startswith("--"):
            key, equals, text = word[2:].partition("=")
            if not equals and not words:
                raise ConfigError(Problem(word, "has no value", type=f"{word}=VALUE"))
            named[key] = text if equals else words.pop(0)
        else:
            overrides.append(word)
    return Line(name, value, named, overrides, as_json)


def _is_word(word: str) -> bool:
    return word.isidentifier()


async def _run(line: Line, config: RunConfig) -> int:
    from dreambench.config.nodes import build
    from dreambench.runs.assembly import build_tools

    with open_gateway(config) as gateway:
        tools = build_tools(config, gateway, build("dataset", config.dataset))
        if line.name and (problems := tools.needs()):
            raise InputError(*problems)
        try:
            if not tools.needs():
                await tools.open()
            if not line.name:
                return _list(tools)
            result = await _call(line, tools, config.run_date)
        except ToolCallError as error:
            raise InputError(Problem(line.name, str(error).removeprefix(f"{line.name}: "))) from error
        finally:
            await tools.close()
    _show(result, line.as_json)
    return Exit.DONE


async def _call(line: Line, tools: NoTools, as_of: date | None) -> ToolResult:
    arguments: dict[str, Any] = dict(line.arguments)
    if line.value is not None and line.name in tools.tools:
        properties = tools.tools[line.name].schema["function"]["parameters"].get("properties", {})
        first = next((key for key in properties if key not in arguments), None)
        if first is None:
            raise ToolCallError(f"{line.name} takes no argument, got {line.value!r}")
        arguments[first] = line.value
    return await tools.call(line.name, arguments, as_of)


def _list(tools: NoTools) -> int:
    from rich.console import Console

    console = Console(highlight=False)
    if not tools.tools:
        console.print(f"the tool set {tools.name!r} has no tools; give one: tools=corpus tools.path=PAGES", markup=False)
    for tool in tools.tools.values():
        console.print(f"{tool.name:<16} {tool.description}", markup=False, soft_wrap=True)
    console.print(f"usage: {USAGE}", markup=False, soft_wrap=True)
    return Exit.DONE


def _show(result: ToolResult, as_json: bool) -> None:
    if as_json:
        print_json(_plain(result.value))
        return
    from rich.console import Console

    console = Console(highlight=sys.stdout.isatty())
    console.print(result.text, markup=False, soft_wrap=not sys.stdout.isatty())


def _plain(value: Any) -> Any:
    """A result as JSON has it."""
    from pydantic import TypeAdapter

    inner = getattr(value, "visit", value)
    return TypeAdapter(Any).dump_python(inner, mode="json")
