"""Brave: GET /res/v1/web/search, the key in X-Subscription-Token; a refused key is a 422, a used-up plan a 429."""

# Real annotations, as in `tools.web`.

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

from pydantic import BaseModel

from dreambench.errors import ProviderError
from dreambench.tools.api import Answer
from dreambench.tools.published import published
from dreambench.tools.results import SearchHit
from dreambench.tools.search.service import Found, Request, SearchService

_TAG = re.compile(r"</?strong>")
_MOST_WORDS = 50


class _Result(BaseModel):
    title: str = ""
    url: str
    description: str = ""
    page_age: str | None = None
    age: str | None = None

    def hit(self, today: date) -> SearchHit:
        day = published(self.page_age, today) or published(self.age, today)
        return SearchHit(self.url, _plain(self.title) or self.url, _plain(self.description), day)


class _Web(BaseModel):
    results: list[_Result] = []


class _Answer(BaseModel):
    type: str
    web: _Web = _Web()


class _Detail(BaseModel):
    code: str = ""
    detail: str = ""


class _Error(BaseModel):
    error: _Detail


@dataclass(kw_only=True, eq=False)
class BraveTools(SearchService):
    """`country` is a two-letter code, `language` a search language code (null: Brave decides)."""

    name: ClassVar[str] = "web_brave"
    service: ClassVar[str] = "brave"
    key: ClassVar[str | None] = "BRAVE_API_KEY"

    base_url: str = "https://api.search.brave.com"
    country: str | None = None
    language: str | None = None

    def identity(self) -> Mapping[str, Any]:
        return {**super().identity(), "country": self.country, "language": self.language}

    def request(self, query: str, as_of: date | None, k: int) -> Request:
        params: dict[str, Any] = {
            "q": " ".join(query.split()[:_MOST_WORDS]),
            "count": k,
            "result_filter": "web",
            "text_decorations": "false",
        }
        if as_of:
            params["freshness"] = f"1970-01-01to{as_of.isoformat()}"
        params |= {name: value for name, value in (("country", self.country), ("search_lang", self.language)) if value}
        return Request("GET", "/res/v1/web/search", params=params)

    def headers(self, key: str) -> Mapping[str, str]:
        return {"X-Subscription-Token": key}

    def read(self, text: str, today: date) -> Found:
        return Found([result.hit(today) for result in _Answer.model_validate_json(text).web.results])

    def words(self, text: str) -> str:
        error = _Error.model_validate_json(text).error
        return f"{error.code}: {error.detail}"

    def trouble(self, answer: Answer, words: str, key: str) -> ProviderError:
        if answer.status == 422 and "TOKEN" in words:
            return ProviderError(f"brave: {words[:300]}", code="auth", fatal=True)
        return super().trouble(answer, words, key)


def _plain(text: str) -> str:
    return html.unescape(_TAG.sub("", text))
