"""Config nodes: keys are constructor parameters, all problems at once, lists on axes make one node per value."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Literal

import pytest
from pydantic import ValidationError

from dreambench.config.nodes import build, check_node, expand_axes, validation_problems
from dreambench.config.schema import RunConfig
from dreambench.errors import ConfigError


class Thing:
    axes: ClassVar[tuple[str, ...]] = ("model", "mode")

    def __init__(
        self,
        *,
        name: str,
        model: str,
        mode: Literal["tools", "json"] = "tools",
        temperature: float = 0.0,
        members: list[str] | None = None,
    ) -> None:
        self.name, self.model, self.mode, self.temperature, self.members = name, model, mode, temperature, members


COMPOSED: dict[str, Any] = {"dataset": {}, "judge": {"j": {}}, "metric": {"m": {}}}
"""The groups without which no configuration is one."""
TARGET = {"_target_": f"{__name__}.Thing"}


def test_a_node_becomes_an_object_with_its_keys_and_what_is_supplied() -> None:
    thing = build("judge.x", {**TARGET, "model": "m", "temperature": "0.5"}, name="x", gateway="not taken")
    assert (thing.name, thing.model, thing.temperature, thing.mode) == ("x", "m", 0.5, "tools")


def test_all_problems_of_a_node_are_said_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        check_node("judge.x", {**TARGET, "temprature": 1, "mode": "yaml"})
    text = str(caught.value)
    assert text.count("judge.x.") >= 3
    assert "judge.x.model: is required" in text
    assert "judge.x.mode: input should be 'tools' or 'json', got 'yaml'" in text
    assert "judge.x.temprature: no such key; did you mean temperature?" in text
    assert "type: judge.x.temperature=1" in text


@pytest.mark.parametrize(
    ("value", "allowed"),
    [
        ({"engine": {"most": "many"}}, "engine.most: is no whole number, got 'many'\\n  allowed: a whole number"),
        ({"engine": {"most": 0}}, "engine.most: .*\\n  allowed: more than 0"),
        ({"engine": {"budget": {"money": "1,5"}}}, "engine.budget.money: .*\\n  allowed: a number"),
        ({"cache": {"mode": "of"}}, "cache.mode: .*\\n  allowed: readwrite, replay, refresh, off"),
        ({"as_of": "soon"}, "as_of: a date is needed, got 'soon'\\n  allowed: a date as YYYY-MM-DD, such as 2025-06-30, today"),
        ({"as_of": 2025}, "as_of: a date is needed, got 2025\\n  allowed: a date as YYYY-MM-DD, such as 2025-06-30"),
    ],
)
def test_a_value_of_another_form_is_answered_with_the_form(value: dict[str, Any], allowed: str) -> None:
    with pytest.raises(ValidationError) as caught:
        RunConfig.model_validate({**COMPOSED, **value})
    assert re.search(allowed, "\n".join(map(str, validation_problems("", caught.value, RunConfig))))


def test_supplied_parameters_are_no_keys_but_members_may_be_set() -> None:
    with pytest.raises(ConfigError, match=r"judge\.x\.nam: no such key"):
        build("judge.x", {**TARGET, "model": "m", "nam": "y"}, name="x")
    assert build("judge.x", {**TARGET, "model": "m", "members": ["a"]}, name="x").members == ["a"]


def test_lists_on_axes_make_one_node_per_combination() -> None:
    nodes = expand_axes(
        "judge", {"x": {**TARGET, "model": ["a", "b"], "mode": ["tools", "json"]}, "y": {**TARGET, "model": "c"}}
    )
    assert list(nodes) == ["x[a,tools]", "x[a,json]", "x[b,tools]", "x[b,json]", "y"]
    assert nodes["x[b,json]"]["model"] == "b"


def test_a_list_on_a_key_that_is_no_axis_is_a_value() -> None:
    assert list(expand_axes("judge", {"x": {**TARGET, "model": "a", "members": ["p", "q"]}})) == ["x"]


@pytest.mark.parametrize("values", [[], ["a", "a"]])
def test_empty_and_repeated_axis_values_are_refused(values: list[str]) -> None:
    with pytest.raises(ConfigError, match=r"judge\.x"):
        expand_axes("judge", {"x": {**TARGET, "model": values}})


@pytest.mark.parametrize("target", [None, "nowhere.Thing", "dreambench.errors.Nothing", "Thing"])
def test_a_bad_target_is_named(target: str | None) -> None:
    with pytest.raises(ConfigError, match=r"judge\.x"):
        build("judge.x", {"_target_": target}, name="x")
