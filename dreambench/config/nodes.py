"""Config nodes: `_target_` names a class (or a function that makes one), the node's keys are its parameters.

The constructor's annotations are the schema (pydantic checks and converts them), so a class says once what it takes.
Parameters that the assembly supplies (`name`, `gateway`, `shelf`, ...) are no keys. A list as value of a key that its
class declares an axis makes one node per value.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, cast, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic_core import ErrorDetails

from dreambench.config.secrets import shown
from dreambench.errors import ConfigError, Problem, nearest

SUPPLIED = frozenset({"self", "name", "gateway", "shelf", "tools", "corpus", "members", "protocols", "trajectories"})
"""Constructor parameters that are never config keys, unless a node sets them (`panel.members`)."""

COMMON: Mapping[str, Mapping[str, tuple[Any, Any]]] = {
    "metric": {
        "threshold": (Annotated[float, Field(ge=0)] | None, None),
        "threshold_on": (Literal["bound", "mean"], "bound"),
        "id": (str | None, None),
    }
}
"""Keys (type, default) of every node of a group, whose class need not know them: what is done with results, and their name.

Whoever reads the nodes takes them (`runs.thresholds`, `runs.assembly`). On the command line they need no plus
(`compose.with_common_keys`).
"""


LIMITS = {"gt": "more than {}", "ge": "{} or more", "lt": "less than {}", "le": "{} or less"}
FORMS = {"int_parsing": "is no whole number", "float_parsing": "is no number", "bool_parsing": "is neither true nor false"}
"""What is said of text that is no number, where pydantic names its parser."""
TYPES: Mapping[str, list[str]] = {
    "int_": ["a whole number"],
    "float_": ["a number"],
    "bool_": ["true", "false"],
    "date_": ["a date as YYYY-MM-DD, such as 2025-06-30"],
    "list_": ["a list: [one,two]"],
    "string_": ["text"],
    "dict_": ["keys with values: {key: value}"],
}
"""What is allowed, by the beginning of the name of pydantic's error."""


class AllowedError(ValueError):
    """A value that a validator of ours refuses, with what it would take."""

    def __init__(self, what: str, allowed: Sequence[str]) -> None:
        super().__init__(what)
        self.allowed = allowed


def target_class(path: str, node: Mapping[str, Any]) -> type[Any]:
    """The class that a node's `_target_` names. Raises ConfigError when it is missing or cannot be imported."""
    target = node.get("_target_")
    if not isinstance(target, str):
        raise ConfigError(Problem(path, "has no _target_", type=f"{path}._target_=package.module.Class"))
    module, _, name = target.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(Problem(f"{path}._target_", f"{target}: {error}")) from error
    return cast("type[Any]", found)


def expand_axes(group: str, nodes: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Nodes with list-valued axis keys become one node per combination, named `node[value]` or `node[value,value]`."""
    expanded: dict[str, dict[str, Any]] = {}
    for name, node in nodes.items():
        axes = getattr(target_class(f"{group}.{name}", node), "axes", ())
        lists = {key: node[key] for key in axes if isinstance(node.get(key), list)}
        if empty := [key for key, values in lists.items() if not values]:
            raise ConfigError(Problem(f"{group}.{name}.{empty[0]}", "is an empty list", ["one value", "a list of values"]))
        for values in itertools.product(*lists.values()):
            label = f"{name}[{','.join(str(value) for value in values)}]" if values else name
            if label in expanded:
                raise ConfigError(Problem(f"{group}.{name}", f"gives the same node twice: {label}"))
            expanded[label] = {**node, **dict(zip(lists, values, strict=True))}
    return expanded


def check_node(path: str, node: Mapping[str, Any]) -> dict[str, Any]:
    """The node's keys, checked and converted by its constructor's annotations. Raises ConfigError with all problems."""
    cls = target_class(path, node)
    keys = {key: value for key, value in node.items() if key != "_target_"}
    model = _signature_model(cls, keys, COMMON.get(path.partition(".")[0], {}))
    try:
        checked = model.model_validate(keys)
    except ValidationError as error:
        raise ConfigError(*validation_problems(path, error, model)) from error
    return {key: getattr(checked, key) for key in keys}


def build(path: str, node: Mapping[str, Any], **supplied: Any) -> Any:
    """The object that a node describes; of `supplied`, what its constructor takes is handed over."""
    cls = target_class(path, node)
    parameters = inspect.signature(cls).parameters
    common = COMMON.get(path.partition(".")[0], {})
    keys = {key: value for key, value in check_node(path, node).items() if key not in common or key in parameters}
    return cls(**keys, **{key: value for key, value in supplied.items() if key in parameters and key not in keys})


def validation_problems(path: str, error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """One Problem per pydantic error, with the full config path and, for an unknown key, the nearest known one."""
    problems = []
    for item in error.errors(include_url=False):
        place = ".".join([path, *(str(part) for part in item["loc"])]) if path else ".".join(str(p) for p in item["loc"])
        if item["type"] == "extra_forbidden":
            known = sorted(_known_keys(model, item["loc"][:-1]))
            key = str(item["loc"][-1])
            near = nearest(key, known)
            hint = f"{place.removesuffix(key)}{near}={shown(key, item['input'])}" if near else None
            problems.append(Problem(place, "no such key" + (f"; did you mean {near}?" if near else ""), known, hint))
        elif item["type"] == "missing":
            problems.append(Problem(place, "is required", type=f"{place}=..."))
        else:
            ours = item.get("ctx", {}).get("error") if item["type"] == "value_error" else None
            said = ours or next((words for kind, words in FORMS.items() if item["type"].startswith(kind)), item["msg"].lower())
            what = f"{said}, got {shown(place, repr(item['input']))}"
            problems.append(Problem(place, what, ours.allowed if isinstance(ours, AllowedError) else _allowed(item)))
    return problems


def _allowed(item: ErrorDetails) -> list[str]:
    """What pydantic would have taken, in words; nothing for errors that say it themselves."""
    limits = item.get("ctx", {})
    said = [words.format(limits[key]) for key, words in LIMITS.items() if key in limits and "length" not in item["type"]]
    if "expected" in limits and item["type"] in ("literal_error", "enum"):
        return str(limits["expected"]).replace(" or ", ", ").replace("'", "").split(", ")
    return said or next((words for kind, words in TYPES.items() if item["type"].startswith(kind)), [])


def _known_keys(model: type[BaseModel], loc: tuple[int | str, ...]) -> set[str]:
    fields = model.model_fields
    for part in loc:
        annotation = fields[str(part)].annotation if str(part) in fields else None
        if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
            return set()
        fields = annotation.model_fields
    return set(fields)


def _signature_model(cls: type[Any], keys: Mapping[str, Any], common: Mapping[str, tuple[Any, Any]]) -> type[BaseModel]:
    hints = get_type_hints(cls.__init__ if inspect.isclass(cls) else cls, include_extras=True)
    fields: dict[str, Any] = {
        name: (hints.get(name, Any), ... if parameter.default is inspect.Parameter.empty else parameter.default)
        for name, parameter in inspect.signature(cls).parameters.items()
        if (name not in SUPPLIED or name in keys) and parameter.kind is not parameter.VAR_KEYWORD
    }
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, protected_namespaces=())
    return create_model(cls.__name__, __config__=config, **{**common, **fields})
