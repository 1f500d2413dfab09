"""SearXNG, self-hosted: GET /search?format=json. An empty answer whose engines all failed is trouble, not "no results"."""

# Real annotations, as in `tools.web`.

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

from pydantic import BaseModel, Field

from dreambench.errors import Problem, ProviderError
from dreambench.tools.api import Answer
from dreambench.tools.published import published
from dreambench.tools.results import SearchHit
from dreambench.tools.search.service import Found, Request, SearchService


class _Result(BaseModel):
    title: str = ""
    url: str
    content: str | None = None
    published: str | None = Field(default=None, alias="publishedDate")


class _Answer(BaseModel):
    results: list[_Result]
    unresponsive: list[Any] = Field(default=[], alias="unresponsive_engines")


@dataclass(kw_only=True, eq=False)
class SearxngTools(SearchService):
    """`base_url` is your instance; its settings need `json` among `search.formats`. `engines` is a comma list or null."""

    name: ClassVar[str] = "web_searxng"
    service: ClassVar[str] = "searxng"

    base_url: str = ""
    language: str = "all"
    engines: str | None = None

    def identity(self) -> Mapping[str, Any]:
        return {**super().identity(), "language": self.language, "engines": self.engines}

    def needs(self) -> Sequence[Problem]:
        missing = not self.base_url.startswith(("http://", "https://"))
        where = Problem("tools.base_url", "the address of your SearXNG instance is needed", type="tools.base_url=http://...")
        return [*super().needs(), *([where] if missing else [])]

    def request(self, query: str, as_of: date | None, k: int) -> Request:
        params = {"q": query, "format": "json", "language": self.language}
        return Request("GET", "/search", params=params | ({"engines": self.engines} if self.engines else {}))

    def headers(self, key: str) -> Mapping[str, str]:
        return {}

    def read(self, text: str, today: date) -> Found:
        answer = _Answer.model_validate_json(text)
        if not answer.results and answer.unresponsive:
            raise ProviderError(f"searxng: no engine answered: {answer.unresponsive}"[:300], code="server_error")
        return Found(
            [SearchHit(r.url, r.title or r.url, r.content or "", published(r.published, today)) for r in answer.results]
        )

    def words(self, text: str) -> str:
        return ""

    def trouble(self, answer: Answer, words: str, key: str) -> ProviderError:
        if answer.status == 403:
            why = "searxng: HTTP 403: add json to search.formats in the instance's settings.yml"
            return ProviderError(why, code="auth", fatal=True)
        return super().trouble(answer, words, key)
