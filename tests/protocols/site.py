"""A data set of one task, two reports and fifteen pages, and a server that plays every role about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.agents import PAGES, asks, is_turn, turn
from tests.support.openai_stub import OpenAIStub, saying
from tests.support.protocol import QUERY

GOOD = "# Bridges\n\nMany bridges were opened. " + " ".join(f"Bridge {n} was opened in 2019." for n in range(1, 8))
BAD = "# Bridges\n\nBridge 1 was opened in 2019. Bridge 3 bears 900 tons."


def write_data(folder: Path) -> list[str]:
    """Writes the data set; returns the overrides that name it."""
    files = {"tasks/bridges.yaml": f"id: bridges\nquery: {QUERY}\nas_of: 2025-01-01\n"}
    files |= {"reports/good/bridges.md": GOOD, "reports/bad/bridges.md": BAD}
    for number, page in enumerate(PAGES, 1):
        front = f"url: {page['url']}\ntitle: {page['title']}\npublished: {page['published']}\n"
        files[f"corpus/{number}.md"] = f"---\n{front}---\n{page['text']}\n"
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return ["dataset=demo", f"dataset.folder={folder}"]


def judged(stub: OpenAIStub, mode: str) -> list[str]:
    keys = {"model": "openai/m", "api_base": stub.url, "tool_mode": mode}
    return ["judge=litellm", *(f"judge.litellm.{key}={value}" for key, value in keys.items())]


def play(stub: OpenAIStub, mode: str) -> None:
    """Ten facts, of which the good report has seven and the bad one has one; two questions, the bad report fails on each."""
    look, end = turn(mode, ("page_visit", {"url": "https://pages.example/3"}))[0], turn(mode)[0]
    plan = {"extract": "Why it bears.", "verify": [{"what": "The load.", "tools": ["page_visit"]}], "criteria": ["Load."]}
    refuted = {"reason": "r", "kind": "refuted_step", "quote": "Bridge 3 bears 900 tons", "url": "https://pages.example/3"}
    refuted["evidence"] = "It bears 300 tons"
    stub.always(saying({"reason": "r", "tools": ["web_search", "page_visit"]}), when=lambda body: "on offer" in _user(body))
    stub.always(end, when=lambda body: is_turn(body) and "It bears 300 tons" in str(body["messages"]))
    stub.always(look, when=is_turn)
    stub.always(saying({"facts": [_fact(number) for number in range(1, 11)]}), when=asks("facts"))
    stub.always(saying({"questions": [{"question": f"Why {n}?", **plan} for n in (1, 2)]}), when=asks("questions"))
    stub.always(saying(_answers(7)), when=lambda body: asks("k1")(body) and GOOD in _user(body))
    stub.always(saying(_answers(1)), when=asks("k1"))
    stub.always(saying({"chain": "c", "deductions": []}), when=lambda body: asks("deductions")(body) and GOOD in _user(body))
    stub.always(saying({"chain": "c", "deductions": [refuted]}), when=asks("deductions"))


def _user(body: dict[str, Any]) -> str:
    return str(body["messages"][1]["content"])


def _fact(number: int) -> dict[str, Any]:
    words = f"Bridge {number} was opened in 2019."
    asked = f"Does the report state that bridge {number} was opened?"
    page = {"url": f"https://pages.example/{number}", "quote": words, "published": None}
    return {"fact": words, "question": asked, "time_sensitive": False, **page}


def _answers(stated: int) -> dict[str, Any]:
    return {
        f"k{n}": {"reason": "r", "quote": f"Bridge {n} was opened" * (n <= stated), "answer": "yes" if n <= stated else "no"}
        for n in range(1, 11)
    }
