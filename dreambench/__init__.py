"""dreambench scores deep-research reports and puts the metrics themselves to the test.

`evaluate`, `aevaluate` and `Evaluation` are the use from Python (`dreambench.api`); they are loaded when they are asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dreambench.api import Evaluation, aevaluate, evaluate

SOURCE = "0+source"
"""The version of a checkout or an unpacked archive: releases are made from tags, and only a wheel knows which one it is of."""
__all__ = ["Evaluation", "__version__", "aevaluate", "evaluate"]


__version__: str
"""Of the installed wheel, else SOURCE; the same wherever and whenever the same files run."""


def _version() -> str:
    if not (Path(__file__).parent / "conf").is_dir():  # a wheel carries it inside the package, see config.locations
        return SOURCE
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("dreambench")
    except PackageNotFoundError:
        return SOURCE


def __getattr__(name: str) -> object:
    if name == "__version__":
        return _version()
    if name in __all__:
        from dreambench import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
