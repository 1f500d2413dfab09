"""One rule for every export: it is written once, and what lies there already is replaced only when that is said."""

from __future__ import annotations

from dreambench.errors import ConfigError, Problem


def taken(where: object) -> ConfigError:
    """The error of an export to a place that holds something."""
    what = "holds something already; nothing is overwritten unless you say so"
    return ConfigError(Problem(str(where), what, ["another --out", "--replace: an earlier export of this run is replaced"]))
