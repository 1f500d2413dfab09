"""Answers GET and HEAD for one folder of runs. Stdlib threads are enough: a few people look, and nothing is written.

Three guards: a request must name this server in its Host header (a foreign page whose name was re-pointed at this machine does
not), a path is matched against names that were found by listing the folder, and every answer forbids scripts and loads other
than its own. `report.html` is part of a run and may come from anybody: it is sandboxed, so it can read nothing else here.
"""

from __future__ import annotations

import ipaddress
import json
import logging
import re
import shutil
import socket
from collections.abc import Iterable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from dreambench.reporting.live.board import Board, page_of
from dreambench.reporting.live.pages import Page, list_page, progress_page

LOG = logging.getLogger(__name__)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
NOTHING = "default-src 'none'; frame-ancestors 'none'"
REPORT_POLICY = (
    "sandbox allow-scripts allow-forms allow-downloads allow-popups allow-popups-to-escape-sandbox; default-src 'none'; "
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_HOST = re.compile(r"(?P<name>\[[0-9a-fA-F:.]+\]|[^\[\]:/@\s]+)(?::\d{1,5})?")
_SECONDS = 30.0


class ViewServer(ThreadingHTTPServer):
    """Serves the runs below `folder` at `host` (an address or a name); port 0 takes a free one.

    `names` are further names by which requests may call this server. Raises OSError when the address cannot be had.
    """

    daemon_threads = True

    def __init__(self, folder: Path, host: str = "127.0.0.1", port: int = 0, names: Iterable[str] = ()) -> None:
        self.board = Board(folder)
        self.folder = folder
        self.loopback = is_loopback(host)
        self.names = {"localhost", host.lower(), *(name.lower() for name in names)}
        if ":" in host:
            self.address_family = socket.AF_INET6
        super().__init__((host, port), _Handler)

    def server_bind(self) -> None:
        """Binds without asking a name server for this machine's name, as the base class would."""
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that went away is no event for the terminal."""
        LOG.debug("request of %s failed", client_address, exc_info=True)

    @property
    def url(self) -> str:
        """The address to open in a browser."""
        host = str(self.server_address[0])
        return f"http://{f'[{host}]' if ':' in host else host}:{self.server_port}/"

    def answers_to(self, header: str | None) -> bool:
        """Whether a Host header names this server: a loopback address or one of its names; any address when it is open to
        others, because a name can be re-pointed by its owner and an address cannot. Ports are free: they may be forwarded."""
        found = _HOST.fullmatch(header.strip()) if header else None
        if found is None:
            return False
        name = found["name"].strip("[]").rstrip(".").lower()
        return name in self.names or (is_loopback(name) if self.loopback else _is_address(name))


class _Handler(BaseHTTPRequestHandler):
    server: ViewServer
    server_version = "dreambench"
    sys_version = ""
    timeout = _SECONDS

    def do_GET(self) -> None:
        if not self.server.answers_to(self.headers.get("Host")):
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST, "this server is not called that; use the address that view printed")
            return
        parts = [unquote(part) for part in urlsplit(self.path).path.split("/")[1:]]
        if parts == [""]:
            self._send_page(list_page(self.server.folder.name or str(self.server.folder), self.server.board.runs()))
        elif len(parts) in (2, 3) and parts[0] == "run" and (run := self.server.board.find(parts[1])):
            self._answer_run(run, parts[2] if len(parts) == 3 else None)
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    do_HEAD = do_GET

    def _refuse(self) -> None:
        self.close_connection = True
        self.send_error(HTTPStatus.METHOD_NOT_ALLOWED, "runs are only shown here; GET and HEAD")

    do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = do_CONNECT = _refuse

    def _answer_run(self, run: Path, what: str | None) -> None:
        board = self.server.board
        if what is None:
            self.send_response(HTTPStatus.MOVED_PERMANENTLY)
            self._end(NOTHING, {"Location": f"/run/{quote(run.name, safe='')}/", "Content-Length": "0"})
        elif what == "status.json":
            text = json.dumps(board.detailed(run).as_json(), ensure_ascii=True, indent=1)
            self._send(text.encode("ascii"), "application/json", NOTHING)
        elif what == "progress" or (what == "" and (board.status(run).state == "unfinished" or page_of(run) is None)):
            self._send_page(progress_page(board.detailed(run)))
        elif what in ("", "report.html") and (page := page_of(run)):
            self._send_file(page)
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def _send_file(self, path: Path) -> None:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            self.send_response(HTTPStatus.OK)
            self._end(REPORT_POLICY, {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(size)})
            if self.command != "HEAD":
                shutil.copyfileobj(file, self.wfile)

    def _send_page(self, page: Page) -> None:
        self._send(page.html.encode("utf-8", "replace"), "text/html", page.policy)

    def _send(self, body: bytes, kind: str, policy: str, status: int = HTTPStatus.OK) -> None:
        self.send_response(status)
        self._end(policy, {"Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(len(body))})
        if self.command != "HEAD":
            self.wfile.write(body)

    def _end(self, policy: str, headers: dict[str, str]) -> None:
        for name, value in {**headers, **HEADERS, "Content-Security-Policy": policy}.items():
            self.send_header(name, value)
        self.end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Plain text in place of the base class's HTML; nothing of the request is repeated."""
        said = message if message and code in (HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.MISDIRECTED_REQUEST) else ""
        self.send_response(code)
        body = f"{code} {said or HTTPStatus(code).phrase}\n".encode()
        allow = {"Allow": "GET, HEAD"} if code == HTTPStatus.METHOD_NOT_ALLOWED else {}
        self._end(NOTHING, {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body)), **allow})
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - named by the base class
        """To the log, not to the terminal that printed the address; %r, because a request line is foreign text."""
        LOG.debug("%s %r", self.client_address[0], format % args)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host`."""
    return host.lower() == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def serve(server: ViewServer) -> None:
    """Answers until it is interrupted."""
    try:
        server.serve_forever()
    finally:
        server.server_close()
