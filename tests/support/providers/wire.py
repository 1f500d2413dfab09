"""A scripted HTTP server on loopback that keeps what arrives and answers with ready-made bodies, whatever the protocol."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Answer:
    """One HTTP response: a JSON body with its status and headers."""

    body: Mapping[str, Any]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Seen:
    """One request as it arrived; `target` is the path with its query, header names are in lower case."""

    target: str
    headers: Mapping[str, str]
    body: dict[str, Any]


class Wire:
    """`with Wire() as wire: wire.script(...)`: answers in order, the last one again and again."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self._answers: list[Answer] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def script(self, *answers: Answer) -> None:
        self._answers = list(answers)

    def take(self, seen: Seen) -> Answer:
        self.seen.append(seen)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(wire: Wire) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = wire.take(Seen(self.path, headers, json.loads(data)))
            sent = json.dumps(answer.body).encode()
            self.send_response(answer.status)
            for name, value in {"Content-Type": "application/json", "Content-Length": str(len(sent)), **answer.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *args: Any) -> None:
            """Nothing: what arrived is in `seen`."""

    return Handler
