"""The reference of the site, made from the code while the site is built: Python names, options with their keys, verbs.

A hook of mkdocs (`hooks` in mkdocs.yml): `pages` has everything as markdown, `on_files` hands it over. Nothing of it is
written by hand, so it cannot be out of date; `make site` and the tests build it.
"""

from __future__ import annotations

import inspect
import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import yaml
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from dreambench.commands.help import USAGE
from dreambench.commands.ls import purposes
from dreambench.commands.main import VERBS, main_code
from dreambench.config.explain import MULTI_SELECT
from dreambench.config.locations import bundled
from dreambench.config.nodes import COMMON, _signature_model, target_class
from dreambench.config.schema import RunConfig

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

FOLDER = "reference"
PYTHON: Mapping[str, tuple[str, Sequence[str]]] = {
    "evaluate": ("Scoring from Python", ("dreambench.api", "dreambench.pytest_plugin")),
    "records": ("Records and errors", ("dreambench.records", "dreambench.errors")),
    "metrics": (
        "Metrics",
        (
            "dreambench.metrics.metric",
            "dreambench.metrics.judged_metric",
            "dreambench.metrics.rubric_metric",
            "dreambench.metrics.workflow_metric",
            "dreambench.metrics.aggregation",
        ),
    ),
    "judges": ("Judges and questions", ("dreambench.judges.judge", "dreambench.judges.rubric", "dreambench.judges.kinds")),
    "tools": ("Tools", ("dreambench.tools.tool", "dreambench.tools.toolset", "dreambench.tools.api")),
    "perturbations": ("Perturbations", ("dreambench.perturbations.perturbation", "dreambench.perturbations.edits")),
    "datasets": ("Data sets", ("dreambench.datasets.dataset", "dreambench.datasets.loader", "dreambench.datasets.material")),
    "documents": ("Documents", ("dreambench.documents",)),
    "stats": ("Statistics", ("dreambench.stats",)),
    "studies": (
        "Runs and studies",
        ("dreambench.reporting.finished", "dreambench.studies.outputs", "dreambench.labelling.labels"),
    ),
}
"""What may be imported, by page: its title and its modules. All else may change between versions."""
WIDTH = "100"
"""Columns of the verbs' help."""
OVERRIDES = """`python -m dreambench GROUP=OPTION GROUP.KEY=VALUE`; for `judge`, `metric` and `perturbation`
`GROUP.OPTION.KEY=VALUE`. The same in a terminal: `ls`, `show GROUP/OPTION`."""
WHOLE = "# @package _global_"
"""An option that changes more than its own group: its file says it best."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by mkdocs: adds the pages that are made."""
    from mkdocs.structure.files import File

    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def pages() -> dict[str, str]:
    """Every page of the reference as markdown, by its path in the site."""
    groups = purposes()
    made = {f"python/{name}.md": python_page(title, modules) for name, (title, modules) in PYTHON.items()}
    made |= {f"options/{group}.md": group_page(group, options) for group, options in groups.items()}
    made |= {"options/README.md": options_page(groups), "commands.md": commands_page()}
    return {f"{FOLDER}/{path}": text for path, text in made.items()}


def python_page(title: str, modules: Sequence[str]) -> str:
    """A heading, and for each module its public names: mkdocstrings reads their docstrings."""
    parts = [f"# {title}\n"]
    for module in modules:
        names = "".join(f"\n        - {name}" for name in public_names(module))
        parts.append(f"::: {module}\n    options:\n      members:{names}\n")
    return "\n".join(parts)


def public_names(module: str) -> list[str]:
    """The classes and functions that a module offers: those of `__all__`, else those that it defines, in their order."""
    found = import_module(module)
    if named := getattr(found, "__all__", None):
        return [name for name in named if inspect.isclass(value := getattr(found, name)) or inspect.isfunction(value)]
    own = {name: value for name, value in vars(found).items() if getattr(value, "__module__", "") == module and name[0] != "_"}
    return [name for name, value in own.items() if inspect.isclass(value) or inspect.isroutine(inspect.unwrap(value))]


def commands_page() -> str:
    """The help of the command and of each verb, as a terminal shows it."""
    parts = ["# The verbs' help\n", "What they do in words, with examples: [commands](../commands.md).\n", fenced(USAGE)]
    for verb in VERBS:
        shown = io.StringIO()
        with patch.dict(os.environ, COLUMNS=WIDTH), redirect_stdout(shown):
            main_code([verb, "--help"])
        parts.append(f"## {verb}\n\n{fenced(shown.getvalue())}")
    return "\n".join(parts)


