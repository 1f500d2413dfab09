"""Every search service: what is sent over the wire and what is read of the answer; then what each error means."""

from __future__ import annotations

import asyncio
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from dreambench.engine.retry import RetryPolicy
from dreambench.errors import ProviderError
from dreambench.tools.published import published
from dreambench.tools.results import Search
from dreambench.tools.search.brave import BraveTools
from dreambench.tools.search.duckduckgo import DuckduckgoTools
from dreambench.tools.search.exa import ExaTools
from dreambench.tools.search.searxng import SearxngTools
from dreambench.tools.search.serper import SerperTools
from dreambench.tools.search.service import SearchService
from dreambench.tools.search.tavily import TavilyTools
from dreambench.tools.settings import PageSettings
from tests.support.gateway import TestGateway
from tests.tools.site import Seen, Site

KEY = "test-key-123"
AS_OF = date(2025, 3, 31)
PAGE = PageSettings(contact="https://example.org/me")


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    for name in ("TAVILY", "SERPER", "BRAVE", "EXA"):
        monkeypatch.setenv(f"{name}_API_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Site() as started:
        yield started


@dataclass(frozen=True)
class Wire:
    """One service's documented form. `results` hold an early, a late and an undated page, in this order."""

    tools: type[SearchService]
    place: str
    method: str
    key_header: tuple[str, str] | None
    query: str
    count: str | None
    as_of: tuple[str, Any] | None
    answer: dict[str, Any]
    error: dict[str, Any]
    words: str
    quota: tuple[int, dict[str, Any]] | None
    refused: int = 401
    settings: dict[str, Any] = field(default_factory=dict)
    cost: float | None = None
    metered: bool = True

    def sent(self, seen: Seen) -> Any:
        return seen.json if self.method == "POST" else dict(seen.query)


def rows(url: str, title: str, text: str, day: str | None, days: list[str | None]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for number, value in enumerate(days):
        row: dict[str, Any] = {url: f"https://{number}.example/", title: f"Title {number}", text: f"Text {number}"}
        if day and value is not None:
            row[day] = value
        made.append(row)
    return made


WIRES = {
    "tavily": Wire(
        TavilyTools,
        "/search",
        "POST",
        ("authorization", f"Bearer {KEY}"),
        "query",
        "max_results",
        ("end_date", "2025-03-31"),
        {
            "query": "malt",
            "response_time": 1.2,
            "results": [
                {**row, "score": 0.9, "raw_content": None}
                for row in rows(
                    "url",
                    "title",
                    "content",
                    "published_date",
                    ["Tue, 04 Mar 2025 07:00:00 GMT", "Fri, 04 Apr 2025 07:00:00 GMT", None],
                )
            ],
        },
        {"detail": {"error": "Unauthorized: missing or invalid API key."}},
        "missing or invalid API key",
        (432, {"detail": {"error": "This request exceeds your plan's set usage limit."}}),
    ),
    "serper": Wire(
        SerperTools,
        "/search",
        "POST",
        ("x-api-key", KEY),
        "q",
        "num",
        ("tbs", "cdr:1,cd_min:1/1/1900,cd_max:3/31/2025"),
        {
            "searchParameters": {"q": "malt", "type": "search", "num": 10, "engine": "google"},
            "organic": [
                {**row, "position": number}
                for number, row in enumerate(rows("link", "title", "snippet", "date", ["Mar 4, 2025", "Apr 4, 2025", None]), 1)
            ],
            "credits": 1,
        },
        {"message": "Unauthorized.", "statusCode": 403},
        "Unauthorized",
        (400, {"message": "Not enough credits", "statusCode": 400}),
        refused=403,
    ),
    "brave": Wire(
        BraveTools,
        "/res/v1/web/search",
        "GET",
        ("x-subscription-token", KEY),
        "q",
        "count",
        ("freshness", "1970-01-01to2025-03-31"),
        {
            "type": "search",
            "query": {"original": "malt"},
            "web": {
                "type": "search",
                "results": rows(
                    "url", "title", "description", "page_age", ["2025-03-04T07:00:00", "2025-04-04T07:00:00", None]
                ),
            },
        },
        {
            "type": "ErrorResponse",
            "error": {"status": 422, "code": "SUBSCRIPTION_TOKEN_INVALID", "detail": "The token is invalid."},
        },
        "SUBSCRIPTION_TOKEN_INVALID",
        (429, {"type": "ErrorResponse", "error": {"status": 429, "code": "QUOTA_LIMITED", "detail": "Plan exhausted."}}),
        refused=422,
    ),
    "exa": Wire(
        ExaTools,
        "/search",
        "POST",
        ("x-api-key", KEY),
        "query",
        "numResults",
        ("endPublishedDate", "2025-03-31T23:59:59.999Z"),
        {
            "requestId": "r",
            "results": [
                {**row, "id": row["url"], "author": None}
                for row in rows(
                    "url", "title", "text", "publishedDate", ["2025-03-04T07:00:00.000Z", "2025-04-04T07:00:00.000Z", None]
                )
            ],
            "costDollars": {"total": 0.005},
        },
        {"requestId": "r", "error": "Invalid API key", "tag": "INVALID_API_KEY"},
        "INVALID_API_KEY: Invalid API key",
        (402, {"requestId": "r", "error": "No more credits", "tag": "NO_MORE_CREDITS"}),
        cost=0.005,
    ),
    "searxng": Wire(
        SearxngTools,
        "/search",
        "GET",
        None,
        "q",
        None,
        None,
        {
            "query": "malt",
            "number_of_results": 0,
            "results": [
                {**row, "engine": "x", "score": 1.0}
                for row in rows(
                    "url", "title", "content", "publishedDate", ["2025-03-04T07:00:00", "2025-04-04T07:00:00", None]
                )
            ],
            "unresponsive_engines": [],
        },
        {},
        "search.formats",
        None,
        refused=403,
        cost=0.0,
        metered=False,
    ),
}


def made(gateway: TestGateway, site: Site, wire: Wire, **keys: Any) -> SearchService:
    return wire.tools(gateway=gateway, page=PAGE, base_url=site.url(""), **{**wire.settings, **keys})


def search(tools: Any, as_of: date | None = None, k: int = 10) -> Search:
    return asyncio.run(tools.web_search("price of malt", as_of, k))


def failing(tools: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        search(tools)
    return caught.value


@pytest.fixture(params=WIRES.values(), ids=WIRES)
def wire(request: pytest.FixtureRequest) -> Wire:
    return request.param  # type: ignore[no-any-return]


def test_the_request_is_the_documented_one(gateway: TestGateway, site: Site, wire: Wire) -> None:
    site.put(wire.place, wire.answer)
    search(made(gateway, site, wire), AS_OF, 4)
    (seen,) = site.requests
    sent = wire.sent(seen)
    assert (seen.method, seen.path) == (wire.method, wire.place)
    assert sent[wire.query] == "price of malt"
    if wire.key_header:
        assert seen.headers[wire.key_header[0]] == wire.key_header[1]
    if wire.count:
        assert int(sent[wire.count]) == 8, "twice as many, because some will be too late"
    if wire.as_of:
        assert sent[wire.as_of[0]] == wire.as_of[1]
    assert seen.headers["user-agent"].startswith("dreambench/")


def test_without_a_date_none_is_sent(gateway: TestGateway, site: Site, wire: Wire) -> None:
    site.put(wire.place, wire.answer)
    search(made(gateway, site, wire), None, 4)
    sent = wire.sent(site.requests[0])
    assert not wire.as_of or wire.as_of[0] not in sent
    assert not wire.count or int(sent[wire.count]) == 4


def test_the_answer_is_read_and_later_pages_are_left_out(gateway: TestGateway, site: Site, wire: Wire) -> None:
    site.put(wire.place, wire.answer)
    found = search(made(gateway, site, wire))
    assert [(hit.url, hit.title, hit.snippet) for hit in found.hits] == [
        (f"https://{number}.example/", f"Title {number}", f"Text {number}") for number in range(3)
    ]
    assert [hit.published for hit in found.hits] == [date(2025, 3, 4), date(2025, 4, 4), None]
    kept = search(made(gateway, site, wire), AS_OF)
    assert ([hit.title for hit in kept.hits], kept.later, kept.undated) == (["Title 0", "Title 2"], 1, 0)
    dropped = search(made(gateway, site, wire, undated="drop"), AS_OF)
    assert ([hit.title for hit in dropped.hits], dropped.later, dropped.undated) == (["Title 0"], 1, 1)


def test_a_search_is_made_once_and_its_price_is_in_the_ledger(gateway: TestGateway, site: Site, wire: Wire) -> None:
    site.put(wire.place, wire.answer)
    for _ in range(2):
        search(made(gateway, site, wire))
    assert len(site.requests) == 1
    assert [(r.role, r.source, r.cost) for r in gateway.records] == [
        ("tools", "provider", wire.cost),
        ("tools", "cache", wire.cost),
    ]
    assert KEY not in str(gateway.records)


def test_a_price_of_ones_own(gateway: TestGateway, site: Site) -> None:
    site.put("/search", WIRES["tavily"].answer)
    search(made(gateway, site, WIRES["tavily"], price=0.008))
    assert gateway.records[0].cost == 0.008


def test_a_refused_key_stops_everything(gateway: TestGateway, site: Site, wire: Wire) -> None:
    site.put(wire.place, wire.error, status=wire.refused)
    error = failing(made(gateway, site, wire))
    assert (error.code, error.fatal) == ("auth", True) and wire.words in str(error)
    assert len(site.requests) == 1


@pytest.mark.parametrize("name", ["tavily", "serper", "brave", "exa"])
def test_a_used_up_quota_stops_everything(gateway: TestGateway, site: Site, name: str) -> None:
    wire = WIRES[name]
    assert wire.quota
    site.put(wire.place, wire.quota[1], status=wire.quota[0])
    error = failing(made(gateway, site, wire))
    assert (error.code, error.fatal) == ("quota", True) and len(site.requests) == 1


def test_too_often_waits_as_long_as_is_asked_for(gateway: TestGateway, site: Site, wire: Wire) -> None:
    site.put(wire.place, {}, status=429, Retry_After="1")
    site.put(wire.place, wire.answer)
    started = datetime.now(UTC)
    assert len(search(made(gateway, site, wire)).hits) == 3
    assert datetime.now(UTC) - started >= timedelta(seconds=0.9)
    assert gateway.records[0].attempts == 2


@pytest.mark.parametrize(("status", "code"), [(500, "server_error"), (503, "server_error"), (400, "bad_request")])
def test_other_errors(gateway: TestGateway, site: Site, wire: Wire, status: int, code: str) -> None:
    gateway._retry = RetryPolicy(attempts=2, base=0.01)
    site.put(wire.place, "<h1>Something</h1>", status=status)
    error = failing(made(gateway, site, wire))
    assert error.code == code
    assert len(site.requests) == (1 if code == "bad_request" else 2)


@pytest.mark.parametrize(
    "body", ["{broken", "[]", '{"nothing": 1}', '{"results": 5, "web": 5, "organic": 5, "type": "search"}', ""]
)
def test_an_answer_in_another_form_is_trouble_and_no_empty_result(
    gateway: TestGateway, site: Site, wire: Wire, body: str
) -> None:
    gateway._retry = RetryPolicy(attempts=1)
    site.put(wire.place, body, media="application/json")
    error = failing(made(gateway, site, wire))
    assert error.code == "server_error" and "cannot be read" in str(error)


def test_a_key_in_an_error_never_comes_out(gateway: TestGateway, site: Site) -> None:
    site.put("/search", {"message": f"bad key {KEY}"}, status=403)
    assert KEY not in str(failing(made(gateway, site, WIRES["serper"])))


def test_nobody_there(gateway: TestGateway, site: Site, wire: Wire) -> None:
    gateway._retry = RetryPolicy(attempts=1)
    site.act(wire.place, lambda handler: handler.connection.close())
    assert failing(made(gateway, site, wire)).code == "connection"


@pytest.mark.parametrize("name", ["tavily", "serper", "brave", "exa"])
def test_a_missing_key_is_said_before_anything_runs(
    gateway: TestGateway, site: Site, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = made(gateway, site, WIRES[name])
    assert tools.needs() == []
    monkeypatch.delenv(f"{name.upper()}_API_KEY")
    assert [problem.type for problem in tools.needs()] == [f"export {name.upper()}_API_KEY=..."]


def test_brave_says_when_its_window_opens_again(gateway: TestGateway, site: Site) -> None:
    wire = WIRES["brave"]
    limited = {"type": "ErrorResponse", "error": {"code": "RATE_LIMITED", "detail": "Too fast."}}
    site.put(wire.place, limited, status=429, X_RateLimit_Remaining="0, 1200", X_RateLimit_Reset="7, 90000")
    gateway._retry = RetryPolicy(attempts=1)
    assert failing(made(gateway, site, wire)).retry_after == 7


def test_brave_texts_come_without_markup(gateway: TestGateway, site: Site) -> None:
    result = {
        "url": "https://a.example",
        "title": "M&amp;S",
        "description": "The <strong>price</strong> of malt",
        "age": "March 4, 2025",
    }
    site.put("/res/v1/web/search", {"type": "search", "web": {"results": [result]}})
    (hit,) = search(made(gateway, site, WIRES["brave"])).hits
    assert (hit.title, hit.snippet, hit.published) == ("M&S", "The price of malt", date(2025, 3, 4))


def test_searxng_whose_engines_all_failed_found_nothing_yet(gateway: TestGateway, site: Site) -> None:
    site.put("/search", {"results": [], "unresponsive_engines": [["google", "timeout"]]})
    assert failing(made(gateway, site, WIRES["searxng"])).code == "server_error"
    site.put("/search", {"results": [], "unresponsive_engines": []})
    site.put("/search", {"results": [], "unresponsive_engines": []})
    assert search(made(gateway, site, WIRES["searxng"])).hits == ()


def test_searxng_needs_an_address(gateway: TestGateway) -> None:
    assert [problem.where for problem in SearxngTools(gateway=gateway, page=PAGE).needs()] == ["tools.base_url"]


class Client:
    """Stands in for the client of `ddgs`: notes the calls, gives or raises what it is told."""

    calls: list[dict[str, Any]]
    outcome: Any

    def __init__(self, **keys: Any) -> None:
        assert keys["timeout"] > 0

    def text(self, query: str, **keys: Any) -> list[dict[str, str]]:
        type(self).calls.append({"query": query, **keys})
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome  # type: ignore[no-any-return]


@pytest.fixture
def ddgs(monkeypatch: pytest.MonkeyPatch) -> type[Client]:
    """The package's names, as its version 9 has them, with the client replaced."""
    package, exceptions = types.ModuleType("ddgs"), types.ModuleType("ddgs.exceptions")
    exceptions.DDGSException = type("DDGSException", (Exception,), {})  # type: ignore[attr-defined]
    for name in ("RatelimitException", "TimeoutException"):
        setattr(exceptions, name, type(name, (exceptions.DDGSException,), {}))
    Client.calls, Client.outcome = [], []
    package.DDGS = Client  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ddgs", package)
    monkeypatch.setitem(sys.modules, "ddgs.exceptions", exceptions)
    return Client


def test_duckduckgo_request_and_answer(gateway: TestGateway, ddgs: type[Client]) -> None:
    ddgs.outcome = [{"title": "Malt", "href": "https://a.example/", "body": "Malt rose."}]
    found = search(DuckduckgoTools(gateway=gateway, page=PAGE, region="us-en"), AS_OF, 4)
    assert [(hit.url, hit.title, hit.snippet, hit.published) for hit in found.hits] == [
        ("https://a.example/", "Malt", "Malt rose.", None)
    ]
    assert ddgs.calls == [
        {
            "query": "price of malt",
            "region": "us-en",
            "safesearch": "off",
            "max_results": 4,
            "backend": "duckduckgo",
            "timelimit": "1990-01-01..2025-03-31",
        }
    ]
    dropped = search(DuckduckgoTools(gateway=gateway, page=PAGE, region="us-en", undated="drop"), AS_OF, 4)
    assert (dropped.hits, dropped.undated) == ((), 1)


@pytest.mark.parametrize(
    ("name", "message", "code"),
    [
        ("RatelimitException", "202 Ratelimit", "rate_limited"),
        ("TimeoutException", "timed out", "timeout"),
        ("DDGSException", "no engine", "server_error"),
    ],
)
def test_duckduckgo_errors(gateway: TestGateway, ddgs: type[Client], name: str, message: str, code: str) -> None:
    gateway._retry = RetryPolicy(attempts=1)
    ddgs.outcome = getattr(sys.modules["ddgs.exceptions"], name)(message)
    assert failing(DuckduckgoTools(gateway=gateway, page=PAGE)).code == code


def test_duckduckgo_that_finds_nothing(gateway: TestGateway, ddgs: type[Client]) -> None:
    ddgs.outcome = sys.modules["ddgs.exceptions"].DDGSException("No results found.")
    assert search(DuckduckgoTools(gateway=gateway, page=PAGE)).hits == ()


TODAY = date(2025, 4, 10)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2025-03-04", date(2025, 3, 4)),
        ("2025-03-04T23:00:00Z", date(2025, 3, 4)),
        ("Tue, 04 Mar 2025 07:00:00 GMT", date(2025, 3, 4)),
        ("Mar 4, 2025", date(2025, 3, 4)),
        ("September 4, 2024", date(2024, 9, 4)),
        ("4 Sept 2024", date(2024, 9, 4)),
        ("2025年3月4日", date(2025, 3, 4)),
        ("3 days ago", date(2025, 4, 7)),
        ("5 hours ago", TODAY),
        ("2 weeks ago", date(2025, 3, 27)),
        ("1 month ago", date(2025, 3, 11)),
        ("3天前", date(2025, 4, 7)),
        ("yesterday", date(2025, 4, 9)),
        ("2025-13-45", None),
        ("Foo 4, 2025", None),
        ("soon", None),
        ("99999999999 years ago", None),
        ("", None),
        (None, None),
    ],
)
def test_dates_as_services_write_them(text: str | None, day: date | None) -> None:
    assert published(text, TODAY) == day
