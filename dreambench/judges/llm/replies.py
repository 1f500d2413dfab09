"""From a provider's raw response to a `Reply`: the answer's text, tokens, price, who answered and why it ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ConfigDict, NonNegativeFloat

from dreambench.engine.call import Reply, Usage
from dreambench.errors import ProviderError
from dreambench.judges.llm.providers import without_secrets


class Price(BaseModel):
    """US dollars per million tokens.

    Prompt tokens read from (`cached`) or written to (`cache_write`) the provider's cache cost as much as `input` where null.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: NonNegativeFloat
    output: NonNegativeFloat
    cached: NonNegativeFloat | None = None
    cache_write: NonNegativeFloat | None = None

    def of(self, usage: Usage) -> float:
        """What these tokens cost."""
        read = self.input if self.cached is None else self.cached
        written = self.input if self.cache_write is None else self.cache_write
        plain = usage.prompt - usage.cached - usage.cache_write
        prompt = plain * self.input + usage.cached * read + usage.cache_write * written
        return (prompt + usage.completion * self.output) / 1_000_000


def to_reply(response: Any, price: Price | None, text_of: Callable[[Any], str]) -> Reply:
    """The Reply of a litellm response; `text_of` takes what is stored from its message.

    Raises ProviderError when the response holds no choice at all.
    """
    if not getattr(response, "choices", None):
        raise ProviderError("the provider sent a response without an answer", code="bad_response")
    choice = response.choices[0]
    usage = _usage(getattr(response, "usage", None))
    return Reply(
        answer=without_secrets(text_of(choice.message)),
        model=str(response.model or ""),
        fingerprint=str(getattr(response, "system_fingerprint", None) or ""),
        finish=_finish(choice),
        usage=usage,
        cost=price.of(usage) if price else _known_cost(response),
    )


def answer_text(message: Any) -> str:
    """The arguments of the answer's tool call, else its content: some models answer in words when given a tool."""
    calls = getattr(message, "tool_calls", None) or []
    if calls and calls[0].function.arguments is not None:
        return str(calls[0].function.arguments)
    return str(getattr(message, "content", None) or getattr(message, "refusal", None) or "")


def _finish(choice: Any) -> str:
    if getattr(choice.message, "refusal", None) or choice.finish_reason in ("content_filter", "refusal"):
        return "refusal"
    return "length" if choice.finish_reason == "length" else "stop"


def _usage(usage: Any) -> Usage:
    prompt, completion = getattr(usage, "prompt_tokens_details", None), getattr(usage, "completion_tokens_details", None)
    return Usage(
        prompt=_count(usage, "prompt_tokens"),
        completion=_count(usage, "completion_tokens"),
        cached=_count(prompt, "cached_tokens"),
        reasoning=_count(completion, "reasoning_tokens"),
        cache_write=_count(prompt, "cache_write_tokens"),
    )


def _count(holder: Any, name: str) -> int:
    return int(getattr(holder, name, None) or 0)


def _known_cost(response: Any) -> float | None:
    """litellm's own figure; None where it does not know the model's price (never 0 for unknown)."""
    cost = (getattr(response, "_hidden_params", None) or {}).get("response_cost")
    return float(cost) if cost is not None else None