def options_page(groups: Mapping[str, Mapping[str, str]]) -> str:
    """The groups, and the keys of the run that belong to none."""
    lines = ["# Options and keys", "", OVERRIDES, "", "| group | options |", "|---|---|"]
    for group, options in groups.items():
        named = " ".join(f"[`{name}`]({group}.md#{name})" for name in options)
        lines.append(f"| [`{'+' * (group == 'experiment')}{group}`]({group}.md) | {named} |")
    text = (bundled("conf") / "config.yaml").read_text(encoding="utf-8")
    own = {key: value for key, value in yaml.safe_load(text).items() if key in RunConfig.model_fields}
    lines += ["", "## Keys of the run", "", *keys_table(RunConfig, own, comments(text))]
    return "\n".join(lines) + "\n"


def group_page(group: str, options: Mapping[str, str]) -> str:
    """The options of a group, each with what it is for and its keys."""
    lines = [f"# {group}", "", "| option | what it is for |", "|---|---|"]
    lines += [f"| [`{name}`](#{name}) | {cell(text)} |" for name, text in options.items()]
    if group in COMMON:
        fields = ((name, default, said(schema_of(kind))) for name, (kind, default) in COMMON[group].items())
        lines += ["", f"Keys of every {group}, beside its own:", "", *HEAD]
        lines += [row(Key(name, default, allowed, "")) for name, default, allowed in fields]
    if group in MULTI_SELECT:
        lines += ["", f"A key that is an axis takes a list as well: one {group} per value, side by side."]
    for name in options:
        lines += ["", f"## {name}", "", *option_section(group, name)]
    return "\n".join(lines) + "\n"


def option_section(group: str, name: str) -> Iterator[str]:
    """What an option's file says of itself, and its keys; the file as it is where it changes other groups too."""
    text, content, notes = read_option(group, name)
    yield introduction(text)
    yield ""
    if text.startswith(WHOLE) or group == "debug":
        yield fenced(re.sub(r"\A(#.*\n)+", "", text).strip() + "\n", "yaml")
        return
    model, axes = option_model(group, name, content)
    yield from keys_table(model, {key: value for key, value in content.items() if key != "_target_"}, notes, axes)


def read_option(group: str, name: str) -> tuple[str, dict[str, Any], dict[str, str]]:
    """An option's file, its keys with those of the options that it builds on, and what is said of each key."""
    text = (bundled("conf") / group / f"{name}.yaml").read_text(encoding="utf-8")
    own = yaml.safe_load(text) or {}
    content: dict[str, Any] = {}
    notes: dict[str, str] = {}
    for base in own.pop("defaults", []):
        if isinstance(base, str) and base != "_self_" and not text.startswith(WHOLE):
            _, inherited, said_there = read_option(group, base)
            content, notes = {**content, **inherited}, {**notes, **said_there}
    return text, {**content, **own}, {**notes, **comments(text)}


def option_model(group: str, name: str, content: Mapping[str, Any]) -> tuple[type[BaseModel], Sequence[str]]:
    """The model that an option's keys are checked by, and which of them take a list as an axis."""
    if "_target_" not in content:
        settings = RunConfig.model_fields[group].annotation
        assert isinstance(settings, type) and issubclass(settings, BaseModel)
        return settings, ()
    made = target_class(f"{group}.{name}", content)
    return _signature_model(made, dict(content), {}), getattr(made, "axes", ())


@dataclass(frozen=True, slots=True)
class Key:
    """A line of a table of keys: the key's full name in its option, the default, what is allowed, and what is said of it."""

    name: str
    default: Any
    allowed: str
    note: str


HEAD = ["| key | default | allowed | |", "|---|---|---|---|"]


def keys_table(
    model: type[BaseModel], values: Mapping[str, Any], notes: Mapping[str, str], axes: Sequence[str] = ()
) -> list[str]:
    """The keys in the order of the file, then those that only the class knows; `values` go before the class's defaults."""
    schema = schema_of(model)
    known = {name: field.get("default") for name, field in schema.get("properties", {}).items()}
    groups = set(purposes()) if model is RunConfig else set()
    keys = [*values, *(name for name in known if name not in values and name not in groups)]
    rows = [key for name in keys for key in keys_of(name, values.get(name, known.get(name)), schema, notes, axes)]
    return [*HEAD, *map(row, rows)] if rows else ["No keys."]


