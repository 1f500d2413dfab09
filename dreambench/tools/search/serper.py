"""Serper (Google): POST /search, the key in X-API-KEY; dates in words; used-up credits are a 400."""

# Real annotations, as in `tools.web`.

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

from pydantic import BaseModel, Field

from dreambench.tools.published import published
from dreambench.tools.results import SearchHit
from dreambench.tools.search.service import Found, Request, SearchService


class _Result(BaseModel):
    title: str = ""
    link: str
    snippet: str = ""
    date: str | None = None


class _Answer(BaseModel):
    parameters: dict[str, Any] = Field(alias="searchParameters")
    organic: list[_Result] = []


class _Error(BaseModel):
    message: str


@dataclass(kw_only=True, eq=False)
class SerperTools(SearchService):
    """`country` and `language` are Google's gl and hl (null: Google decides)."""

    name: ClassVar[str] = "web_serper"
    service: ClassVar[str] = "serper"
    key: ClassVar[str | None] = "SERPER_API_KEY"

    base_url: str = "https://google.serper.dev"
    country: str | None = None
    language: str | None = None

    def identity(self) -> Mapping[str, Any]:
        return {**super().identity(), "country": self.country, "language": self.language}

    def request(self, query: str, as_of: date | None, k: int) -> Request:
        body: dict[str, Any] = {"q": query, "num": k}
        if as_of:
            body["tbs"] = f"cdr:1,cd_min:1/1/1900,cd_max:{as_of.month}/{as_of.day}/{as_of.year}"
        body |= {name: value for name, value in (("gl", self.country), ("hl", self.language)) if value}
        return Request("POST", "/search", json=body)

    def headers(self, key: str) -> Mapping[str, str]:
        return {"X-API-KEY": key}

    def read(self, text: str, today: date) -> Found:
        results = _Answer.model_validate_json(text).organic
        return Found([SearchHit(r.link, r.title or r.link, r.snippet, published(r.date, today)) for r in results])

    def words(self, text: str) -> str:
        return _Error.model_validate_json(text).message
