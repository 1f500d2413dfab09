"""Names that hold secrets: what was typed for them is never shown again, in no error and in no suggestion."""

from __future__ import annotations

import re
from typing import TypeVar

T = TypeVar("T")

SECRET = re.compile(r"api[_-]?key|secret|password|credential|token$|authorization", re.I)
"""A key, a parameter or a header whose value is a secret."""
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""A name of an environment variable; keys of most providers are none."""
HIDDEN = "..."


def shown(key: str, value: T) -> T | str:
    """`value` as an error may show it."""
    return HIDDEN if SECRET.search(key) else value
