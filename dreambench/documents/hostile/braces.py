"""Which brace closes which, for a whole text in one pass."""

from __future__ import annotations

import re

_BRACE = re.compile(r"[{}]")


def closing_braces(text: str) -> dict[int, int]:
    """For each `{` that is closed: the offset right after its `}`."""
    ends: dict[int, int] = {}
    waiting: list[int] = []
    for match in _BRACE.finditer(text):
        if match[0] == "{":
            waiting.append(match.start())
        elif waiting:
            ends[waiting.pop()] = match.end()
    return ends
