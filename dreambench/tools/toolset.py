"""Tool sets: the tools that one option of the group `tools` gives to metrics and evaluators.

A metric calls the typed methods (`web_search`, `page_visit`); a model is offered `schemas()` and its calls are carried out
by `call`. Both end in the same look-ups. Every look-up is a leaf call: it goes through the gateway like a judge's, and
stands in the ledger under the role `tools`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from dreambench.engine.call import Call, Reply, canonical_json
from dreambench.engine.compute import compute
from dreambench.engine.gateway import Gateway, Send
from dreambench.errors import Problem, nearest
from dreambench.tools.calculate import as_text, calculate
from dreambench.tools.corpus import Corpus
from dreambench.tools.page import read_pages
from dreambench.tools.results import Reason, Search, SearchHit, Undated, Visit, page_from_json, page_to_json
from dreambench.tools.tool import Tool, ToolCallError, ToolResult

__all__ = ["CorpusTools", "NoTools", "SearchingTools", "UnbuiltTools", "Visit", "bundled_tools"]

BUILT_IN = ("web_search", "page_visit", "pdf_fetch", "arxiv", "github", "calculate")
"""Names of this package's own tools: what metrics know a tool set's abilities by."""
MOST_HITS = 20
K = 10

Query = Annotated[str, Field(min_length=1, max_length=400, description="what to search for, in words")]
Hits = Annotated[int, Field(ge=1, le=MOST_HITS, description="how many results")]
Url = Annotated[str, Field(min_length=1, max_length=2_000, description="the address of the page")]
Start = Annotated[int, Field(ge=0, description="the character to read on from, when a page was cut")]
Expression = Annotated[str, Field(min_length=1, description="arithmetic: (1250 - 980) / 980 * 100, mean(3, 5), 12% * 80")]


class NoTools:
    """No tools at all, and the base of every tool set."""

    name: ClassVar[str] = "none"
    corpus: Corpus | None = None
    """The frozen pages, where the set has some: perturbation authors read earlier versions there."""

    def identity(self) -> Mapping[str, Any]:
        """All of the tool set that can change a number."""
        return {"tools": self.name}

    def needs(self) -> Sequence[Problem]:
        """What is missing before the tools can be used (keys, packages), said before anything runs."""
        return ()

    @cached_property
    def tools(self) -> Mapping[str, Tool]:
        """The tools by name, as they are offered to a model."""
        return {}

    def schemas(self) -> list[dict[str, Any]]:
        """The tools as OpenAI-style function calling describes them."""
        return [tool.schema for tool in self.tools.values()]

    async def call(self, name: str, arguments: Mapping[str, Any] | str, as_of: date | None = None) -> ToolResult:
        """Carries out one call that a model asked for; `arguments` may be the JSON text it wrote.

        Raises ToolCallError, whose text can be given back to the model, when the call cannot be carried out as it stands;
        ProviderError for trouble at the other end.
        """
        tool = self.tools.get(name)
        if tool is None:
            near = nearest(name, self.tools)
            known = ", ".join(self.tools) or "none"
            raise ToolCallError(f"there is no tool {name!r}{f'; did you mean {near}?' if near else ''} (tools: {known})")
        return await tool.call(_object(name, arguments), as_of)

    async def web_search(self, query: str, as_of: date | None, k: int = K) -> Search:
        """The `k` best results that were out by `as_of`. A tool set that cannot search finds nothing: see `searches`."""
        return Search(query, ())

    async def page_visit(self, url: str, as_of: date | None) -> Visit:
        """The page at `url`, or why it cannot be read."""
        return Visit(url, None, Reason.NO_TOOLS.value)

    @property
    def searches(self) -> bool:
        """Whether `web_search` can find anything; metrics that search refuse to run without."""
        return "web_search" in self.tools

    async def open(self) -> None:
        """Gets ready for calls; once, before the first one."""

    async def close(self) -> None:
        """Ends what the tools keep open."""


class UnbuiltTools(NoTools):
    """Stands in for tools that could not be built: why is said already, and no metric may add that tools=none cannot search."""

    @property
    def searches(self) -> bool:
        return True


def _object(name: str, arguments: Mapping[str, Any] | str) -> Mapping[str, Any]:
    if not isinstance(arguments, str):
        return arguments
    try:
        parsed = json.loads(arguments or "{}")
    except ValueError as error:
        raise ToolCallError(f"{name}: the arguments are not JSON: {error}") from error
    if not isinstance(parsed, dict):
        raise ToolCallError(f"{name}: the arguments are not a JSON object")
    return parsed


class SearchingTools(NoTools):
    """What the tool sets that search and read have in common: the offer to a model, and the gateway."""

    def __init__(self, *, gateway: Gateway, undated: Undated) -> None:
        self._gateway = gateway
        self._undated: Undated = undated

    @cached_property
    def tools(self) -> Mapping[str, Tool]:
        return {tool.name: tool for tool in self._offer()}

    def _offer(self) -> list[Tool]:
        async def web_search(query: Query, as_of: date | None, k: Hits = K) -> Search:
            return await self.web_search(query, as_of, k)

        async def page_visit(url: Url, as_of: date | None, start: Start = 0) -> _Part:
            return _Part(await self.page_visit(url, as_of), start)

        async def calculate(expression: Expression) -> str:
            return await self.calculate(expression)

        return [
            Tool("web_search", "Searches pages. Gives title, address, date and an excerpt of each result.", web_search),
            Tool("page_visit", "Reads one page as text. Long pages are cut: read on with start.", page_visit),
            Tool("calculate", "Calculates an arithmetic expression exactly. Never do sums in your head.", calculate),
        ]

    async def calculate(self, expression: str) -> str:
        """The value of an arithmetic expression, as text. Raises CalculationError."""
        value = as_text(calculate(expression))

        async def send() -> Reply:
            return Reply(answer=value, model="calculate", cost=0.0)

        return (await self._look_up("calculate", "tools", {"expression": expression}, send)).answer

    async def _look_up(self, model: str, account: str, body: Mapping[str, Any], send: Send, *, metered: bool = False) -> Reply:
        """One look-up through the gateway; `send` makes one attempt."""
        call = Call(provider="tools", account=account, model=model, body=body, role="tools", metered=metered)
        return await self._gateway.call(call, send)


class _Part:
    """A visited page from some character on."""

    def __init__(self, visit: Visit, start: int) -> None:
        self.visit = visit
        self.start = start

    def as_text(self) -> str:
        return self.visit.for_model().as_text(self.start)


class CorpusTools(SearchingTools):
    """Search and read a frozen corpus: `path` is a JSON lines file or a folder of markdown pages."""

    name: ClassVar[str] = "corpus"

    def __init__(self, *, gateway: Gateway, path: Path, undated: Undated = "keep") -> None:
        super().__init__(gateway=gateway, undated=undated)
        self.corpus: Corpus = Corpus(read_pages(path))

    def identity(self) -> Mapping[str, Any]:
        return {"tools": self.name, "corpus": self.corpus.fingerprint, "undated": self._undated}

    async def web_search(self, query: str, as_of: date | None, k: int = K) -> Search:
        """The `k` best pages of the corpus that were out by `as_of`, each with the passage that fits the query best."""
        body = {**self.identity(), "query": query, "as_of": as_of.isoformat() if as_of else None, "k": k}

        def search() -> Reply:
            hits = [hit.as_json() for hit in self.corpus.find(query, as_of, k, self._undated)]
            return Reply(answer=canonical_json(hits), model="corpus.web_search", cost=0.0)

        reply = await self._look_up("corpus.web_search", "tools", body, lambda: compute(search))
        return Search(query, tuple(SearchHit.from_json(record) for record in json.loads(reply.answer)))

    async def page_visit(self, url: str, as_of: date | None) -> Visit:
        """The page as it stood on `as_of`: the newest version that was out by then, or none (`not_in_corpus`)."""
        body = {**self.identity(), "url": url, "as_of": as_of.isoformat() if as_of else None}

        def visit() -> Reply:
            page = self.corpus.visit(url, as_of, self._undated)
            return Reply(answer=canonical_json(page_to_json(page)), model="corpus.page_visit", cost=0.0)

        reply = await self._look_up("corpus.page_visit", "tools", body, lambda: compute(visit))
        page = page_from_json(json.loads(reply.answer))
        return Visit(url, page, Reason.OK.value if page else Reason.NOT_IN_CORPUS.value)


def bundled_tools(gateway: Gateway, corpus: Path | None, undated: Undated = "keep") -> NoTools:
    """The corpus that the data set brings along; no tools where it brings none."""
    return CorpusTools(gateway=gateway, path=corpus, undated=undated) if corpus else NoTools()