def keys_of(name: str, value: Any, schema: Mapping[str, Any], notes: Mapping[str, str], axes: Sequence[str]) -> Iterator[Key]:
    """A key, or the keys below it where its value has a model of its own."""
    field = schema.get("properties", {}).get(name.rpartition(".")[2], {})
    inner = resolved(field, schema)
    if inner.get("properties") and isinstance(value, Mapping):
        below = {**schema, **inner}
        for key in inner["properties"]:
            default = value.get(key, inner["properties"][key].get("default"))
            yield from keys_of(f"{name}.{key}", default, below, notes, ())
        return
    allowed = said(field, schema) + (" (axis)" if name in axes else "")
    yield Key(name, value, allowed, notes.get(name, ""))


def row(key: Key) -> str:
    """A key as a line of a table."""
    shown = "required" if key.default == "???" else f"`{cell(flow(key.default))}`"
    return f"| `{key.name}` | {shown} | {key.allowed} | {cell(key.note)} |"


def flow(value: Any) -> str:
    """A value as it is typed."""
    if isinstance(value, str):
        return value or "''"
    return yaml.safe_dump(value, default_flow_style=True, width=1000, sort_keys=False).removesuffix("...\n").strip()


def cell(text: str) -> str:
    """A text that ends no cell of a table and is no HTML."""
    return text.replace("|", "\\|").replace("<", "&lt;") if "`" not in text else text.replace("|", "\\|")


def fenced(text: str, language: str = "text") -> str:
    return f"```{language}\n{text.rstrip()}\n```\n"


def introduction(text: str) -> str:
    """The comment that an option's file begins with, its package line left out; lines that are commands stand as such."""
    comment = re.match(r"(?:#.*\n)+", text)
    lines = [line.removeprefix("#").removeprefix(" ") for line in (comment[0] if comment else "").splitlines()]
    kept = [f"\n`{line}`\n" if line.startswith("python -m") else line for line in lines if not line.startswith("@package")]
    return "\n".join(kept).replace("<", "&lt;").strip()


def comments(text: str) -> dict[str, str]:
    """What stands behind each key of a YAML file, by the key's full name."""
    found: dict[str, str] = {}
    path: list[tuple[int, str]] = []
    column = -1  # where the note begins that the next line may go on with
    for line in text.splitlines():
        note = re.search(r"(?<=\s)# (.*)$", line)
        key = re.match(r"( *)([\w-]+):(?: |$)", line)
        if key:
            path = [(depth, name) for depth, name in path if depth < len(key[1])] + [(len(key[1]), key[2])]
        name = ".".join(name for _, name in path)
        if note and key:
            found[name] = note[1]
        elif note and note.start() == column and line.strip().startswith("#"):
            found[name] += f" {note[1]}"
        column = note.start() if note and name in found else -1
    return found


class Schemas(GenerateJsonSchema):
    """JSON schemas in which what has none (a class of ours) is simply left open."""

    ignored_warning_kinds = frozenset({"skipped-choice", "non-serializable-default"})  # type: ignore[assignment]

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> JsonSchemaValue:
        return {}


def schema_of(kind: Any) -> dict[str, Any]:
    """The JSON schema of a model or of an annotation."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind).json_schema(schema_generator=Schemas)


def resolved(field: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a field's reference stands for."""
    name = str(field.get("$ref", "")).rpartition("/")[2]
    found: Mapping[str, Any] = schema.get("$defs", {}).get(name, field)
    return found


LIMITS = {
    "exclusiveMinimum": "> {}",
    "minimum": ">= {}",
    "exclusiveMaximum": "< {}",
    "maximum": "<= {}",
    "minLength": "{} characters or more",
}
TYPES = {"string": "text", "integer": "whole number", "number": "number", "boolean": "`true`, `false`", "null": "`null`"}
FORMATS = {"date": "date", "path": "path", "file-path": "path", "directory-path": "path"}


def said(field: Mapping[str, Any], schema: Mapping[str, Any] | None = None) -> str:
    """What a JSON schema allows, in words; empty where it allows anything."""
    field = resolved(field, schema or {})
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if parts := field.get("anyOf") or field.get("oneOf"):
        return " or ".join(dict.fromkeys(filter(None, (said(part, schema) for part in parts))))
    kind = field.get("type")
    if kind == "array":
        inner = said(field.get("items", {}), schema)
        return f"list of {inner}" if inner else "list"
    if kind == "object":
        return "keys with values"
    words = FORMATS.get(field.get("format", ""), TYPES.get(str(kind), ""))
    limits = [form.format(f"{field[name]:g}") for name, form in LIMITS.items() if name in field]
    return f"{words} {', '.join(limits)}".strip()
