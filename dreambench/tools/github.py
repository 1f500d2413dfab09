"""GitHub's public REST API: repositories by words, and one file of a repository. GITHUB_TOKEN raises the limits."""

from __future__ import annotations

import json
import os
from datetime import date
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel, ValidationError

from dreambench.engine.call import Reply, canonical_json
from dreambench.tools.api import Answer, ask, failure, malformed
from dreambench.tools.arxiv import LookUp
from dreambench.tools.results import Search, SearchHit, by_date

GITHUB = "https://api.github.com"
TOKEN = "GITHUB_TOKEN"


class _Repository(BaseModel):
    full_name: str
    html_url: str
    description: str | None = None
    stargazers_count: int = 0
    language: str | None = None
    created_at: str
    pushed_at: str | None = None

    def hit(self) -> SearchHit:
        facts = [f"{self.stargazers_count:,} stars", self.language or "", f"last push {self.pushed_at or 'unknown'}"]
        snippet = f"{self.description or ''} ({', '.join(fact for fact in facts if fact)})".strip()
        return SearchHit(self.html_url, self.full_name, snippet, date.fromisoformat(self.created_at[:10]))


class _Found(BaseModel):
    items: list[_Repository]


class _Message(BaseModel):
    message: str = ""


class Github:
    """Looks things up on GitHub, or on a server of one's own that speaks its API."""

    def __init__(self, look_up: LookUp, url: str, user_agent: str) -> None:
        self._look_up = look_up
        self._url = url.rstrip("/")
        self._agent = user_agent

    async def search(self, query: str, as_of: date | None, k: int) -> Search:
        """The `k` repositories that fit best and were there by `as_of`; their dates are those of creation."""
        params: dict[str, Any] = {"q": f"{query} created:<={as_of.isoformat()}" if as_of else query, "per_page": k}

        async def send() -> Reply:
            answer = await self._ask("/search/repositories", "application/vnd.github+json", params)
            try:
                hits = [repository.hit().as_json() for repository in _Found.model_validate_json(answer.text).items]
            except (ValidationError, ValueError) as error:
                raise malformed("github", str(error)) from error
            return Reply(answer=canonical_json(hits), model="github", cost=0.0)

        reply = await self._look_up("github.search", "github", {"url": self._url, "params": params}, send)
        return by_date(query, [SearchHit.from_json(record) for record in json.loads(reply.answer)], as_of, k, "keep")

    async def file(self, repository: str, path: str = "") -> str:
        """The text of `path` in `owner/name`, its README when `path` is empty; says so when there is none."""
        place = f"/repos/{repository}/" + (f"contents/{quote(path.lstrip('/'))}" if path else "readme")

        async def send() -> Reply:
            answer = await self._ask(place, "application/vnd.github.raw+json", {}, missing=True)
            text = None if answer.status == 404 else answer.text
            return Reply(answer=canonical_json(text), model="github", cost=0.0)

        reply = await self._look_up("github.file", "github", {"url": self._url, "place": place}, send)
        text = json.loads(reply.answer)
        return f"{repository} has no {path or 'README'}" if text is None else str(text)

    async def _ask(self, place: str, accept: str, params: dict[str, Any], *, missing: bool = False) -> Answer:
        headers = {"User-Agent": self._agent, "Accept": accept, "X-GitHub-Api-Version": "2022-11-28"}
        token = os.environ.get(TOKEN, "")
        if token:
            headers["Authorization"] = f"Bearer {token}"
        answer = await ask("github", "GET", f"{self._url}{place}", headers=headers, params=params)
        if answer.status == 200 or (missing and answer.status == 404):
            return answer
        try:
            words = _Message.model_validate_json(answer.text).message
        except ValidationError:
            words = answer.text
        raise failure("github", answer, words, secret=token)
