"""Where litellm does too little or too much for a call of ours.

It loses something where it asks a model through OpenAI's responses API and makes a chat completion of the response: who
answered becomes who was asked, and a refusal becomes an empty answer. Both are noted on the way, and put back. And it prices
every response, also where the price is ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

_PRICED: ContextVar[bool] = ContextVar("dreambench_priced", default=False)
_SEEN: ContextVar[list[Any] | None] = ContextVar("dreambench_responses", default=None)


def watch(litellm: Any) -> None:
    """Lets `watching` see what litellm gets from the responses API; called once, when litellm is loaded."""
    original = litellm.aresponses

    @wraps(original)
    async def aresponses(*args: Any, **keys: Any) -> Any:
        response = await original(*args, **keys)
        if (seen := _SEEN.get()) is not None:
            seen.append(response)
        return response

    litellm.aresponses = aresponses


def spare_prices(logging: type[Any]) -> None:
    """Lets `priced` keep litellm from pricing responses; called once, with the class of litellm that does, where it has one."""
    original = getattr(logging, "response_cost_calculator", None)
    if original is None:
        return

    @wraps(original)
    def response_cost_calculator(*args: Any, **keys: Any) -> Any:
        return None if _PRICED.get() else original(*args, **keys)

    logging.response_cost_calculator = response_cost_calculator


@contextmanager
def priced(ours: bool) -> Iterator[None]:
    """The call inside has a price of ours (`ours`): litellm's is not looked up, which takes milliseconds of the event loop."""
    token = _PRICED.set(ours)
    try:
        yield
    finally:
        _PRICED.reset(token)


@contextmanager
def watching() -> Iterator[list[Any]]:
    """The responses that litellm gets for the call inside: none, unless it goes through the responses API."""
    seen: list[Any] = []
    token = _SEEN.set(seen)
    try:
        yield seen
    finally:
        _SEEN.reset(token)


def restored(completion: Any, seen: list[Any]) -> Any:
    """The chat completion with what the last of the responses behind it says of its model and of a refusal."""
    for response in seen[-1:]:
        completion.model = _of(response, "model") or completion.model
        if (words := _refusal(response)) is not None and completion.choices:
            completion.choices[0].message.refusal = words
    return completion


def _refusal(response: Any) -> str | None:
    parts = [part for item in _of(response, "output") or () for part in _of(item, "content") or ()]
    return next((str(_of(part, "refusal") or "") for part in parts if _of(part, "type") == "refusal"), None)


def _of(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, dict) else getattr(holder, name, None)
