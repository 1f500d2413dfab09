"""Every option file composes, says its purpose, and holds exactly the keys that its class takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from omegaconf import OmegaConf

from dreambench.config.compose import compose
from dreambench.config.explain import MULTI_SELECT, bad_choices, group_options
from dreambench.config.locations import bundled
from dreambench.config.nodes import check_node
from dreambench.config.schema import RunConfig

CONF = bundled("conf")
OPTIONS = [(group, option) for group, options in group_options().items() for option in options]
NEEDED = {"model": "openai/x", "api_base": "http://127.0.0.1:1/v1", "path": "pages.jsonl"}
"""Values for keys that an option leaves to its user."""


@pytest.mark.parametrize(("group", "option"), OPTIONS, ids=["/".join(pair) for pair in OPTIONS])
def test_an_option_composes(group: str, option: str) -> None:
    plus = "+" if group == "experiment" else ""
    config = compose([f"{plus}{group}={option}"])
    plain = OmegaConf.to_container(config, resolve=False)
    assert isinstance(plain, dict)
    filled = OmegaConf.to_container(OmegaConf.create(_filled(plain)), resolve=True)
    RunConfig.model_validate(filled)


@pytest.mark.parametrize(("group", "option"), OPTIONS, ids=["/".join(pair) for pair in OPTIONS])
def test_an_option_says_what_it_is_for(group: str, option: str) -> None:
    lines = (CONF / group / f"{option}.yaml").read_text(encoding="utf-8").splitlines()
    if group in (*MULTI_SELECT, "experiment", "debug"):
        holds_others = "\ndefaults:\n" in "\n".join(lines)
        package = "_global_" if group in ("experiment", "debug") or holds_others else f"{group}.{option}"
        assert lines.pop(0) == f"# @package {package}"
    assert lines[0].startswith("# ")
    assert len(lines[0]) > 15


@pytest.mark.parametrize(("group", "option"), OPTIONS, ids=["/".join(pair) for pair in OPTIONS])
def test_an_option_has_the_keys_of_its_class(group: str, option: str) -> None:
    node = _filled(yaml.safe_load((CONF / group / f"{option}.yaml").read_text(encoding="utf-8")))
    if group == "tools":  # built on one another and on the group `page`: taken as composed
        node = _filled(OmegaConf.to_container(compose([f"tools={option}"]).tools, resolve=True))
    if "_target_" not in node:
        pytest.skip("plain settings: checked by the schema when it composes")
    node = {key: (0 if value == "${seed}" else value) for key, value in node.items() if key != "members"}
    check_node(f"{group}.{option}", node)


def test_an_experiment_says_the_command_that_runs_it() -> None:
    for path in sorted((CONF / "experiment").glob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        assert f"# python -m dreambench +experiment={path.stem}" in text
        study = yaml.safe_load(text).get("study")
        assert study is None or Path(bundled("experiments") / f"{study}.py").is_file()


def test_dream_is_its_six_metrics_with_their_own_keys() -> None:
    six = ["wq", "factuality", "ci", "da", "kic", "rq"]
    config = compose(["metric=[dream,length]", "metric.factuality.claims=7"])
    assert list(config.metric) == [*six, "length"]
    assert config.metric.factuality.claims == 7
    assert config.metric == compose(["metric=[wq,factuality,ci,da,kic,rq,length]", "metric.factuality.claims=7"]).metric


def test_a_metric_that_dream_holds_is_not_named_again() -> None:
    assert bad_choices(["metric=[dream,length]", "metric=dream"]) == []
    (problem,) = bad_choices(["metric=[wq,dream]"])
    assert (problem.what, problem.type) == ("names wq twice: dream holds it", "metric=[dream]")


def _filled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: NEEDED.get(str(key)) if child == "???" else _filled(child) for key, child in value.items()}
    return value


def test_the_options_of_a_run_are_hydras() -> None:
    from hydra._internal.utils import get_args_parser

    from dreambench.config.compose import FLAGS, SHORT_FLAGS

    known = [name for action in get_args_parser()._actions for name in action.option_strings]
    assert sorted([*FLAGS, *SHORT_FLAGS]) == sorted(known)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_flags_may_stand_anywhere(place: int) -> None:
    from dreambench.config.compose import flags_first

    words = ["metric=[wq]", "seed=1"]
    assert flags_first([*words[:place], "--config-dir", "my=conf", *words[place:]]) == ["--config-dir", "my=conf", *words]
