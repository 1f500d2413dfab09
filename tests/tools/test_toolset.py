"""Tool sets: typed look-ups for metrics, checked calls for models, both through the gateway."""

from __future__ import annotations

import asyncio
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from dreambench.engine.store import CacheMode
from dreambench.errors import CacheMissError
from dreambench.tools.tool import Tool, ToolCallError
from dreambench.tools.toolset import CorpusTools, NoTools
from tests.support.gateway import TestGateway, make_gateway

PAGES = [
    {"url": "https://a.example/one", "title": "One", "published": "2024-03-01", "text": "Barley failed in 2023. " * 2000},
    {"url": "https://a.example/two", "title": "Two", "published": "2025-03-01", "text": "Barley grew in 2024."},
]


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    path = tmp_path / "pages.jsonl"
    path.write_text("\n".join(json.dumps(page) for page in PAGES), encoding="utf-8")
    return path


@pytest.fixture
def tools(gateway: TestGateway, pages: Path) -> CorpusTools:
    return CorpusTools(gateway=gateway, path=pages)


def call(tools: NoTools, name: str, arguments: Any, as_of: date | None = None) -> Any:
    return asyncio.run(tools.call(name, arguments, as_of))


def test_a_model_is_offered_schemas_without_the_date(tools: CorpusTools) -> None:
    schemas = {schema["function"]["name"]: schema["function"]["parameters"] for schema in tools.schemas()}
    assert set(schemas) == {"web_search", "page_visit", "calculate"}
    assert schemas["web_search"] == {
        "type": "object",
        "additionalProperties": False,
        "required": ["query"],
        "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": 400, "description": "what to search for, in words"},
            "k": {"type": "integer", "minimum": 1, "maximum": 20, "default": 10, "description": "how many results"},
        },
    }


def test_a_model_cannot_search_beyond_the_date(tools: CorpusTools) -> None:
    found = call(tools, "web_search", {"query": "barley"}, date(2024, 12, 31))
    assert [hit.url for hit in found.value.hits] == ["https://a.example/one"]
    with pytest.raises(ToolCallError, match="as_of: no such argument"):
        call(tools, "web_search", {"query": "barley", "as_of": "2030-01-01"}, date(2024, 12, 31))


def test_long_pages_are_cut_and_read_on(tools: CorpusTools) -> None:
    first = call(tools, "page_visit", {"url": "https://a.example/one"})
    assert "[cut here: 20,000 of" in first.text
    rest = call(tools, "page_visit", '{"url": "https://a.example/one", "start": 45900}')
    assert rest.text.startswith("One\nhttps://a.example/one\npublished 2024-03-01\n\n") and len(rest.text) < 250


def test_a_page_that_is_not_there_says_so(tools: CorpusTools) -> None:
    assert (
        call(tools, "page_visit", {"url": "https://a.example/none"}).text
        == "https://a.example/none cannot be read: not_in_corpus"
    )


@pytest.mark.parametrize(
    ("name", "arguments", "complaint"),
    [
        ("web_serach", {}, "there is no tool 'web_serach'; did you mean web_search?"),
        ("web_search", {}, "query: is required"),
        ("web_search", {"query": "x", "k": 99}, "k: input should be less than or equal to 20, got 99"),
        ("web_search", {"qery": "x", "query": "y"}, "qery: no such argument; did you mean query?"),
        ("web_search", "{broken", "the arguments are not JSON"),
        ("web_search", "[1]", "the arguments are not a JSON object"),
        ("calculate", {"expression": "import os"}, "not an arithmetic expression"),
    ],
)
def test_a_bad_call_is_explained_to_the_model(tools: CorpusTools, name: str, arguments: Any, complaint: str) -> None:
    with pytest.raises(ToolCallError) as caught:
        call(tools, name, arguments)
    assert complaint in str(caught.value)


def test_every_look_up_is_in_the_ledger_and_made_once(tools: CorpusTools, gateway: TestGateway) -> None:
    async def work() -> None:
        for _ in range(2):
            await tools.web_search("barley", None, 5)
            await tools.page_visit("https://a.example/one", None)
            await tools.calculate("1 + 1")

    asyncio.run(work())
    assert [(r.role, r.requested_model, r.source) for r in gateway.records] == [
        ("tools", model, source)
        for source in ("provider", "cache")
        for model in ("corpus.web_search", "corpus.page_visit", "calculate")
    ]


def test_replay_answers_from_the_store_and_nothing_else(tmp_path: Path, pages: Path) -> None:
    filled = make_gateway(tmp_path)
    first = asyncio.run(CorpusTools(gateway=filled, path=pages).web_search("barley", None, 5))
    filled.store.close()
    tools = CorpusTools(gateway=make_gateway(tmp_path, mode=CacheMode.REPLAY), path=pages)
    assert asyncio.run(tools.web_search("barley", None, 5)) == first
    with pytest.raises(CacheMissError):
        asyncio.run(tools.web_search("oats", None, 5))


def test_no_tools_find_nothing_and_say_so() -> None:
    assert asyncio.run(NoTools().page_visit("https://a.example", None)).reason_code == "no_tools"
    assert not NoTools().searches and NoTools().schemas() == []
    with pytest.raises(ToolCallError, match="tools: none"):
        call(NoTools(), "web_search", {})


def test_a_tool_of_ones_own_is_a_typed_function() -> None:
    async def double(number: int, as_of: date | None) -> str:
        return f"{2 * number} on {as_of}"

    tool = Tool("double", "Doubles.", double, limit=5)
    assert tool.schema["function"]["parameters"]["properties"] == {"number": {"type": "integer"}}
    assert asyncio.run(tool.call({"number": "4"}, date(2025, 1, 1))).text == "8 on \n[cut here: 5 of 15 characters]"
