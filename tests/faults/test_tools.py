"""A tool that never returns, and an MCP server that dies in the middle of a run."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from dreambench.engine.cell import Cell
from dreambench.engine.gateway import Gateway
from dreambench.engine.journal import read_lines
from dreambench.errors import ProviderError
from dreambench.records import Judgment
from dreambench.tools.mcp_server import McpTools
from dreambench.tools.tool import Tool
from tests.engine.test_engine import Bench, make_cells

needs_sdk = pytest.mark.skipif(importlib.util.find_spec("mcp") is None, reason='needs the extra: pip install "dreambench[mcp]"')


async def never(number: int) -> str:
    await asyncio.Event().wait()
    return "late"


def test_a_tool_that_never_returns_is_trouble_of_its_cell_only(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    tool = Tool("never", "Never returns.", never, seconds=0.05)

    def work_of(gateway: Gateway):  # type: ignore[no-untyped-def]
        async def work(cell: Cell) -> Sequence[Judgment]:
            if cell.id == "c1":
                await tool.call({"number": 1}, None)
            await bench.send(cell.id)
            return [Judgment(cell.id, "f", "l", 1.0)]

        return work

    outcome = bench.attempt(make_cells(3), work_of)
    assert (outcome.finished, outcome.owed, outcome.stopped) == (2, 1, "")
    rows = {line["cell"]: line["judgments"][0] for line in read_lines(tmp_path / "journal.jsonl", "cell")}
    assert (rows["c1"]["status"], rows["c1"]["reason_code"], rows["c1"]["value"]) == ("judge_error", "timeout", None)
    assert "never: did not return in 0.05 s" in rows["c1"]["rationale"]
    resumed = bench.attempt(make_cells(3), bench.asking(calls_per_cell=1))
    assert (resumed.before, resumed.finished, resumed.owed) == (2, 1, 0)
    assert bench.sent == ["c0", "c2", "c1/0"]


def test_a_tools_own_time_limit_stays_its_own() -> None:
    async def own() -> str:
        raise TimeoutError("mine")

    with pytest.raises(TimeoutError, match="mine"):
        asyncio.run(Tool("own", "Times out by itself.", own).call({}, None))
    with pytest.raises(ProviderError) as caught:
        asyncio.run(Tool("never", "Never returns.", never, seconds=0.01).call({"number": 1}, None))
    assert caught.value.code == "timeout"


DYING = """
import os, sys
from pathlib import Path
from mcp.server.mcpserver import MCPServer

log, server = Path(sys.argv[1]), MCPServer("dying")

@server.tool()
def add(left: int, right: int) -> int:
    "Adds two numbers; the server dies at its third call, once."
    with log.open("a") as file:
        file.write(f"{left}\\n")
    if len(log.read_text().splitlines()) == 3:
        os._exit(3)
    return left + right

server.run("stdio")
"""


@needs_sdk
def test_a_server_that_dies_in_mid_run_is_started_anew_and_no_answer_is_fetched_twice(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    (tmp_path / "dying.py").write_text(DYING, encoding="utf-8")
    log = tmp_path / "calls.txt"

    def work_of(gateway: Gateway):  # type: ignore[no-untyped-def]
        tools = McpTools(gateway=gateway, command=[sys.executable, str(tmp_path / "dying.py"), str(log)])
        ready = asyncio.Lock()

        async def work(cell: Cell) -> Sequence[Judgment]:
            async with ready:
                if not tools.tools:
                    await tools.open()
                found = await tools.call("add", {"left": int(cell.id[1:]), "right": 1})
            if cell.id == "c5":
                await tools.close()
            return [Judgment(cell.id, "f", found.text, 1.0)]

        return work

    outcome = bench.attempt(make_cells(6), work_of)
    assert (outcome.finished, outcome.owed) == (6, 0)
    rows = {line["cell"]: line["judgments"][0]["label"] for line in read_lines(tmp_path / "journal.jsonl", "cell")}
    assert rows == {f"c{number}": str(number + 1) for number in range(6)}
    asked = log.read_text(encoding="utf-8").split()
    assert asked == ["0", "1", "2", "2", "3", "4", "5"], "only the call that the death hit is made again"
