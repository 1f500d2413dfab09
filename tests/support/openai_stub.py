"""A scripted OpenAI-compatible server on loopback: `with OpenAIStub() as stub: ... stub.url`.

Unscripted requests get a valid answer to whatever tool or response schema they carry, derived from a hash of the request:
equal requests get equal answers, whatever the order. Scripts put other behaviour in front: rate limits, broken answers,
dropped connections. Everything that arrives is kept in `requests`. For people: `python -m tests.support.openai_stub --port N`.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import math
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from tests.support.schema_answers import answer_to

MODEL_SUFFIX = "-stub"


@dataclass(frozen=True)
class Act:
    """What happens to one request. Without a change it is answered validly, as `stop`."""

    text: str | None = None
    message: Mapping[str, Any] | None = None
    change: Callable[[dict[str, Any]], Any] | None = None
    refuse: str | None = None
    finish: str | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    error: Mapping[str, Any] | None = None
    raw: bytes | None = None
    delay: float = 0.0
    count: int = 0
    drop: bool = False
    model: str | None = None
    usage: Mapping[str, Any] | None = None


VALID = Act()
MALFORMED = Act(text='{"score": 7, "reason": "cut')
REFUSAL = Act(refuse="I cannot help with that.")
TRUNCATED = Act(text='{"score"', finish="length")
FILTERED = Act(text="", finish="content_filter")
DROPPED = Act(drop=True)
EMPTY = Act(text="")


def saying(value: Any) -> Act:
    """This very answer, right or wrong."""
    return Act(text=value if isinstance(value, str) else json.dumps(value))


def without(name: str) -> Act:
    """A valid answer that lacks a field."""
    return Act(change=lambda answer: {key: value for key, value in answer.items() if key != name})


def failing(status: int, message: str = "no", *, code: str | None = None, headers: Mapping[str, str] | None = None) -> Act:
    """An HTTP error with an OpenAI-style body."""
    return Act(status=status, headers=headers or {}, error={"message": message, "type": "error", "code": code})


def slow(seconds: float) -> Act:
    return Act(delay=seconds)


def together(count: int) -> Act:
    """Answers nobody before `count` requests have come, whatever time that takes."""
    return Act(count=count)


def named(model: str) -> Act:
    """Answers under another model name."""
    return Act(model=model)


@dataclass(frozen=True)
class Seen:
    """One request as it arrived; times are seconds on the monotonic clock."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    at: float
    method: str = "POST"
    data: bytes = b""


@dataclass
class _Script:
    when: Callable[[dict[str, Any]], bool]
    acts: list[Act]
    forever: bool


