"""The ten aspects of writing quality, one function each, in three modules named after their dimension.

An aspect is a function `<aspect>(view, question) -> Finding`; it is found by its name.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from dreambench.judges.embedded.aspects import fluency, ideas, organization
from dreambench.judges.embedded.measures import Finding
from dreambench.judges.embedded.view import ReportView

Aspect = Callable[[ReportView, str], Finding]


@cache
def aspects() -> dict[str, Aspect]:
    """All aspects by name: the public functions of the three modules that return a Finding."""
    found: dict[str, Aspect] = {}
    for module in (ideas, organization, fluency):
        for name in module.__all__:
            found[name] = getattr(module, name)
    return found
