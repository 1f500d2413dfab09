"""arXiv's public API (export.arxiv.org/api/query): Atom, one request at a time, three seconds apart as arXiv asks."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date
from typing import Any, Protocol

from dreambench.engine.call import Reply, canonical_json
from dreambench.engine.gateway import Send
from dreambench.errors import ProviderError
from dreambench.tools.api import Answer, ask, failure, malformed
from dreambench.tools.politeness import Politeness
from dreambench.tools.results import Search, SearchHit, by_date

ARXIV = "https://export.arxiv.org/api/query"
PAUSE = 3.0
ABSTRACT = 700
"""Characters of an abstract that a result shows."""
_ATOM = "{http://www.w3.org/2005/Atom}"
_IDENTIFIER = re.compile(r"\s*(?:arxiv:)?(\d{4}\.\d{4,5}(?:v\d+)?|[a-z-]+(?:\.[A-Z]{2})?/\d{7})\s*", re.IGNORECASE)


class LookUp(Protocol):
    """One look-up through the gateway."""

    async def __call__(
        self, model: str, account: str, body: Mapping[str, Any], send: Send, *, metered: bool = False
    ) -> Reply: ...


class Arxiv:
    """Searches arXiv by words, or by an identifier."""

    def __init__(self, look_up: LookUp, url: str, user_agent: str, pause: float = PAUSE) -> None:
        self._look_up = look_up
        self._url = url
        self._headers = {"User-Agent": user_agent, "Accept": "application/atom+xml"}
        self._turns = Politeness(per_host=1, delay=pause if url == ARXIV else 0.0)

    async def search(self, query: str, as_of: date | None, k: int) -> Search:
        """The `k` most relevant preprints whose first version was out by `as_of`."""
        params = _params(query, as_of, k)

        async def send() -> Reply:
            async with self._turns.turn("arxiv"):
                answer = await ask("arxiv", "GET", self._url, headers=self._headers, params=params)
            hits = [hit.as_json() for hit in _entries(answer)]
            return Reply(answer=canonical_json(hits), model="arxiv", cost=0.0)

        reply = await self._look_up("arxiv.search", "arxiv", {"url": self._url, "params": params}, send)
        return by_date(query, [SearchHit.from_json(record) for record in json.loads(reply.answer)], as_of, k, "keep")


def _params(query: str, as_of: date | None, k: int) -> dict[str, Any]:
    if found := _IDENTIFIER.fullmatch(query):
        return {"id_list": found.group(1), "max_results": k}
    words = re.findall(r"\w+", query)
    wanted = " AND ".join(f"all:{word}" for word in words)
    if as_of:
        wanted += f" AND submittedDate:[199101010000 TO {as_of:%Y%m%d}2359]"
    return {"search_query": wanted, "start": 0, "max_results": k, "sortBy": "relevance", "sortOrder": "descending"}


def _entries(answer: Answer) -> list[SearchHit]:
    """The preprints of a feed. Raises ProviderError; arXiv tells of mistakes in a feed with an entry called Error."""
    if answer.status >= 500 or answer.status in (403, 429):
        raise failure("arxiv", answer, "")
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        feed = etree.fromstring(answer.text.encode(), parser)
    except etree.XMLSyntaxError as error:
        raise malformed("arxiv", str(error)) from error if answer.status == 200 else failure("arxiv", answer, "")
    if feed.tag != f"{_ATOM}feed":
        raise malformed("arxiv", f"a {feed.tag} instead of a feed")
    entries = feed.findall(f"{_ATOM}entry")
    for entry in entries:
        if "/api/errors" in _text(entry, "id"):
            raise ProviderError(f"arxiv: {_text(entry, 'summary')}", code="bad_request", permanent=True)
    if answer.status != 200:
        raise failure("arxiv", answer, "")
    return [_hit(entry) for entry in entries]


def _hit(entry: Any) -> SearchHit:
    authors = [" ".join((name.text or "").split()) for name in entry.iterfind(f"{_ATOM}author/{_ATOM}name")]
    who = ", ".join(authors[:3]) + (" and others" if len(authors) > 3 else "")
    abstract = _text(entry, "summary")
    cut = abstract[:ABSTRACT] + ("…" if len(abstract) > ABSTRACT else "")
    day = _text(entry, "published")[:10]
    try:
        published = date.fromisoformat(day) if day else None
    except ValueError as error:
        raise malformed("arxiv", f"the date {day!r}") from error
    return SearchHit(_text(entry, "id").replace("http://", "https://", 1), _text(entry, "title"), f"{who}. {cut}", published)


def _text(entry: Any, name: str) -> str:
    found = entry.find(f"{_ATOM}{name}")
    return " ".join((found.text or "").split()) if found is not None else ""