class OpenAIStub:
    """The server, in a thread of its own. `most` is the highest number of requests that were being answered at once."""

    def __init__(self, *, port: int = 0, latency: float = 0.0, sigma: float = 0.5) -> None:
        """`latency` is the median of a log-normal delay in seconds, `sigma` its shape; 0 answers at once."""
        self.requests: list[Seen] = []
        self.open = 0
        self.most = 0
        self._port = port
        self._latency, self._sigma = latency, sigma
        self._scripts: list[_Script] = []
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="openai-stub", daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [seen.body for seen in self.requests]

    def script(self, *acts: Act, when: Callable[[dict[str, Any]], bool] = lambda body: True) -> None:
        """The next matching requests get these, one each, in order."""
        self._scripts.append(_Script(when, list(acts), forever=False))

    def always(self, act: Act, when: Callable[[dict[str, Any]], bool] = lambda body: True) -> None:
        """Every matching request gets this one."""
        self._scripts.append(_Script(when, [act], forever=True))

    def forget(self) -> None:
        """Starts afresh at the same address: no requests seen, no scripts."""
        self.requests.clear()
        self._scripts.clear()
        self.most = 0

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def stop(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join()

    def serve_forever(self) -> None:
        """Serves in the calling thread until interrupted."""
        self._run()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._stopping = asyncio.Event()
        server = await asyncio.start_server(self._connected, "127.0.0.1", self._port, backlog=1024)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stopping.wait()
        server.close()
        own = asyncio.current_task()
        tasks = [task for task in asyncio.all_tasks() if task is not own]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (seen := await _read_request(reader)) is not None:
                self.requests.append(seen)
                self.open += 1
                self.most = max(self.most, self.open)
                try:
                    reply = await self._respond(seen)
                finally:
                    self.open -= 1
                if reply is None:
                    writer.transport.abort()
                    return
                writer.write(reply)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _respond(self, seen: Seen) -> bytes | None:
        act = self.next_act(seen.body)
        seed = seed_of(seen.body)
        if wait := act.delay or self._delay(seed):
            await asyncio.sleep(wait)
        while len(self.requests) < act.count:
            await asyncio.sleep(0.01)
        if act.drop:
            return None
        if act.raw is not None:
            return http_response(act.status, act.raw, act.headers)
        if act.status != 200:
            return http_response(act.status, json.dumps({"error": act.error}).encode(), act.headers)
        make = _anthropic_message if seen.path.endswith("/messages") else chat_completion
        return http_response(200, json.dumps(make(seen.body, act, seed)).encode(), act.headers)

    def next_act(self, body: dict[str, Any]) -> Act:
        for script in self._scripts:
            if script.acts and script.when(body):
                return script.acts[0] if script.forever else script.acts.pop(0)
        return VALID

    def _delay(self, seed: str) -> float:
        if not self._latency:
            return 0.0
        return random.Random(seed).lognormvariate(math.log(self._latency), self._sigma)


def seed_of(body: Mapping[str, Any]) -> str:
    """What the answer to a request is derived from."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _answer_text(schema: dict[str, Any], body: dict[str, Any], act: Act, seed: str) -> str:
    if act.text is not None:
        return act.text
    prompt = "\n".join(str(message["content"]) for message in body["messages"])
    answer = answer_to(schema, seed, prompt) if schema else {"text": "ok"}
    return json.dumps(act.change(answer) if act.change else answer, ensure_ascii=False)


def chat_completion(body: dict[str, Any], act: Act, seed: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None}
    finish = act.finish or "stop"
    if act.message is not None:
        message |= act.message
        finish = act.finish or ("tool_calls" if message.get("tool_calls") else "stop")
    elif act.refuse is not None:
        message |= {"content": None, "refusal": act.refuse}
    elif tools := body.get("tools"):
        function = tools[0]["function"]
        text = _answer_text(function["parameters"], body, act, seed)
        call = {"id": f"call_{seed[:12]}", "type": "function", "function": {"name": function["name"], "arguments": text}}
        message["tool_calls"] = [call]
        finish = act.finish or "tool_calls"
    else:
        message["content"] = _answer_text(_json_schema(body), body, act, seed)
    usage = act.usage or {"prompt_tokens": len(json.dumps(body["messages"])) // 4, "completion_tokens": 20}
    return {
        "id": f"chatcmpl-{seed[:12]}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": act.model or f"{body['model']}{MODEL_SUFFIX}",
        "system_fingerprint": "fp_stub",
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": {"total_tokens": usage["prompt_tokens"] + usage["completion_tokens"], **usage},
    }


def _anthropic_message(body: dict[str, Any], act: Act, seed: str) -> dict[str, Any]:
    tool = body["tools"][0]
    text = _answer_text(tool["input_schema"], body, act, seed)
    return {
        "id": f"msg_{seed[:12]}",
        "type": "message",
        "role": "assistant",
        "model": act.model or body["model"],
        "content": [{"type": "tool_use", "id": f"toolu_{seed[:12]}", "name": tool["name"], "input": json.loads(text)}],
        "stop_reason": act.finish or "tool_use",
        "usage": {"input_tokens": 120, "output_tokens": 20, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 0},
    }


def _json_schema(body: dict[str, Any]) -> dict[str, Any]:
    """The schema of `response_format`, or the first JSON object in a message that looks like one (plain JSON mode)."""
    wanted = body.get("response_format") or {}
    if wanted.get("type") == "json_schema":
        schema: dict[str, Any] = wanted["json_schema"]["schema"]
        return schema
    decoder = json.JSONDecoder()
    for message in body["messages"]:
        content, start = str(message["content"]), -1
        while (start := content.find("{\n", start + 1)) >= 0:
            try:
                found, _ = decoder.raw_decode(content, start)
            except ValueError:
                continue
            if isinstance(found, dict) and "properties" in found:
                return found
    return {}


async def _read_request(reader: asyncio.StreamReader) -> Seen | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    data = await reader.readexactly(int(headers.get("content-length", "0")))
    method, path = first.split()[:2]
    body = json.loads(data) if data and "json" in headers.get("content-type", "json") else {}
    return Seen(path, headers, body, time.monotonic(), method, data)


def http_response(status: int, data: bytes, headers: Mapping[str, str]) -> bytes:
    sent = {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
    return f"HTTP/1.1 {status} Status\r\n{head}\r\n".encode("latin-1") + data


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="An OpenAI-compatible server that answers any schema, on loopback.")
    parser.add_argument("--port", type=int, default=8001)
    parser.add_argument("--latency", type=float, default=0.0, help="median of a log-normal delay, in seconds")
    parser.add_argument("--sigma", type=float, default=0.5, help="shape of the delay")
    given = parser.parse_args(arguments)
    stub = OpenAIStub(port=given.port, latency=given.latency, sigma=given.sigma)
    print(f"judge=litellm judge.litellm.model=openai/anything judge.litellm.api_base={stub.url}")  # noqa: T201
    try:
        stub.serve_forever()
    except KeyboardInterrupt:
        print(f"{len(stub.requests)} requests, at most {stub.most} at once")  # noqa: T201


if __name__ == "__main__":
    main()
