"""A web site on loopback whose pages do what a test says, down to the bytes: `with Site() as site: site.put("/a", "...")`."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

Act = Callable[[BaseHTTPRequestHandler], None]


@dataclass(frozen=True)
class Seen:
    """A request as it arrived; header names in lower case."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Site:
    """Answers 404 to everything that was not `put` or scripted with `act`. `requests` holds all that arrived."""

    def __init__(self) -> None:
        self.requests: list[Seen] = []
        self._acts: dict[str, list[Act]] = {}
        self._lock = threading.Lock()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site._serve(self)

            do_POST = do_GET

            def log_message(self, *args: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, *args: Any) -> None:
                pass  # clients hang up on purpose

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *args: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def host(self) -> str:
        """What `allow_private` calls it."""
        return f"127.0.0.1:{self.port}"

    def url(self, path: str = "/") -> str:
        return f"http://{self.host}{path}"

    @property
    def paths(self) -> list[str]:
        return [seen.path for seen in self.requests]

    def put(
        self, path: str, body: str | bytes | Mapping[str, Any] = "", status: int = 200, media: str = "", **headers: str
    ) -> None:
        """One answer for `path`; a second `put` is given from the second request on, and so forth, the last for ever."""
        content = json.dumps(body).encode() if isinstance(body, Mapping) else body.encode() if isinstance(body, str) else body
        named = media or ("application/json" if isinstance(body, Mapping) else "text/html; charset=utf-8")

        def act(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(status)
            sent = {"Content-Type": named, "Content-Length": str(len(content))}
            for name, value in (sent | {key.replace("_", "-"): text for key, text in headers.items()}).items():
                handler.send_header(name, value)
            handler.end_headers()
            handler.wfile.write(content)

        self.act(path, act)

    def act(self, path: str, act: Act) -> None:
        """`act` writes the whole answer; `*` stands for every path that has nothing of its own."""
        self._acts.setdefault(path, []).append(act)

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("Content-Length") or 0)
        parts = urlsplit(handler.path)
        headers = {name.lower(): value for name, value in handler.headers.items()}
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        with self._lock:
            self.requests.append(Seen(handler.command, parts.path, query, headers, handler.rfile.read(length)))
            acts = self._acts.get(parts.path) or self._acts.get("*")
            act = (acts.pop(0) if len(acts) > 1 else acts[0]) if acts else None
        if act:
            act(handler)
        else:
            handler.send_error(404)


def article(text: str = "", title: str = "An article", published: str = "2024-03-01", head: str = "") -> str:
    """A page with enough text to be one."""
    words = text or "Barley failed in the north in 2023 and the price of malt rose by a third. " * 12
    return (
        f'<html><head><title>{title}</title><meta property="article:published_time" content="{published}">{head}</head>'
        f"<body><article><h1>{title}</h1><p>{words}</p></article></body></html>"
    )
