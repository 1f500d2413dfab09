"""A real MCP server as a tool set: over stdio and over HTTP, its failures, and its death in mid-call."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from dreambench.config.locations import bundled
from dreambench.engine.retry import RetryPolicy
from dreambench.engine.store import CacheMode
from dreambench.errors import CacheMissError, ProviderError
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.ci import CitationIntegrity
from dreambench.tools.mcp_server import McpTools
from dreambench.tools.tool import ToolCallError
from tests.support.gateway import TestGateway, make_gateway

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]
needs_sdk = pytest.mark.skipif(importlib.util.find_spec("mcp") is None, reason='needs the extra: pip install "dreambench[mcp]"')


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def stdio(gateway: TestGateway, **keys: Any) -> McpTools:
    command = [sys.executable, "-m", "tests.tools.mcp_stub"]
    return McpTools(gateway=gateway, command=command, **{"environment": ["PYTHONPATH"], **keys})


def using(tools: McpTools, work: Callable[[McpTools], Awaitable[T]]) -> T:
    """Opens, works, closes."""

    async def run() -> T:
        try:
            await tools.open()
            return await work(tools)
        finally:
            await tools.close()

    return asyncio.run(asyncio.wait_for(run(), 60))


@needs_sdk
def test_a_tool_with_the_name_of_ours_is_offered_under_another(gateway: TestGateway) -> None:
    """Citation Integrity reads pages where a tool set has `page_visit`; a server's tool of that name is none of it."""

    async def work(tools: McpTools) -> tuple[str, bool, str]:
        answer = (await tools.call("mcp_page_visit", {"url": "https://a.example"})).text
        metric = CitationIntegrity(name="ci", shelf=RubricShelf([bundled("rubrics")]), tools=tools)
        return answer, metric.reads, metric.primary

    assert using(stdio(gateway), work) == ("read https://a.example", False, "ca")


@needs_sdk
def test_the_servers_tools_are_offered_and_called(gateway: TestGateway) -> None:
    async def work(tools: McpTools) -> tuple[list[dict[str, Any]], str]:
        return tools.schemas(), (await tools.call("add", '{"left": 2, "right": 3}')).text

    schemas, answer = using(stdio(gateway), work)
    named = {schema["function"]["name"]: schema["function"] for schema in schemas}
    assert set(named) == {"add", "variable", "mcp_page_visit", "fail", "die", "hang"}
    assert named["add"]["description"] == "Adds two numbers."
    assert set(named["add"]["parameters"]["required"]) == {"left", "right"}
    assert answer == "5"
    assert [(r.role, r.requested_model) for r in gateway.records] == [("tools", "mcp.list"), ("tools", "mcp.call")]


@needs_sdk
def test_only_named_variables_reach_the_server(gateway: TestGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "secret")
    monkeypatch.setenv("OTHER_KEY", "other")

    async def work(tools: McpTools) -> list[str]:
        return [(await tools.call("variable", {"name": name})).text for name in ("SOME_KEY", "OTHER_KEY")]

    tools = stdio(gateway, environment=["PYTHONPATH", "SOME_KEY"])
    assert using(tools, work) == ["secret", "not set"]
    assert "secret" not in str(tools.identity())


@needs_sdk
@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("fail", {}, "no barley today"),
        ("add", {"left": "x"}, "right"),
        ("ad", {"left": 1}, "there is no tool 'ad'; did you mean add?"),
    ],
)
def test_a_failed_call_is_told_to_the_model(gateway: TestGateway, name: str, arguments: Any, words: str) -> None:
    with pytest.raises(ToolCallError, match=words):
        using(stdio(gateway), lambda tools: tools.call(name, arguments))


@needs_sdk
def test_a_server_that_dies_in_mid_call_is_trouble_and_not_a_hang(gateway: TestGateway) -> None:
    gateway._retry = RetryPolicy(attempts=1)

    async def work(tools: McpTools) -> tuple[ProviderError, str]:
        with pytest.raises(ProviderError) as caught:
            await tools.call("die", {})
        return caught.value, (await tools.call("add", {"left": 1, "right": 1})).text

    started = time.monotonic()
    error, after = using(stdio(gateway), work)
    assert error.code == "connection" and not error.permanent
    assert after == "2", "the next call starts it anew"
    assert time.monotonic() - started < 30


@needs_sdk
def test_calls_in_flight_all_end_when_the_server_dies(gateway: TestGateway) -> None:
    gateway._retry = RetryPolicy(attempts=1)

    async def work(tools: McpTools) -> list[Any]:
        hanging = asyncio.create_task(tools.call("hang", {}))
        await asyncio.sleep(0.2)
        return await asyncio.gather(hanging, tools.call("die", {}), return_exceptions=True)

    assert [type(outcome) for outcome in using(stdio(gateway), work)] == [ProviderError, ProviderError]


@needs_sdk
def test_a_silent_server_is_a_timeout(gateway: TestGateway) -> None:
    gateway._retry = RetryPolicy(attempts=1)

    async def work(tools: McpTools) -> str:
        tools._seconds = 0.5
        with pytest.raises(ProviderError) as caught:
            await tools.call("hang", {})
        return caught.value.code

    assert using(stdio(gateway), work) == "timeout"


@needs_sdk
@pytest.mark.parametrize("command", [["/no/such/program"], [sys.executable, "-c", "raise SystemExit('cannot start')"]])
def test_a_server_that_cannot_be_started(gateway: TestGateway, command: list[str]) -> None:
    gateway._retry = RetryPolicy(attempts=1)
    with pytest.raises(ProviderError) as caught:
        using(McpTools(gateway=gateway, command=command, seconds=20), lambda tools: tools.call("add", {}))
    assert caught.value.code == "connection"


@needs_sdk
def test_a_replay_starts_no_server(tmp_path: Path) -> None:
    filled = make_gateway(tmp_path)
    using(stdio(filled), lambda tools: tools.call("add", {"left": 2, "right": 3}))
    filled.store.close()
    tools = stdio(make_gateway(tmp_path, mode=CacheMode.REPLAY))

    async def work(tools: McpTools) -> str:
        with pytest.raises(CacheMissError):
            await tools.call("add", {"left": 9, "right": 9})
        return (await tools.call("add", {"left": 2, "right": 3})).text

    assert using(tools, work) == "5" and tools._session is None


@pytest.fixture
def address() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.tools.mcp_stub", str(port)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    yield f"http://127.0.0.1:{port}/mcp"
    server.kill()
    server.wait()


@needs_sdk
def test_over_http_and_its_death(gateway: TestGateway, address: str) -> None:
    gateway._retry = RetryPolicy(attempts=1)

    async def work(tools: McpTools) -> tuple[str, str]:
        answer = (await tools.call("add", {"left": 2, "right": 3})).text
        with pytest.raises(ProviderError) as caught:
            await tools.call("die", {})
        return answer, caught.value.code

    assert using(McpTools(gateway=gateway, url=address, seconds=20), work) == ("5", "connection")


def test_what_is_missing_is_said_before_anything_runs(gateway: TestGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(**keys: Any) -> set[str]:
        found = McpTools(gateway=gateway, **keys).needs()
        return {problem.what for problem in found} - {"the package mcp is needed"}

    assert wrong() == wrong(command=["x"], url="http://x") == {"an MCP server is a command or a url"}
    assert wrong(command=["x"], environment=["NO_SUCH_VARIABLE"]) == {"NO_SUCH_VARIABLE is not set"}
    assert wrong(url="http://x") == set()
