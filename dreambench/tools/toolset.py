"""Tool sets: the tools that one option of the group `tools` gives to metrics and evaluators.

Every look-up is a leaf call: it goes through the gateway like a judge's, and stands in the ledger under the role `tools`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any, ClassVar

from dreambench.engine.call import Call, Reply, canonical_json
from dreambench.engine.gateway import Gateway
from dreambench.tools.corpus import Corpus, Undated
from dreambench.tools.page import Page, read_pages


@dataclass(frozen=True, slots=True)
class Visit:
    """What came of opening a page: the page, or None with the reason code (`dead`: there is no such page)."""

    url: str
    page: Page | None
    reason_code: str


class NoTools:
    """No tools at all: metrics that need some refuse before the run, those that can do without say so in their rows."""

    name: ClassVar[str] = "none"

    def identity(self) -> Mapping[str, Any]:
        return {"tools": self.name}

    async def page_visit(self, url: str, as_of: date | None) -> Visit:
        """Nothing can be opened."""
        return Visit(url, None, "no_tools")


class CorpusTools(NoTools):
    """Search and read a frozen corpus: `path` is a JSON lines file or a folder of markdown pages."""

    name: ClassVar[str] = "corpus"

    def __init__(self, *, gateway: Gateway, path: Path, undated: Undated = "keep") -> None:
        self._corpus = Corpus(read_pages(path))
        self._gateway = gateway
        self._undated = undated

    def identity(self) -> Mapping[str, Any]:
        return {"tools": self.name, "corpus": self._corpus.fingerprint, "undated": self._undated}

    async def page_visit(self, url: str, as_of: date | None) -> Visit:
        """The page as it stood on `as_of`."""
        call = Call(
            provider="tools",
            account="tools",
            model="corpus.page_visit",
            body={**self.identity(), "url": url, "as_of": as_of.isoformat() if as_of else None},
            role="tools",
            metered=False,
        )
        reply = await self._gateway.call(call, lambda: asyncio.to_thread(self._visit, url, as_of))
        return _visit_from(url, reply)

    def _visit(self, url: str, as_of: date | None) -> Reply:
        page = self._corpus.visit(url, as_of, self._undated)
        record = {**asdict(page), "published": page.published.isoformat() if page.published else None} if page else None
        return Reply(answer=canonical_json(record), model="corpus.page_visit", cost=0.0)


def _visit_from(url: str, reply: Reply) -> Visit:
    record = json.loads(reply.answer)
    if record is None:
        return Visit(url, None, "dead")
    published = date.fromisoformat(record.pop("published")) if record["published"] else record.pop("published")
    return Visit(url, Page(**record, published=published), "ok")


def bundled_tools(gateway: Gateway, corpus: Path | None, undated: Undated = "keep") -> NoTools:
    """The corpus that the data set brings along; no tools where it brings none."""
    return CorpusTools(gateway=gateway, path=corpus, undated=undated) if corpus else NoTools()
