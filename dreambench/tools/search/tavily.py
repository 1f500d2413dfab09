"""Tavily: POST /search, a bearer key; 432 and 433 say that a plan or a pay-as-you-go limit is used up."""

# Real annotations, as in `tools.web`.

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar, Literal

from pydantic import BaseModel

from dreambench.errors import ProviderError
from dreambench.tools.api import Answer
from dreambench.tools.published import published
from dreambench.tools.results import SearchHit
from dreambench.tools.search.service import Found, Request, SearchService


class _Result(BaseModel):
    title: str | None = None
    url: str
    content: str | None = None
    published_date: str | None = None


class _Answer(BaseModel):
    results: list[_Result]


class _Detail(BaseModel):
    error: str


class _Error(BaseModel):
    detail: _Detail | str


@dataclass(kw_only=True, eq=False)
class TavilyTools(SearchService):
    """`depth=advanced` costs two credits a search; `topic=news` gives dates."""

    name: ClassVar[str] = "web_tavily"
    service: ClassVar[str] = "tavily"
    key: ClassVar[str | None] = "TAVILY_API_KEY"

    base_url: str = "https://api.tavily.com"
    depth: Literal["basic", "advanced"] = "basic"
    topic: Literal["general", "news", "finance"] = "general"

    def identity(self) -> Mapping[str, Any]:
        return {**super().identity(), "depth": self.depth, "topic": self.topic}

    def request(self, query: str, as_of: date | None, k: int) -> Request:
        body: dict[str, Any] = {"query": query, "max_results": k, "search_depth": self.depth, "topic": self.topic}
        if as_of:
            body["end_date"] = as_of.isoformat()
        return Request("POST", "/search", json=body)

    def headers(self, key: str) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {key}"}

    def read(self, text: str, today: date) -> Found:
        results = _Answer.model_validate_json(text).results
        return Found([SearchHit(r.url, r.title or r.url, r.content or "", published(r.published_date, today)) for r in results])

    def words(self, text: str) -> str:
        detail = _Error.model_validate_json(text).detail
        return detail if isinstance(detail, str) else detail.error

    def trouble(self, answer: Answer, words: str, key: str) -> ProviderError:
        if answer.status in (432, 433):
            return ProviderError(f"tavily: HTTP {answer.status}: {words[:300]}", code="quota", fatal=True)
        return super().trouble(answer, words, key)
