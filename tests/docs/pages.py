"""Reads documentation as tests need it: code blocks, sections, the rows of a table; and makes a tiny run in this process."""

from __future__ import annotations

import ast
import asyncio
import re
from pathlib import Path
from typing import Any

from dreambench.config.compose import compose
from dreambench.engine.clock import Clock
from dreambench.reporting.progress import RunProgress
from dreambench.runs.assembly import validate
from dreambench.runs.execute import execute

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """The text below a heading of level 2, up to the next one."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"there is no section {heading!r}"
    return found[1]


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks whose info string is `language`."""
    return re.findall(rf"^```{re.escape(language)}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def table(text: str) -> list[list[str]]:
    """The cells of every line of a markdown table, without head and rule."""
    lines = [line.strip().strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in cells] for cells in lines[2:]]


def last_value(code: str) -> Any:
    """What the last expression of a block gives."""
    tree = ast.parse(code)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    names: dict[str, Any] = {}
    exec(compile(tree, "page", "exec"), names)
    return eval(compile(ast.Expression(last.value), "page", "eval"), names)


def run(folder: Path, *overrides: str) -> Path:
    """The folder of a finished run."""
    composed = compose([*overrides, f"paths.outputs={folder / 'outputs'}", f"paths.cache={folder / 'cache'}"])
    clock = Clock()
    result = asyncio.run(execute(validate(composed, clock), "", RunProgress, clock))
    assert result.outcome.complete
    return result.folder.root
