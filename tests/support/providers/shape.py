"""What every provider's module describes, so that one set of tests can be put to all of them.

All answers count the same tokens: 1000 of prompt (600 read from the provider's cache, 100 written to it where the provider
tells), 200 of completion (150 of them reasoning where the provider tells).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.providers.wire import Answer, Seen

PROMPT, CACHED, WRITTEN, COMPLETION, REASONING = 1000, 600, 100, 200, 150


@dataclass(frozen=True)
class Shape:
    """One protocol. `base` makes the judge's api_base of the server's address; `key` is where the key has to arrive.

    The answers: `call(name, arguments)` a tool call, `words(text)` plain text, then what goes wrong. `wait` is what
    `limited` asks for in seconds. `written` and `reasoning` are what the provider tells of its counts.
    """

    name: str
    model: str
    answered: str
    key_env: str
    base: Callable[[str], str]
    key: Callable[[Seen, str], bool]
    path: str
    tools: Callable[[Mapping[str, Any]], list[tuple[str, Mapping[str, Any]]]]
    forced: Callable[[Mapping[str, Any]], str]
    schema: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    system: Callable[[Mapping[str, Any]], str]
    result: Callable[[Mapping[str, Any]], str]
    call: Callable[[str, Mapping[str, Any]], Answer]
    words: Callable[[str], Answer]
    refusals: Mapping[str, Answer]
    cut: Answer
    limited: Mapping[str, tuple[Answer, float]]
    failures: Mapping[str, tuple[Answer, str, bool, bool]]
    cost: float
    written: int = 0
    reasoning: int = REASONING
    keys: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        return self.name
