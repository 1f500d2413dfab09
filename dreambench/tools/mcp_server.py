"""Any MCP server as a tool set, through the official SDK (the extra `mcp`): a program (stdio) or an address (HTTP).

A session is entered, kept and left by one task of its own, because the SDK's scopes must be left by the task that entered
them. When the server dies in mid-call, the call fails at once as trouble of the moment and the next one starts it anew.
The list of tools and every result go through the gateway: a replay needs no server. `as_of` cannot limit what a server
finds.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import json
import os
import tempfile
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TextIO, TypeVar
from urllib.parse import parse_qsl, urlsplit

from dreambench.config.secrets import SECRET
from dreambench.engine.call import Reply, canonical_json
from dreambench.engine.gateway import Gateway
from dreambench.errors import Problem, ProviderError
from dreambench.install import extra_hint
from dreambench.tools.tool import LIMIT, Tool, ToolCallError
from dreambench.tools.toolset import BUILT_IN, SearchingTools

if TYPE_CHECKING:
    from mcp import Client

T = TypeVar("T")

_WORDS = 300


class McpTools(SearchingTools):
    """Give either `command` (a program and its arguments) or `url` (streamable HTTP).

    `environment` names variables that are handed on to the program; their values stay out of the config. A call may take
    `seconds`, a result may have `limit` characters.
    """

    name: ClassVar[str] = "mcp"

    def __init__(
        self,
        *,
        gateway: Gateway,
        command: list[str] | None = None,
        url: str | None = None,
        environment: list[str] | None = None,
        seconds: float = 60.0,
        limit: int = LIMIT,
    ) -> None:
        super().__init__(gateway=gateway, undated="keep")
        self._command = command or []
        self._url = url
        self._environment = environment or []
        self._seconds = seconds
        self._limit = limit
        self._session: _Session | None = None
        self._listed: dict[str, Tool] = {}

    def identity(self) -> Mapping[str, Any]:
        return {"tools": self.name, "command": self._command, "url": self._url, "limit": self._limit}

    def needs(self) -> Sequence[Problem]:
        problems = []
        if importlib.util.find_spec("mcp") is None:
            problems.append(Problem("tools", "the package mcp is needed", type=extra_hint("mcp")))
        if bool(self._command) == bool(self._url):
            problems.append(
                Problem(
                    "tools", "an MCP server is a command or a url", ["tools.command=[PROGRAM,ARGUMENT]", "tools.url=http://..."]
                )
            )
        if self._url and _holds_secret(self._url):
            what = "holds a user, a password or a key, and addresses are written to the run's files"
            problems.append(
                Problem(
                    "tools.url",
                    what,
                    ["a program that takes its key from its environment"],
                    "tools.command=[PROGRAM,ARGUMENT] tools.environment=[MY_KEY]",
                )
            )
        missing = [name for name in self._environment if name not in os.environ]
        problems += [Problem("tools.environment", f"{name} is not set", type=f"export {name}=...") for name in missing]
        return problems

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The server's tools, known once the set is open."""
        return self._listed

    async def open(self) -> None:
        """Asks for the list of tools."""

        async def send() -> Reply:
            listed = await self._with(lambda client: _list(client))
            return Reply(answer=canonical_json(listed), model="mcp.list", cost=0.0)

        reply = await self._look_up("mcp.list", self._account, self._server, send)
        for record in json.loads(reply.answer):
            name, description, schema = record["name"], record["description"], record["schema"]
            own = _own_name(name, self._listed)
            self._listed[own] = Tool(own, description, partial(self._run, name), limit=self._limit, parameters=schema)

    async def close(self) -> None:
        session, self._session = self._session, None
        if session:
            await session.end()

    @property
    def _server(self) -> dict[str, Any]:
        return {"command": self._command, "url": self._url}

    @property
    def _account(self) -> str:
        return f"mcp-{hashlib.sha256(canonical_json(self._server).encode()).hexdigest()[:8]}"

    async def _run(self, name: str, arguments: Mapping[str, Any]) -> str:
        async def send() -> Reply:
            return Reply(answer=await self._with(lambda client: _call(client, name, arguments)), model=name, cost=0.0)

        body = {**self._server, "tool": name, "arguments": dict(arguments)}
        return (await self._look_up("mcp.call", self._account, body, send)).answer

    async def _with(self, work: Callable[[Client], Awaitable[T]]) -> T:
        """Runs `work` with a living session. Raises ProviderError when the server cannot be started, dies or is silent."""
        try:
            async with asyncio.timeout(self._seconds):
                return await (await self._living()).run(work)
        except TimeoutError as error:
            raise ProviderError(f"mcp: no answer in {self._seconds:g} s", code="timeout") from error

    async def _living(self) -> _Session:
        """The session, a new one when the last is over."""
        while (session := self._session) is not None and session.over:
            await session.end()
            if self._session is session:
                self._session = None
        if self._session is None:
            self._session = _Session(self._command, self._url, self._environment)
        return self._session


