"""A small real MCP server for the tests: `python -m tests.tools.mcp_stub [PORT]`, over stdio without a port."""

from __future__ import annotations

import asyncio
import os
import sys

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("stub")


@server.tool()
def add(left: int, right: int) -> int:
    """Adds two numbers."""
    return left + right


@server.tool()
def variable(name: str) -> str:
    """What the environment says."""
    return os.environ.get(name, "not set")


@server.tool()
def page_visit(url: str) -> str:
    """Reads a page in a way of its own."""
    return f"read {url}"


@server.tool()
def fail() -> str:
    """Fails."""
    raise ToolError("no barley today")


@server.tool()
async def die() -> str:
    """Ends the server in mid-call."""
    sys.stderr.write("dying of it\n")
    sys.stderr.flush()
    os._exit(3)


@server.tool()
async def hang() -> str:
    """Never answers."""
    await asyncio.sleep(3600)
    return "late"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
    else:
        server.run("stdio")
