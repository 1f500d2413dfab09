"""The request as the provider would get it, kept instead of sent: litellm words it for a client that reaches nobody.

So a request that travels in a batch has the very body that it would have had on its own.
"""

from __future__ import annotations

import json
from contextvars import ContextVar
from typing import Any

import httpx
from openai import AsyncOpenAI

from dreambench.judges.llm.client import Ask, load, request_of

CHAT = "/chat/completions"
_NOWHERE = "http://127.0.0.1:9/v1"
"""The discard port of this machine: a request that went past our client would end there."""
_KEPT: ContextVar[list[httpx.Request]] = ContextVar("dreambench_kept")
_NOTHING = {"index": 0, "message": {"role": "assistant", "content": ""}, "finish_reason": "stop"}
_ANSWER = {"id": "kept", "object": "chat.completion", "created": 0, "model": "kept", "choices": [_NOTHING]}


class _Keeping(httpx.AsyncBaseTransport):
    """Keeps a request and answers with an empty completion, without a network."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        _KEPT.get().append(request)
        return httpx.Response(200, json=_ANSWER, request=request)


def keeping_client() -> AsyncOpenAI:
    """A client for `wire_body`; it holds no connection."""
    reached = httpx.AsyncClient(transport=_Keeping(), trust_env=False)
    return AsyncOpenAI(api_key="none", base_url=_NOWHERE, max_retries=0, http_client=reached)  # type: ignore[arg-type]  # or httpx2


async def wire_body(ask: Ask, client: AsyncOpenAI) -> dict[str, Any] | None:
    """The JSON body of `ask` as a chat completion; None for a model that litellm asks through another interface.

    Raises what litellm raises for parameters that the provider does not take.
    """
    kept: list[httpx.Request] = []
    token = _KEPT.set(kept)
    failed: Exception | None = None
    try:
        await load().litellm.acompletion(
            **request_of(ask), client=client, api_base=_NOWHERE, api_key="none", num_retries=0, max_retries=0
        )
    except Exception as error:  # raised below, when no request came through
        failed = error
    finally:
        _KEPT.reset(token)
    if kept:
        body: dict[str, Any] = json.loads(kept[0].content)
        return body if kept[0].url.path.endswith(CHAT) else None
    if failed is not None and type(failed).__name__ in ("UnsupportedParamsError", "BadRequestError"):
        raise failed
    return None
