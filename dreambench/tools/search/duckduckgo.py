"""DuckDuckGo through the package `ddgs` (the extra `web`): no key, no dates, and limits that nobody publishes."""

# Real annotations, as in `tools.web`.

import asyncio
import importlib.util
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

from dreambench.engine.call import Reply, canonical_json
from dreambench.errors import Problem, ProviderError
from dreambench.install import extra_hint
from dreambench.tools.results import Search, SearchHit, by_date
from dreambench.tools.toolset import K
from dreambench.tools.web import WebTools

SECONDS = 20
_NOTHING = "No results found."


@dataclass(kw_only=True, eq=False)
class DuckduckgoTools(WebTools):
    """`region` is DuckDuckGo's (`us-en`, `cn-zh`, `wt-wt` for none)."""

    name: ClassVar[str] = "web_duckduckgo"

    region: str = "wt-wt"

    @property
    def _can_search(self) -> bool:
        return True

    def identity(self) -> Mapping[str, Any]:
        return {**super().identity(), "search": "duckduckgo", "region": self.region}

    def needs(self) -> Sequence[Problem]:
        found = importlib.util.find_spec("ddgs") is not None
        missing = [] if found else [Problem("tools", "the package ddgs is needed", type=extra_hint("web"))]
        return [*super().needs(), *missing]

    async def web_search(self, query: str, as_of: date | None, k: int = K) -> Search:
        """The `k` best results; with `as_of`, of those that DuckDuckGo itself holds to be older (it gives no dates)."""
        keys: dict[str, Any] = {"region": self.region, "safesearch": "off", "max_results": k, "backend": "duckduckgo"}
        if as_of:
            keys["timelimit"] = f"1990-01-01..{as_of.isoformat()}"
        reply = await self._look_up(
            "duckduckgo.web_search",
            "duckduckgo",
            {"query": query, **keys},
            lambda: asyncio.to_thread(_search, query, keys),
        )
        return by_date(query, [SearchHit.from_json(record) for record in json.loads(reply.answer)], as_of, k, self.undated)


def _search(query: str, keys: Mapping[str, Any]) -> Reply:
    """One attempt. Raises ProviderError for limits, timeouts and whatever else the package could not get through."""
    from ddgs import DDGS
    from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

    try:
        found = DDGS(timeout=SECONDS).text(query, **keys)
    except RatelimitException as error:
        raise ProviderError(f"duckduckgo: {error}", code="rate_limited") from error
    except TimeoutException as error:
        raise ProviderError(f"duckduckgo: {error}", code="timeout") from error
    except DDGSException as error:
        if str(error) != _NOTHING:
            raise ProviderError(f"duckduckgo: {error}", code="server_error") from error
        found = []
    try:
        hits = [SearchHit(result["href"], result["title"], result["body"]).as_json() for result in found]
    except (KeyError, TypeError) as error:
        raise ProviderError(f"duckduckgo: a result without {error}", code="server_error") from error
    return Reply(answer=canonical_json(hits), model="duckduckgo", cost=0.0)
