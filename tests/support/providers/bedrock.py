"""Bedrock converse: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, with an API key."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.providers.openai_chat import bearer
from tests.support.providers.shape import CACHED, COMPLETION, PROMPT, WRITTEN, Shape
from tests.support.providers.wire import Answer

ID = "anthropic.claude-sonnet-4-5-20250929-v1:0"


def output(content: Sequence[Mapping[str, Any]], stop: str) -> Answer:
    return Answer(
        {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": stop,
            "usage": {
                "inputTokens": PROMPT - CACHED - WRITTEN,
                "outputTokens": COMPLETION,
                "totalTokens": PROMPT + COMPLETION,
                "cacheReadInputTokens": CACHED,
                "cacheWriteInputTokens": WRITTEN,
            },
            "metrics": {"latencyMs": 551},
        },
        headers={"x-amzn-requestid": "5c1f0d2e"},
    )


def call(name: str, arguments: Mapping[str, Any]) -> Answer:
    return output([{"toolUse": {"toolUseId": "tooluse_kZJMlvQmRJ6eAyJE5GIl7Q", "name": name, "input": arguments}}], "tool_use")


def error(status: int, kind: str, said: str) -> Answer:
    return Answer({"message": said}, status, {"x-amzn-errortype": kind})


def _tools(body: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    specs = [one["toolSpec"] for one in body["toolConfig"]["tools"] if "toolSpec" in one]
    return [(one["name"], one["inputSchema"]["json"]) for one in specs]


def _result(body: Mapping[str, Any]) -> str:
    (part,) = (part for part in body["messages"][-1]["content"] if "toolResult" in part)
    return str(part["toolResult"]["content"][0]["text"])


def _schema(body: Mapping[str, Any]) -> Mapping[str, Any]:
    given = body["outputConfig"]["textFormat"]
    assert given["type"] == "json_schema"
    schema: Mapping[str, Any] = json.loads(given["structure"]["jsonSchema"]["schema"])
    return schema


SHAPE = Shape(
    name="bedrock",
    model=f"bedrock/{ID}",
    answered=ID,
    key_env="AWS_BEARER_TOKEN_BEDROCK",
    base=lambda url: url,
    key=bearer,
    path=f"/model/{ID.replace(':', '%3A')}/converse",
    tools=_tools,
    forced=lambda body: body["toolConfig"]["toolChoice"]["tool"]["name"],
    schema=_schema,
    system=lambda body: body["system"][0]["text"],
    result=_result,
    call=call,
    words=lambda text: output([{"text": text}], "end_turn"),
    refusals={
        "content_filtered": output([], "content_filtered"),
        "guardrail": output([{"text": "Sorry, the model cannot answer this question."}], "guardrail_intervened"),
    },
    cut=output([{"text": '{"score": 7, "lab'}], "max_tokens"),
    limited={},
    failures={
        "throttled": (
            error(429, "ThrottlingException", "Too many requests, please wait before trying again."),
            "rate_limited",
            False,
            False,
        ),
        "tokens a day": (
            error(429, "ThrottlingException", "Too many tokens per day, please wait before trying again."),
            "rate_limited",
            False,
            False,
        ),
        "key": (
            error(403, "AccessDeniedException", "The security token included in the request is invalid."),
            "auth",
            True,
            True,
        ),
        "model": (error(404, "ResourceNotFoundException", "Could not resolve the foundation model."), "not_found", True, True),
        "context": (error(400, "ValidationException", "Input is too long for requested model."), "context_length", True, False),
        "server": (
            error(500, "InternalServerException", "The system encountered an unexpected error."),
            "overloaded",
            False,
            False,
        ),  # litellm makes 503 of it
        "busy": (
            error(503, "ServiceUnavailableException", "Bedrock is unable to process your request."),
            "overloaded",
            False,
            False,
        ),
        "late": (
            error(408, "ModelTimeoutException", "Model has timed out in processing the request."),
            "timeout",
            False,
            False,
        ),
    },
    cost=(300 * 3 + 600 * 0.3 + 100 * 3.75 + 200 * 15) / 1e6,
    written=WRITTEN,
    reasoning=0,
    keys={"max_tokens": 500},
)
