"""The scripted server with OpenAI's files and batches: `/v1/files`, `/v1/batches`, `/v1/files/ID/content`.

Requests of a batch are answered as they would be on their own, scripts included, when the batch is first seen to have ended.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from email import message_from_bytes
from email.policy import HTTP
from typing import Any

from tests.support.openai_stub import OpenAIStub, Seen, chat_completion, http_response, seed_of


@dataclass
class _Batch:
    """One batch; `ends` is how it will end, `status` how it stands."""

    id: str
    input: str
    metadata: Mapping[str, str]
    ends: str
    status: str = "in_progress"
    output: str | None = None
    errors: str | None = None
    why: str = ""


class BatchStub(OpenAIStub):
    """While `held`, no batch ends. `endings` are the last states of the next batches, in order; else they are completed."""

    def __init__(self) -> None:
        super().__init__()
        self.held = False
        self.endings: list[str] = []
        self.created: list[_Batch] = []
        self.refuse: list[tuple[str, int]] = []
        self.answer_late = False
        self._files: dict[str, bytes] = {}

    @property
    def asked_now(self) -> list[dict[str, Any]]:
        """Requests that were sent on their own."""
        return [seen.body for seen in self.requests if seen.path.endswith("/chat/completions")]

    @property
    def batched(self) -> list[dict[str, Any]]:
        """Lines of all batches: `custom_id`, `body`."""
        return [line for batch in self.created for line in self._lines(batch.input)]

    def looks(self, what: str) -> int:
        """How many requests went to a path that starts so (after /v1)."""
        return sum(seen.path.startswith(f"/v1{what}") for seen in self.requests)

    def forget(self) -> None:
        super().forget()
        self.held, self.endings, self.created, self.refuse, self._files = False, [], [], [], {}
        self.answer_late = False

    async def _respond(self, seen: Seen) -> bytes | None:
        path, method = seen.path.partition("?")[0].removeprefix("/v1"), seen.method
        for number, (begin, status) in enumerate(self.refuse):
            if f"{method} {path}".startswith(begin):
                del self.refuse[number]
                return http_response(status, json.dumps({"error": {"message": "no", "type": "error"}}).encode(), {})
        if (method, path) == ("POST", "/files"):
            return _json(self._file(_upload(seen)))
        if (method, path) == ("POST", "/batches"):
            made = self._create(seen.body)
            return None if self.answer_late else _json(made)
        if (method, path) == ("GET", "/batches"):
            data = [self._shown(batch) for batch in reversed(self.created)]
            return _json({"object": "list", "data": data, "has_more": False})
        if method == "GET" and path.startswith("/batches/"):
            return self._batch(path.removeprefix("/batches/"))
        if method == "GET" and path.endswith("/content"):
            return http_response(200, self._files[path.split("/")[2]], {"Content-Type": "application/octet-stream"})
        return await super()._respond(seen)

    def _file(self, data: bytes) -> dict[str, Any]:
        name = f"file-{len(self._files)}"
        self._files[name] = data
        shown = {"object": "file", "created_at": 0, "filename": "b.jsonl", "purpose": "batch", "status": "processed"}
        return {"id": name, "bytes": len(data), **shown}

    def _create(self, body: Mapping[str, Any]) -> dict[str, Any]:
        ends = self.endings.pop(0) if self.endings else "completed"
        batch = _Batch(f"batch_{len(self.created)}", body["input_file_id"], body.get("metadata") or {}, ends)
        self.created.append(batch)
        return self._shown(batch)

    def _batch(self, name: str) -> bytes:
        found = next((batch for batch in self.created if batch.id == name), None)
        if found is None:
            return http_response(404, json.dumps({"error": {"message": f"no batch {name}", "type": "error"}}).encode(), {})
        if not self.held and found.status == "in_progress":
            self._end(found)
        return _json(self._shown(found))

    def _end(self, batch: _Batch) -> None:
        batch.status = batch.ends
        if batch.ends == "failed":
            batch.why = "the file is not as it should be"
            return
        lines = self._lines(batch.input)
        answered = lines if batch.ends == "completed" else lines[: len(lines) // 2]
        made = [self._answer(line) for line in answered]
        late = {"code": f"batch_{batch.ends}", "message": "This request could not be executed in time."}
        made += [{"custom_id": line["custom_id"], "response": None, "error": late} for line in lines[len(answered) :]]
        good = [line for line in made if line["response"] and line["response"]["status_code"] == 200]
        bad = [line for line in made if line not in good]
        batch.output = self._file(_jsonl(reversed(good)))["id"] if good else None  # any order, says OpenAI
        batch.errors = self._file(_jsonl(bad))["id"] if bad else None

    def _answer(self, line: Mapping[str, Any]) -> dict[str, Any]:
        body = line["body"]
        act = self.next_act(body)
        answer = {"error": act.error} if act.status != 200 else chat_completion(body, act, seed_of(body))
        response = {"status_code": act.status, "request_id": "r", "body": answer}
        return {"id": "l", "custom_id": line["custom_id"], "response": response, "error": None}

    def _lines(self, file: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._files[file].decode().splitlines()]

    def _shown(self, batch: _Batch) -> dict[str, Any]:
        errors = {"object": "list", "data": [{"code": "invalid", "message": batch.why}]} if batch.why else None
        return {
            "id": batch.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "input_file_id": batch.input,
            "completion_window": "24h",
            "created_at": 0,
            "status": batch.status,
            "output_file_id": batch.output,
            "error_file_id": batch.errors,
            "errors": errors,
            "request_counts": {"total": len(self._lines(batch.input)), "completed": 0, "failed": 0},
            "metadata": dict(batch.metadata),
        }


def _json(value: Mapping[str, Any]) -> bytes:
    return http_response(200, json.dumps(value).encode(), {})


def _jsonl(lines: Any) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def _upload(seen: Seen) -> bytes:
    """The file of a multipart form."""
    head = f"Content-Type: {seen.headers['content-type']}\r\n\r\n".encode()
    parts = message_from_bytes(head + seen.data, policy=HTTP).iter_parts()
    return next(part.get_payload(decode=True) for part in parts if part.get_filename())
