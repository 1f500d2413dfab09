"""Exit codes, the same for every command."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of the command line."""

    DONE = 0
    USER_ERROR = 1
    INCOMPLETE = 2
    """Stopped or with errors; the same command again goes on."""
    BUDGET = 3
    BUG = 70
    BELOW_THRESHOLD = 100
    INTERRUPTED = 130
