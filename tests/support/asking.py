"""Asks one question of a new LLM judge, and looks at what was stored."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

from dreambench.judges.llm import LLMJudge
from tests.support.gateway import TestGateway
from tests.support.openai_stub import OpenAIStub
from tests.support.questions import rubric

MODES = ["tools", "json_schema", "json"]
KEY = "sk-planted-key-0123456789"
GOOD = {"score": 7, "label": "good", "reason": "It is clear."}
TOKENS = {
    "prompt_tokens": 1000,
    "completion_tokens": 200,
    "prompt_tokens_details": {"cached_tokens": 600},
    "completion_tokens_details": {"reasoning_tokens": 150},
}


def ask(gateway: TestGateway, stub: OpenAIStub, *, report: str = "A report.", times: int = 1, **keys: Any) -> Any:
    """One answer (or `times` of them, for repeats 0, 1, ...) from a new judge; its connections are closed again."""

    async def run() -> list[Any]:
        judge = LLMJudge(name="it", gateway=gateway, **{"model": "openai/test-model", "api_base": stub.url, **keys})
        try:
            return [await judge.ask(rubric(), repeat=repeat, report=report) for repeat in range(times)]
        finally:
            await judge.close()

    answers = asyncio.run(run())
    return answers[0] if times == 1 else answers


def stored(folder: Path) -> str:
    """Everything that was written below `folder`, as one text."""
    return "".join(path.read_bytes().decode("latin-1") for path in folder.rglob("*") if path.is_file())


def entries(folder: Path) -> int:
    database = folder / "cache" / "cache.db"
    if not database.exists():
        return 0
    with sqlite3.connect(database) as connection:
        count: int = connection.execute("select count(*) from Cache").fetchone()[0]
    return count
