"""Exa: POST /search, the key in x-api-key; the price comes with the answer; used-up credits are a 402."""

# Real annotations, as in `tools.web`.

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, Field

from dreambench.tools.published import published
from dreambench.tools.results import SearchHit
from dreambench.tools.search.service import Found, Request, SearchService

EXCERPT = 1_000
"""Characters of a page's text that are asked for."""


class _Result(BaseModel):
    title: str | None = None
    url: str
    published: str | None = Field(default=None, alias="publishedDate")
    text: str | None = None


class _Cost(BaseModel):
    total: float | None = None


class _Answer(BaseModel):
    results: list[_Result]
    cost: _Cost = Field(default=_Cost(), alias="costDollars")


class _Error(BaseModel):
    error: str
    tag: str = ""


@dataclass(kw_only=True, eq=False)
class ExaTools(SearchService):
    """`kind` is Exa's search type."""

    name: ClassVar[str] = "web_exa"
    service: ClassVar[str] = "exa"
    key: ClassVar[str | None] = "EXA_API_KEY"

    base_url: str = "https://api.exa.ai"
    kind: Literal["auto", "fast", "neural", "keyword", "deep"] = "auto"

    def identity(self) -> Mapping[str, Any]:
        return {**super().identity(), "kind": self.kind}

    def request(self, query: str, as_of: date | None, k: int) -> Request:
        body: dict[str, Any] = {
            "query": query,
            "numResults": k,
            "type": self.kind,
            "contents": {"text": {"maxCharacters": EXCERPT}},
        }
        if as_of:
            body["endPublishedDate"] = f"{as_of.isoformat()}T23:59:59.999Z"
        return Request("POST", "/search", json=body)

    def headers(self, key: str) -> Mapping[str, str]:
        return {"x-api-key": key}

    def read(self, text: str, today: date) -> Found:
        answer = _Answer.model_validate_json(text)
        hits = [
            SearchHit(r.url, r.title or r.url, " ".join((r.text or "").split()), published(r.published, today))
            for r in answer.results
        ]
        return Found(hits, answer.cost.total)

    def words(self, text: str) -> str:
        error = _Error.model_validate_json(text)
        return f"{error.tag}: {error.error}" if error.tag else error.error
