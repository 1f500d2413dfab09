"""Every option file of `conf/dataset` says what its class takes, no more and no less."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from dreambench.config.locations import bundled
from dreambench.config.nodes import build, check_node, target_class
from dreambench.datasets import Loader
from dreambench.errors import ConfigError

from .conftest import SLICE

OPTIONS = sorted(path.stem for path in (bundled("conf") / "dataset").glob("*.yaml"))


def node(option: str) -> dict[str, Any]:
    found = yaml.safe_load((bundled("conf") / "dataset" / f"{option}.yaml").read_text(encoding="utf-8"))
    assert found["seed"] == "${seed}"
    return {**found, "seed": 0}


def test_all_sources_have_an_option():
    expected = """
        adversarial_claims criteria deepconsult deepresearchgym deepweb demo dr3 drb drb2 gpt_researcher
        holdout huggingface jsonl liveresearchbench open_deep_research openai_deep_research perplexity
        protocol_items reports researchrubrics smolagents tongyi vrs
    """
    assert expected.split() == OPTIONS


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_names_every_key_with_its_default_and_begins_with_its_purpose(option: str):
    text = (bundled("conf") / "dataset" / f"{option}.yaml").read_text(encoding="utf-8")
    first, second = text.splitlines()[:2]
    assert first.startswith("# ")
    assert first.endswith(".")
    assert second == f"_target_: dreambench.datasets.{option}.{target_class('dataset', node(option)).__name__}"
    cls = target_class("dataset", node(option))
    assert issubclass(cls, Loader)
    assert cls.title == option
    keys = {key: value for key, value in node(option).items() if key != "_target_"}
    defaults = {each.name: each.default for each in fields(cls)}
    assert set(keys) == set(defaults)
    for key, value in keys.items():
        expected = defaults[key]
        if isinstance(expected, BaseModel):
            assert type(expected).model_validate(value) == expected
        else:
            assert (tuple(value) if isinstance(value, list) else value) == expected


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_passes_the_check_of_nodes_and_makes_a_loader(option: str):
    check_node("dataset", node(option))
    assert isinstance(build("dataset", node(option)), Loader)


def test_a_typo_names_the_nearest_key():
    with pytest.raises(ConfigError) as caught:
        check_node("dataset", {**node("drb"), "limmit": 3})
    assert str(caught.value).splitlines()[0] == "dataset.limmit: no such key; did you mean limit?"
    assert str(caught.value).splitlines()[-1] == "  type: dataset.limit=3"


def test_a_node_loads_what_a_call_loads(tmp_path: Path):
    keys = {"reports": str(SLICE), "queries": str(SLICE / "query.jsonl"), "limit": 2, "as_of": "2025-06-01"}
    dataset = build("dataset", {**node("drb"), **keys}).load()
    assert (len(dataset.tasks), len(dataset.reports)) == (2, 8)
    assert str(dataset.tasks[0].as_of) == "2025-06-01"
