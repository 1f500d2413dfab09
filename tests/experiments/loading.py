"""Loads a study as a run does."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

from dreambench.config.locations import bundled


def study(name: str) -> ModuleType:
    """The module of `experiments/` called `name`."""
    spec = importlib.util.spec_from_file_location(f"study_{name}", bundled("experiments") / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
