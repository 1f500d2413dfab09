"""Anthropic messages: https://docs.anthropic.com/en/api/messages. Thinking is counted within output tokens, not apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.providers.shape import CACHED, COMPLETION, PROMPT, WRITTEN, Shape
from tests.support.providers.wire import Answer, Seen

ANSWERED = "claude-sonnet-4-5-20250929"


def message(content: Sequence[Mapping[str, Any]], stop: str) -> Answer:
    return Answer(
        {
            "id": "msg_013Zva2CMHLNnXjNJJKqJ2EF",
            "type": "message",
            "role": "assistant",
            "model": ANSWERED,
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {
                "input_tokens": PROMPT - CACHED - WRITTEN,
                "cache_creation_input_tokens": WRITTEN,
                "cache_read_input_tokens": CACHED,
                "cache_creation": {"ephemeral_5m_input_tokens": WRITTEN, "ephemeral_1h_input_tokens": 0},
                "output_tokens": COMPLETION,
                "service_tier": "standard",
            },
        },
        headers={"request-id": "req_018EeWyXxfu5pfWkrYcMdjWG"},
    )


def call(name: str, arguments: Mapping[str, Any]) -> Answer:
    return message([{"type": "tool_use", "id": "toolu_01D7FLrfh4GYq7yT1ULFeyMV", "name": name, "input": arguments}], "tool_use")


def words(text: str) -> Answer:
    return message([{"type": "text", "text": text}], "end_turn")


def error(status: int, kind: str, said: str, headers: Mapping[str, str] | None = None) -> Answer:
    body = {"type": "error", "error": {"type": kind, "message": said}, "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy"}
    return Answer(body, status, headers or {})


SLOW_DOWN = "This request would exceed your organization's rate limit of 30,000 input tokens per minute."
TOO_LONG = "prompt is too long: 250000 tokens > 200000 maximum"
POOR = (
    "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."
)


def _key(seen: Seen, key: str) -> bool:
    shown = seen.headers.get("x-api-key") == key and "authorization" not in seen.headers and key not in seen.target
    return shown and seen.headers.get("anthropic-version") == "2023-06-01"


def _system(body: Mapping[str, Any]) -> str:
    system = body["system"]
    return system if isinstance(system, str) else "\n".join(part["text"] for part in system)


def _result(body: Mapping[str, Any]) -> str:
    (part,) = (part for part in body["messages"][-1]["content"] if part["type"] == "tool_result")
    said = part["content"]
    return said if isinstance(said, str) else said[0]["text"]


def _schema(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Structured outputs, under the field's first name or the one that it got later."""
    given = body.get("output_format") or body["output_config"]["format"]
    assert given["type"] == "json_schema"
    schema: Mapping[str, Any] = given["schema"]
    return schema


SHAPE = Shape(
    name="anthropic",
    model="anthropic/claude-sonnet-4-5-20250929",
    answered=ANSWERED,
    key_env="ANTHROPIC_API_KEY",
    base=lambda url: url,
    key=_key,
    path="/v1/messages",
    tools=lambda body: [(one["name"], one["input_schema"]) for one in body["tools"]],
    forced=lambda body: body["tool_choice"]["name"],
    schema=_schema,
    system=_system,
    result=_result,
    call=call,
    words=words,
    refusals={
        "refusal": message([], "refusal"),
        "refusal with words": message([{"type": "text", "text": "I can't help with that."}], "refusal"),
    },
    cut=message([{"type": "text", "text": '{"score": 7, "lab'}], "max_tokens"),
    limited={
        "retry-after": (error(429, "rate_limit_error", SLOW_DOWN, {"retry-after": "17"}), 17.0),
        "reset of input tokens": (
            error(
                429,
                "rate_limit_error",
                SLOW_DOWN,
                {
                    "anthropic-ratelimit-requests-limit": "50",
                    "anthropic-ratelimit-requests-remaining": "49",
                    "anthropic-ratelimit-requests-reset": "2026-01-01T12:00:01Z",
                    "anthropic-ratelimit-input-tokens-limit": "30000",
                    "anthropic-ratelimit-input-tokens-remaining": "0",
                    "anthropic-ratelimit-input-tokens-reset": "2026-01-01T12:00:42Z",
                },
            ),
            42.0,
        ),
    },
    failures={
        "key": (error(401, "authentication_error", "invalid x-api-key"), "auth", True, True),
        "permission": (error(403, "permission_error", "Your API key does not have permission."), "auth", True, True),
        "model": (error(404, "not_found_error", "model: claude-9"), "not_found", True, True),
        "quota": (error(400, "invalid_request_error", POOR), "quota", True, True),
        "context": (error(400, "invalid_request_error", TOO_LONG), "context_length", True, False),
        "size": (error(413, "request_too_large", "Request exceeds the maximum size"), "bad_request", True, False),
        "server": (error(500, "api_error", "Internal server error"), "server_error", False, False),
        "busy": (error(529, "overloaded_error", "Overloaded"), "overloaded", False, False),
    },
    cost=(300 * 3 + 600 * 0.3 + 100 * 3.75 + 200 * 15) / 1e6,
    written=WRITTEN,
    reasoning=0,
    keys={"max_tokens": 500},
)
