"""Gemini generateContent: https://ai.google.dev/api/generate-content. Thoughts are counted beside the candidates' tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.providers.shape import CACHED, COMPLETION, PROMPT, REASONING, Shape
from tests.support.providers.wire import Answer, Seen

ANSWERED = "gemini-2.5-flash"


def _usage(candidates: int = COMPLETION - REASONING, thoughts: int = REASONING) -> dict[str, Any]:
    return {
        "promptTokenCount": PROMPT,
        "cachedContentTokenCount": CACHED,
        "candidatesTokenCount": candidates,
        "thoughtsTokenCount": thoughts,
        "totalTokenCount": PROMPT + candidates + thoughts,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": PROMPT}],
        "cacheTokensDetails": [{"modality": "TEXT", "tokenCount": CACHED}],
    }


def candidate(parts: Sequence[Mapping[str, Any]] | None, finish: str) -> Answer:
    one: dict[str, Any] = {"finishReason": finish, "index": 0}
    if parts is not None:
        one["content"] = {"parts": parts, "role": "model"}
    return Answer(
        {"candidates": [one], "usageMetadata": _usage(), "modelVersion": ANSWERED, "responseId": "mAitaLmkHPPlz7IPvtfUqQ4"}
    )


def call(name: str, arguments: Mapping[str, Any]) -> Answer:
    return candidate([{"functionCall": {"name": name, "args": arguments}, "thoughtSignature": "Q2tRQg=="}], "STOP")


def words(text: str) -> Answer:
    return candidate([{"text": text}], "STOP")


def blocked(reason: str) -> Answer:
    usage = {"promptTokenCount": PROMPT, "totalTokenCount": PROMPT}
    return Answer({"promptFeedback": {"blockReason": reason}, "usageMetadata": usage, "modelVersion": ANSWERED})


def error(code: int, status: str, said: str, *details: Mapping[str, Any]) -> Answer:
    body: dict[str, Any] = {"code": code, "message": said, "status": status}
    return Answer({"error": {**body, "details": details} if details else body}, code)


def _exhausted(quota: str, delay: str | None) -> Answer:
    said = (
        "You exceeded your current quota, please check your plan and billing details. For more information on this error, head "
        "to: https://ai.google.dev/gemini-api/docs/rate-limits.\n* Quota exceeded for metric: "
        f"generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 5\nPlease retry in {delay or '7s'}."
    )
    violation = {
        "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
        "quotaId": quota,
        "quotaDimensions": {"location": "global", "model": "gemini-2.5-flash"},
        "quotaValue": "5",
    }
    details: list[dict[str, Any]] = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]},
        {
            "@type": "type.googleapis.com/google.rpc.Help",
            "links": [{"description": "Learn more", "url": "https://ai.google.dev"}],
        },
    ]
    if delay:
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})
    return error(429, "RESOURCE_EXHAUSTED", said, *details)


BAD_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}
TOO_LONG = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."


def _key(seen: Seen, key: str) -> bool:
    return seen.headers.get("x-goog-api-key") == key and key not in seen.target and "authorization" not in seen.headers


def _functions(body: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    found = [one for tool in body["tools"] for one in tool.get("function_declarations", tool.get("functionDeclarations", []))]
    return [(one["name"], one.get("parameters") or one.get("parametersJsonSchema")) for one in found]


def _forced(body: Mapping[str, Any]) -> str:
    config = body.get("toolConfig", body.get("tool_config", {}))
    calling = config.get("functionCallingConfig", config.get("function_calling_config", {}))
    assert calling["mode"] == "ANY"
    (name,) = calling.get("allowedFunctionNames", calling.get("allowed_function_names"))
    return str(name)


def _schema(body: Mapping[str, Any]) -> Mapping[str, Any]:
    config = body["generationConfig"]
    assert config.get("responseMimeType", config.get("response_mime_type")) == "application/json"
    schema: Mapping[str, Any] = (
        config.get("responseJsonSchema")
        or config.get("responseSchema")
        or config.get("response_json_schema")
        or config["response_schema"]
    )
    return schema


def _system(body: Mapping[str, Any]) -> str:
    given = body.get("system_instruction") or body["systemInstruction"]
    return str(given["parts"][0]["text"])


def _result(body: Mapping[str, Any]) -> str:
    part = body["contents"][-1]["parts"][0]
    answered = part.get("function_response") or part["functionResponse"]
    return str(answered["response"])


SHAPE = Shape(
    name="gemini",
    model="gemini/gemini-2.5-flash",
    answered=ANSWERED,
    key_env="GEMINI_API_KEY",
    base=lambda url: f"{url}/v1beta",
    key=_key,
    path="/v1beta/models/gemini-2.5-flash:generateContent",
    tools=_functions,
    forced=_forced,
    schema=_schema,
    system=_system,
    result=_result,
    call=call,
    words=words,
    refusals={
        "SAFETY": candidate(None, "SAFETY"),
        "RECITATION": candidate(None, "RECITATION"),
        "PROHIBITED_CONTENT": candidate([], "PROHIBITED_CONTENT"),
        "prompt blocked": blocked("SAFETY"),
        "prompt prohibited": blocked("PROHIBITED_CONTENT"),
    },
    cut=candidate([{"text": '{"score": 7, "lab'}], "MAX_TOKENS"),
    limited={
        "RetryInfo": (_exhausted("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "34.074824224s"), 34.074824224),
    },
    failures={
        "key": (error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", BAD_KEY), "auth", True, True),
        "permission": (error(403, "PERMISSION_DENIED", "Permission denied: Consumer suspended."), "auth", True, True),
        "model": (error(404, "NOT_FOUND", "models/gemini-9 is not found for API version v1beta."), "not_found", True, True),
        "quota of a day": (_exhausted("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "34.07s"), "quota", True, True),
        "context": (error(400, "INVALID_ARGUMENT", TOO_LONG), "context_length", True, False),
        "server": (error(500, "INTERNAL", "An internal error has occurred."), "server_error", False, False),
        "busy": (error(503, "UNAVAILABLE", "The model is overloaded. Please try again later."), "overloaded", False, False),
        "late": (error(504, "DEADLINE_EXCEEDED", "The request timed out. Please try again."), "timeout", False, False),
    },
    cost=(400 * 0.3 + 600 * 0.03 + 200 * 2.5) / 1e6,
)
