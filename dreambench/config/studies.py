"""Which studies there are: modules of `experiments/`, checked before a run: nothing is bought for a study that cannot be.

A study module defines `make(run: FinishedRun) -> Sequence[Path]`. One that reads more than the run (sheets of human labels,
other runs) also defines `check(inputs)`, which raises InputError when `study_inputs` do not give what it needs.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from dreambench.config.locations import bundled
from dreambench.errors import ConfigError, Problem, nearest


def study_names() -> list[str]:
    """The names of all studies, sorted."""
    return sorted(path.stem for path in bundled("experiments").glob("*.py") if not path.stem.startswith("_"))


def load_study(name: str) -> ModuleType:
    """The module of the study `name`. Raises ConfigError for an unknown one."""
    if name not in study_names():
        near = nearest(name, study_names())
        what = "there is no such study" + (f"; did you mean {near}?" if near else "")
        raise ConfigError(Problem(f"study={name}", what, study_names(), f"study={near}" if near else None))
    spec = importlib.util.spec_from_file_location(f"dreambench_study_{name}", bundled("experiments") / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def check_study(name: str | None, inputs: Mapping[str, Any]) -> None:
    """Raises ConfigError or InputError when `name` is no study or `inputs` are not what it needs; None is fine."""
    if name is None:
        if inputs:
            raise ConfigError(Problem("study_inputs", "no study is asked for that could read them", study_names(), "study=..."))
        return
    check = getattr(load_study(name), "check", None)
    if check is not None:
        check(inputs)
    elif inputs:
        what = f"the study {name} reads nothing but its run"
        raise ConfigError(Problem(f"study_inputs.{min(inputs)}", what, (), "leave study_inputs out"))
