"""From config nodes to arms: every entry of `perturbation=[...]` is one arm, axes and compositions unfolded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dreambench.config.nodes import build, expand_axes, target_class
from dreambench.config.options import load_option
from dreambench.errors import ConfigError, InputError, Problem
from dreambench.judges.rubric import RubricShelf
from dreambench.perturbations.perturbation import Perturbation

GROUP = "perturbation"
Node = Mapping[str, Any]


def arms(nodes: Mapping[str, Node], shelf: RubricShelf | None = None) -> list[Perturbation]:
    """The arms that the nodes of the group `perturbation` describe, in order; each one's `name` is its node's.

    A list on `dose` or `seed` gives one arm per value, named `node[value]`. The clean arm is not among them. Raises one
    ConfigError that holds every problem found.
    """
    made: list[Perturbation] = []
    problems: list[Problem] = []
    for name, node in expand_axes(GROUP, nodes).items():
        try:
            made.append(_arm(name, node, nodes, shelf))
        except InputError as error:
            problems += error.problems
    if problems:
        raise ConfigError(*problems)
    return made


def _arm(name: str, node: Node, nodes: Mapping[str, Node], shelf: RubricShelf | None) -> Perturbation:
    path = f"{GROUP}.{name}"
    members = _steps(path, node, nodes, shelf) if isinstance(node.get("steps"), list) else []
    supplied = {"members": members} if members else {}
    built: Perturbation = build(path, node, name=name, shelf=shelf, **supplied)
    return built


def _steps(path: str, node: Node, nodes: Mapping[str, Node], shelf: RubricShelf | None) -> Sequence[Perturbation]:
    """A composition's steps: as the run's own node of that name has them, else as the option file has; then the
    composition's dose and seed, then what its `keys` say for that step."""
    shared = {key: node[key] for key in ("dose", "seed") if node.get(key) is not None}
    own: Mapping[str, Mapping[str, Any]] = node.get("keys") or {}
    names = [str(step) for step in node["steps"]]
    if unknown := sorted(set(own) - set(names)):
        raise ConfigError(Problem(f"{path}.keys.{unknown[0]}", "is no step of this composition", names))
    built = []
    for step in names:
        found = nodes[step] if step in nodes else load_option(GROUP, step, f"{path}.steps")
        keys = {**found, **shared, **own.get(step, {})}
        where = f"{path}.{step}"
        if "steps" in keys or getattr(target_class(where, keys), "id", "") == "compose":
            raise ConfigError(Problem(f"{path}.steps", f"{step} is a composition itself; name its steps here"))
        if listed := [key for key, value in keys.items() if key in ("dose", "seed") and isinstance(value, list)]:
            wanted = f"{path}.{listed[0]}=[...]"
            raise ConfigError(Problem(f"{path}.steps", f"{step} has a list of values for {listed[0]}", type=wanted))
        built.append(build(where, keys, name=step, shelf=shelf))
    return built
