"""Runs a configuration in this process and gives what the command would have written."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from dreambench.config.compose import compose
from dreambench.config.schema import RunConfig
from dreambench.engine.clock import Clock
from dreambench.runs.assembly import validate
from dreambench.runs.execute import RunResult, execute
from dreambench.studies.study import make_study


class Silent:
    """Progress that shows nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments, **keys: None


def configured(folder: Path, *overrides: str) -> RunConfig:
    return validate(composed_in(folder, *overrides), Clock())


def composed_in(folder: Path, *overrides: str) -> DictConfig:
    return compose([*overrides, f"paths.outputs={folder / 'outputs'}", f"paths.cache={folder / 'cache'}"])


def run(folder: Path, *overrides: str) -> tuple[RunResult, Path]:
    """The finished run and the folder of its study, if it has one."""
    composed = composed_in(folder, *overrides)
    config = validate(composed, Clock())
    text = OmegaConf.to_yaml(composed, resolve=True)
    result = asyncio.run(execute(config, text, lambda **about: Silent(), Clock()))
    if config.study:
        make_study(config.study, result.folder, config.study_inputs)
    return result, result.folder.study