class _Session:
    """One connection, owned from start to end by one task."""

    def __init__(self, command: Sequence[str], url: str | None, environment: Sequence[str]) -> None:
        self._command = command
        self._url = url
        self._environment = environment
        self._ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._stop = asyncio.Event()
        self._said = ""
        self._owner = asyncio.create_task(self._live(), name="mcp session")

    @property
    def over(self) -> bool:
        return self._owner.done() or self._stop.is_set()

    async def run(self, work: Callable[[Client], Awaitable[T]]) -> T:
        """`work` with the client; its end is the session's end, whichever comes first."""
        asking = asyncio.ensure_future(self._ask(work))
        try:
            await asyncio.wait({asking, self._owner}, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                raise ProviderError(f"mcp: the server ended{self._why()}", code="connection")
            return await asking
        finally:
            if not asking.done():
                asking.cancel()

    async def end(self) -> None:
        """Leaves the session and waits until the server is gone."""
        self._stop.set()
        await asyncio.wait({self._owner})
        self._why()

    async def _ask(self, work: Callable[[Client], Awaitable[T]]) -> T:
        from mcp import MCPError

        client = await asyncio.shield(self._ready)
        try:
            return await work(client)
        except MCPError as error:
            if error.code == _CONNECTION_CLOSED:
                self._stop.set()
                raise ProviderError("mcp: the server closed the connection", code="connection") from error
            raise ToolCallError(f"mcp: {error.error.message[:_WORDS]}") from error
        except (OSError, EOFError) as error:
            self._stop.set()
            raise ProviderError(f"mcp: {type(error).__name__}: {error}", code="connection") from error

    async def _live(self) -> None:
        """Enters, waits, leaves. Whatever goes wrong ends this task with it, and `run` tells those who wait."""
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
            try:
                async with self._client(log) as client:
                    self._ready.set_result(client)
                    await self._stop.wait()
            finally:
                log.seek(0)
                self._said = " ".join(log.read()[-_WORDS:].split())

    def _client(self, log: TextIO) -> Client:
        from mcp import Client, StdioServerParameters, stdio_client

        if self._url:
            return Client(self._url)
        handed = {name: os.environ[name] for name in self._environment}
        server = StdioServerParameters(command=self._command[0], args=list(self._command[1:]), env=handed)
        return Client(stdio_client(server, errlog=log))

    def _why(self) -> str:
        """What ended the session, and the end of what the server wrote to its error output."""
        error = None if self._owner.cancelled() else self._owner.exception()
        said = f" ({self._said})" if self._said else ""
        return f": {_root(error)[:_WORDS]}{said}" if error else said


_CONNECTION_CLOSED = -32000


def _own_name(name: str, taken: Collection[str]) -> str:
    """The name under which a server's tool is offered: `mcp_page_visit` where ours would be `page_visit`.

    Metrics ask by its name whether a tool set searches or reads, and their own look-ups are none of the server's.
    """
    while name in BUILT_IN or name in taken:
        name = f"mcp_{name}"
    return name


def _holds_secret(url: str) -> bool:
    parts = urlsplit(url)
    return bool(parts.username or parts.password) or any(SECRET.search(name) for name, _ in parse_qsl(parts.query))


def _root(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


async def _list(client: Client) -> list[dict[str, Any]]:
    """All pages of the server's list."""
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        page = await client.list_tools(cursor=cursor)
        found += [{"name": t.name, "description": t.description or "", "schema": t.input_schema} for t in page.tools]
        cursor = page.next_cursor
        if not cursor:
            return found


async def _call(client: Client, name: str, arguments: Mapping[str, Any]) -> str:
    """The result as text. Raises ToolCallError with the tool's own words when it says that it failed."""
    result = await client.call_tool(name, dict(arguments))
    text = "\n".join(_text(block) for block in result.content)
    if result.is_error:
        raise ToolCallError(f"{name}: {text[:_WORDS]}")
    return text


def _text(block: Any) -> str:
    if block.type == "text":
        return str(block.text)
    if block.type == "resource" and hasattr(block.resource, "text"):
        return str(block.resource.text)
    return f"[{block.type}]"
