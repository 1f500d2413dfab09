"""Runs a configuration in this process and gives what the command would have written."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

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
    paths = [f"paths.outputs={folder / 'outputs'}", f"paths.cache={folder / 'cache'}"]
    return validate(compose([*overrides, *paths]), Clock())


def run(folder: Path, *overrides: str) -> tuple[RunResult, Path]:
    """The finished run and the folder of its study, if it has one."""
    config = configured(folder, *overrides)
    result = asyncio.run(execute(config, "", lambda **about: Silent(), Clock()))
    if config.study:
        make_study(config.study, result.folder, config.study_inputs)
    return result, result.folder.study
