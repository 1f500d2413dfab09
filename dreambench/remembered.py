"""Work on texts that is done once: many short ones and few long ones are remembered, so that reports push out no passages."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Concatenate, ParamSpec, TypeVar, cast

Rest = ParamSpec("Rest")
Made = TypeVar("Made")


def remembered(
    make: Callable[Concatenate[str, Rest], Made], *, border: int, short: int, long: int = 0
) -> Callable[Concatenate[str, Rest], Made]:
    """`make`, which remembers what it made last of `short` texts of up to `border` characters, and of `long` longer ones."""
    of_short = cast("Callable[Concatenate[str, Rest], Made]", lru_cache(maxsize=short)(make))
    of_long = cast("Callable[Concatenate[str, Rest], Made]", lru_cache(maxsize=long)(make)) if long else make

    def of(text: str, /, *args: Rest.args, **kwargs: Rest.kwargs) -> Made:
        return (of_short if len(text) <= border else of_long)(text, *args, **kwargs)

    return of
