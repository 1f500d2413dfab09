"""dreambench scores deep-research reports and puts the metrics themselves to the test.

`evaluate`, `aevaluate` and `Evaluation` are the use from Python (`dreambench.api`); they are loaded when they are asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dreambench.api import Evaluation, aevaluate, evaluate

__version__ = "0.1.0"
__all__ = ["Evaluation", "__version__", "aevaluate", "evaluate"]


def __getattr__(name: str) -> object:
    if name in __all__:
        from dreambench import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
