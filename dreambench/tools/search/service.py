"""What all search services over HTTP have in common: the key, the request, the errors, the date.

A subclass says what is sent (`request`), how an answer is read (`read`), and which words stand for trouble (`words`).
"""

# Real annotations, as in `tools.web`.

import json
import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, ClassVar

from pydantic import ValidationError

from dreambench.engine.call import Reply, canonical_json
from dreambench.engine.clock import Clock
from dreambench.errors import Problem, ProviderError
from dreambench.tools.api import Answer, ask, failure, malformed
from dreambench.tools.results import Search, SearchHit, by_date
from dreambench.tools.toolset import K
from dreambench.tools.web import WebTools


@dataclass(frozen=True, slots=True)
class Request:
    """One search as it goes over the wire, without the key."""

    method: str
    place: str
    params: Mapping[str, Any] = field(default_factory=dict)
    json: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A read answer: results in order, and the price in US dollars where the service tells it."""

    hits: Sequence[SearchHit]
    cost: float | None = None


@dataclass(kw_only=True, eq=False)
class SearchService(WebTools):
    """A search service. `price` is in US dollars a search (null: unknown), `base_url` where it is asked."""

    service: ClassVar[str]
    key: ClassVar[str | None] = None
    """The environment variable that holds the key; None for services without one."""
    most: ClassVar[int] = 20
    """Results a request may ask for."""

    base_url: str
    price: float | None = None

    @abstractmethod
    def request(self, query: str, as_of: date | None, k: int) -> Request:
        """What is sent for `k` results."""

    @abstractmethod
    def headers(self, key: str) -> Mapping[str, str]:
        """How the key is sent."""

    @abstractmethod
    def read(self, text: str, today: date) -> Found:
        """The answer's results. Raises ValueError (pydantic's too) for one that is not in the service's form."""

    @abstractmethod
    def words(self, text: str) -> str:
        """The service's own words in the body of an error. May raise ValueError: then the body is shown."""

    def trouble(self, answer: Answer, words: str, key: str) -> ProviderError:
        """What an error means; services with statuses of their own add to it."""
        return failure(self.service, answer, words, secret=key)

    @property
    def _can_search(self) -> bool:
        return True

    def identity(self) -> Mapping[str, Any]:
        return {**super().identity(), "search": self.service, "base_url": self.base_url}

    def needs(self) -> Sequence[Problem]:
        missing = self.key and not os.environ.get(self.key)
        keys = [Problem("tools", f"{self.service} needs a key", type=f"export {self.key}=...")] if missing else []
        return [*super().needs(), *keys]

    async def web_search(self, query: str, as_of: date | None, k: int = K) -> Search:
        """The `k` best results that were out by `as_of`; more are asked for where some will be too late."""
        asked = min(self.most, 2 * k if as_of else k)
        request = self.request(query, as_of, asked)
        body = {"url": f"{self.base_url.rstrip('/')}{request.place}", "params": dict(request.params), "json": request.json}
        reply = await self._look_up(
            f"{self.service}.web_search", self.service, body, lambda: self._send(request), metered=self.key is not None
        )
        return by_date(query, [SearchHit.from_json(record) for record in json.loads(reply.answer)], as_of, k, self.undated)

    async def _send(self, request: Request) -> Reply:
        key = os.environ.get(self.key, "") if self.key else ""
        answer = await ask(
            self.service,
            request.method,
            f"{self.base_url.rstrip('/')}{request.place}",
            headers={"User-Agent": self.page.user_agent, "Accept": "application/json", **self.headers(key)},
            params=request.params,
            json=request.json,
        )
        if answer.status != 200:
            raise self.trouble(answer, self._words(answer), key)
        try:
            found = self.read(answer.text, Clock().today())
        except (ValidationError, ValueError) as error:
            raise malformed(self.service, " ".join(str(error).split())) from error
        cost = found.cost if found.cost is not None else self.price
        hits = canonical_json([hit.as_json() for hit in found.hits])
        return Reply(answer=hits, model=self.service, cost=cost if self.key else 0.0)

    def _words(self, answer: Answer) -> str:
        try:
            return self.words(answer.text)
        except ValueError:
            return answer.text
