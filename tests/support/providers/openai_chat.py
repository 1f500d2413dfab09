"""OpenAI chat completions: https://platform.openai.com/docs/api-reference/chat."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.support.providers.shape import CACHED, COMPLETION, PROMPT, REASONING, Shape
from tests.support.providers.wire import Answer, Seen

ANSWERED = "gpt-5.1-2025-11-13"
USAGE = {
    "prompt_tokens": PROMPT,
    "completion_tokens": COMPLETION,
    "total_tokens": PROMPT + COMPLETION,
    "prompt_tokens_details": {"cached_tokens": CACHED, "audio_tokens": 0},
    "completion_tokens_details": {
        "reasoning_tokens": REASONING,
        "audio_tokens": 0,
        "accepted_prediction_tokens": 0,
        "rejected_prediction_tokens": 0,
    },
}


def completion(message: Mapping[str, Any], finish: str) -> Answer:
    said = {"role": "assistant", "content": None, "refusal": None, "annotations": [], **message}
    return Answer(
        {
            "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
            "object": "chat.completion",
            "created": 1741569952,
            "model": ANSWERED,
            "choices": [{"index": 0, "message": said, "logprobs": None, "finish_reason": finish}],
            "usage": USAGE,
            "service_tier": "default",
            "system_fingerprint": "fp_50cad350e4",
        },
        headers={"x-request-id": "req_1", "openai-processing-ms": "12"},
    )


def call(name: str, arguments: Mapping[str, Any]) -> Answer:
    made = {"id": "call_abc123", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return completion({"tool_calls": [made]}, "tool_calls")


def words(text: str) -> Answer:
    return completion({"content": text}, "stop")


def error(status: int, message: str, kind: str, code: str | None, headers: Mapping[str, str] | None = None) -> Answer:
    return Answer({"error": {"message": message, "type": kind, "param": None, "code": code}}, status, headers or {})


def _limits(requests: int, tokens: int, reset_requests: str, reset_tokens: str) -> dict[str, str]:
    return {
        "x-ratelimit-limit-requests": "60",
        "x-ratelimit-limit-tokens": "150000",
        "x-ratelimit-remaining-requests": str(requests),
        "x-ratelimit-remaining-tokens": str(tokens),
        "x-ratelimit-reset-requests": reset_requests,
        "x-ratelimit-reset-tokens": reset_tokens,
    }


SLOW_DOWN = "Rate limit reached for gpt-5.1 in organization org-x on tokens per min (TPM): Limit 150000, Used 149000."
QUOTA = (
    "You exceeded your current quota, please check your plan and billing details. For more information on this error, read the "
    "docs: https://platform.openai.com/docs/guides/error-codes/api-errors."
)
LIMITED = {
    "reset of tokens": (error(429, SLOW_DOWN, "tokens", "rate_limit_exceeded", _limits(59, 0, "1s", "6m0s")), 360.0),
    "reset of requests": (error(429, SLOW_DOWN, "requests", "rate_limit_exceeded", _limits(0, 9, "1m30.5s", "1s")), 90.5),
    "words": (
        error(429, f"{SLOW_DOWN} Please try again in 1m2.5s.", "tokens", "rate_limit_exceeded", _limits(59, 900, "1s", "2s")),
        62.5,
    ),
    "retry-after": (
        error(429, SLOW_DOWN, "tokens", "rate_limit_exceeded", {"retry-after": "7", "retry-after-ms": "6500"}),
        6.5,
    ),
}
FAILURES = {
    "key": (error(401, "Incorrect API key provided.", "invalid_request_error", "invalid_api_key"), "auth", True, True),
    "model": (
        error(
            404, "The model `gpt-9` does not exist or you do not have access to it.", "invalid_request_error", "model_not_found"
        ),
        "not_found",
        True,
        True,
    ),
    "quota": (error(429, QUOTA, "insufficient_quota", "insufficient_quota"), "quota", True, True),
    "context": (
        error(
            400,
            "This model's maximum context length is 400000 tokens. However, your messages resulted in 500000 tokens.",
            "invalid_request_error",
            "context_length_exceeded",
        ),
        "context_length",
        True,
        False,
    ),
    "server": (
        error(500, "The server had an error while processing your request. Sorry about that!", "server_error", None),
        "server_error",
        False,
        False,
    ),
    "busy": (
        error(503, "The engine is currently overloaded, please try again later.", "server_error", None),
        "overloaded",
        False,
        False,
    ),
}


def bearer(seen: Seen, key: str) -> bool:
    return seen.headers.get("authorization") == f"Bearer {key}" and key not in seen.target


SHAPE = Shape(
    name="openai chat",
    model="openai/gpt-5.1",
    answered=ANSWERED,
    key_env="OPENAI_API_KEY",
    base=lambda url: f"{url}/v1",
    key=bearer,
    path="/v1/chat/completions",
    tools=lambda body: [(one["function"]["name"], one["function"]["parameters"]) for one in body["tools"]],
    forced=lambda body: body["tool_choice"]["function"]["name"],
    schema=lambda body: body["response_format"]["json_schema"]["schema"],
    system=lambda body: body["messages"][0]["content"],
    result=lambda body: body["messages"][-1]["content"],
    call=call,
    words=words,
    refusals={
        "refusal": completion({"refusal": "I'm sorry, I cannot assist with that request."}, "stop"),
        "content_filter": completion({"content": ""}, "content_filter"),
    },
    cut=completion({"content": '{"score": 7, "lab'}, "length"),
    limited=LIMITED,
    failures=FAILURES,
    cost=(400 * 1.25 + 600 * 0.125 + 200 * 10) / 1e6,
)
