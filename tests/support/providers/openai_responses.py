"""OpenAI responses: https://platform.openai.com/docs/api-reference/responses. litellm asks some models through it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.providers import openai_chat
from tests.support.providers.shape import CACHED, COMPLETION, PROMPT, REASONING, Shape
from tests.support.providers.wire import Answer

ANSWERED = "gpt-5.1-2025-11-13"
THOUGHT = {"type": "reasoning", "id": "rs_6876cf02e0bc8192b74af0fb64b715ff", "summary": []}


def response(output: Sequence[Mapping[str, Any]], status: str = "completed", why: str | None = None) -> Answer:
    return Answer(
        {
            "id": "resp_67ccd2bed1ec8190b14f964abc054267",
            "object": "response",
            "created_at": 1741476542,
            "status": status,
            "error": None,
            "incomplete_details": {"reason": why} if why else None,
            "instructions": None,
            "max_output_tokens": None,
            "model": ANSWERED,
            "output": [THOUGHT, *output],
            "parallel_tool_calls": True,
            "previous_response_id": None,
            "reasoning": {"effort": None, "summary": None},
            "store": False,
            "temperature": 1.0,
            "text": {"format": {"type": "text"}},
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "truncation": "disabled",
            "usage": {
                "input_tokens": PROMPT,
                "input_tokens_details": {"cached_tokens": CACHED},
                "output_tokens": COMPLETION,
                "output_tokens_details": {"reasoning_tokens": REASONING},
                "total_tokens": PROMPT + COMPLETION,
            },
            "user": None,
            "metadata": {},
        }
    )


def message(*content: Mapping[str, Any], status: str = "completed") -> dict[str, Any]:
    shared = {"type": "message", "id": "msg_67ccd2bf17f0819081ff3bb2cf6508e6", "role": "assistant"}
    return {**shared, "status": status, "content": content}


def call(name: str, arguments: Mapping[str, Any]) -> Answer:
    made = {"type": "function_call", "id": "fc_67ca09c5efe0", "call_id": "call_unLAR8MvFNptuiZK6K6HCy5k"}
    return response([{**made, "name": name, "arguments": json.dumps(arguments), "status": "completed"}])


def text(said: str) -> dict[str, Any]:
    return {"type": "output_text", "text": said, "annotations": [], "logprobs": []}


def _system(body: Mapping[str, Any]) -> str:
    first = body["input"][0]
    return str(body.get("instructions") or first["content"])


SHAPE = Shape(
    name="openai responses",
    model="openai/responses/gpt-5.1",
    answered=ANSWERED,
    key_env="OPENAI_API_KEY",
    base=lambda url: f"{url}/v1",
    key=openai_chat.bearer,
    path="/v1/responses",
    tools=lambda body: [(one["name"], one["parameters"]) for one in body["tools"]],
    forced=lambda body: body["tool_choice"]["name"],
    schema=lambda body: body["text"]["format"]["schema"],
    system=_system,
    result=lambda body: str(body["input"][-1]["output"]),
    call=call,
    words=lambda said: response([message(text(said))]),
    refusals={
        "refusal": response([message({"type": "refusal", "refusal": "I'm sorry, I cannot assist with that request."})]),
        "content_filter": response([message(text(""), status="incomplete")], "incomplete", "content_filter"),
    },
    cut=response([message(text('{"score": 7, "lab'), status="incomplete")], "incomplete", "max_output_tokens"),
    limited=openai_chat.LIMITED,
    failures=openai_chat.FAILURES,
    cost=(400 * 1.25 + 600 * 0.125 + 200 * 10) / 1e6,
)
