"""arXiv and GitHub: what is sent, what is read, what errors mean; against servers that speak their formats."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from dreambench.engine.retry import RetryPolicy
from dreambench.errors import ProviderError
from dreambench.tools.arxiv import Arxiv
from dreambench.tools.settings import PageSettings
from dreambench.tools.web import WebTools
from tests.support.gateway import TestGateway
from tests.tools.site import Site

AS_OF = date(2024, 6, 30)


def feed(*entries: str) -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom" '
        'xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"><title>ArXiv Query</title>'
        f"<opensearch:totalResults>{len(entries)}</opensearch:totalResults>{''.join(entries)}</feed>"
    )


def entry(number: str, published: str, title: str = "On\n  barley") -> str:
    authors = "".join(f"<author><name>A. Author{n}</name></author>" for n in range(5))
    return (
        f"<entry><id>http://arxiv.org/abs/{number}v2</id><updated>2025-01-01T00:00:00Z</updated>"
        f"<published>{published}T12:00:00Z</published><title>{title}</title><summary>  We show that\nbarley failed. </summary>"
        f'{authors}<link href="http://arxiv.org/pdf/{number}v2" rel="related" title="pdf"/></entry>'
    )


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Site() as started:
        yield started


def tools(gateway: TestGateway, site: Site) -> WebTools:
    return WebTools(
        gateway=gateway,
        page=PageSettings(contact="https://example.org/me"),
        arxiv_url=site.url("/api/query"),
        github_url=site.url(""),
    )


def failing(gateway: TestGateway, work: Any) -> ProviderError:
    gateway._retry = RetryPolicy(attempts=1)
    with pytest.raises(ProviderError) as caught:
        asyncio.run(work)
    return caught.value


def test_arxiv_request_and_answer(gateway: TestGateway, site: Site) -> None:
    site.put(
        "/api/query", feed(entry("2401.00001", "2024-01-02"), entry("2407.00001", "2024-07-02")), media="application/atom+xml"
    )
    found = asyncio.run(tools(gateway, site).arxiv("barley & malt", AS_OF, 5))
    assert site.requests[0].query == {
        "search_query": "all:barley AND all:malt AND submittedDate:[199101010000 TO 202406302359]",
        "start": "0",
        "max_results": "5",
        "sortBy": "relevance",
        "sortOrder": "descending",
    }
    assert site.requests[0].headers["user-agent"].startswith("dreambench/")
    (hit,) = found.hits
    assert (hit.url, hit.title, hit.published) == ("https://arxiv.org/abs/2401.00001v2", "On barley", date(2024, 1, 2))
    assert hit.snippet == "A. Author0, A. Author1, A. Author2 and others. We show that barley failed."
    assert found.later == 1


@pytest.mark.parametrize("query", ["2401.00001", "arXiv:2401.00001", "hep-th/9901001"])
def test_arxiv_by_identifier(gateway: TestGateway, site: Site, query: str) -> None:
    site.put("/api/query", feed(entry("2401.00001", "2024-01-02")))
    asyncio.run(tools(gateway, site).arxiv(query, None, 5))
    assert site.requests[0].query == {"id_list": query.removeprefix("arXiv:"), "max_results": "5"}


def test_arxiv_tells_of_mistakes_in_a_feed(gateway: TestGateway, site: Site) -> None:
    wrong = "<entry><id>https://arxiv.org/api/errors#x</id><title>Error</title><summary>incorrect id format</summary></entry>"
    site.put("/api/query", feed(wrong), status=400)
    error = failing(gateway, tools(gateway, site).arxiv("x", None, 5))
    assert (error.code, error.permanent) == ("bad_request", True) and "incorrect id format" in str(error)


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (503, "busy", "server_error"),
        (429, "busy", "rate_limited"),
        (200, "<html>", "server_error"),
        (200, "<a/>", "server_error"),
    ],
)
def test_arxiv_in_trouble(gateway: TestGateway, site: Site, status: int, body: str, code: str) -> None:
    site.put("/api/query", body, status=status)
    assert failing(gateway, tools(gateway, site).arxiv("x", None, 5)).code == code


def test_arxiv_feeds_cannot_reach_out_or_explode(gateway: TestGateway, site: Site) -> None:
    site.put("/secret", "leaked")
    lines = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    outside = f'<!DOCTYPE feed [<!ENTITY l0 "lol"><!ENTITY out SYSTEM "{site.url("/secret")}">{lines}]>'
    evil = feed(entry("2401.00001", "2024-01-02", title="&out;&l9;")).replace("<feed", f"{outside}<feed", 1)
    site.put("/api/query", evil)
    started = time.monotonic()
    with contextlib.suppress(ProviderError):  # refused, or read without them
        found = asyncio.run(tools(gateway, site).arxiv("x", None, 5))
        assert "leaked" not in found.hits[0].title and "lollol" not in found.hits[0].title
    assert "/secret" not in site.paths and time.monotonic() - started < 5


def test_arxiv_itself_is_asked_slowly(gateway: TestGateway) -> None:
    arxiv = Arxiv(tools, "https://export.arxiv.org/api/query", "x")  # type: ignore[arg-type]
    assert arxiv._turns.delay == 3.0 and arxiv._turns.per_host == 1


REPOSITORIES = {
    "total_count": 2,
    "incomplete_results": False,
    "items": [
        {
            "full_name": "a/barley",
            "html_url": "https://github.com/a/barley",
            "description": "Barley data",
            "stargazers_count": 1234,
            "language": "Python",
            "created_at": "2020-01-02T00:00:00Z",
            "pushed_at": "2024-05-01T00:00:00Z",
        },
        {"full_name": "b/b", "html_url": "https://github.com/b/b", "description": None, "created_at": "2024-12-01T00:00:00Z"},
    ],
}


def test_github_search_request_and_answer(gateway: TestGateway, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "t0ken")
    site.put("/search/repositories", REPOSITORIES)
    found = asyncio.run(tools(gateway, site).github_search("barley", AS_OF, 5))
    (seen,) = site.requests
    assert seen.query == {"q": "barley created:<=2024-06-30", "per_page": "5"}
    assert seen.headers["accept"] == "application/vnd.github+json" and seen.headers["x-github-api-version"] == "2022-11-28"
    assert seen.headers["authorization"] == "Bearer t0ken"
    (hit,) = found.hits
    assert (hit.title, hit.published, found.later) == ("a/barley", date(2020, 1, 2), 1)
    assert hit.snippet == "Barley data (1,234 stars, Python, last push 2024-05-01T00:00:00Z)"


def test_github_files(gateway: TestGateway, site: Site) -> None:
    site.put("/repos/a/barley/readme", "# Barley", media="application/vnd.github.raw+json")
    site.put("/repos/a/barley/contents/src/a%20b.py", "x = 1", media="application/vnd.github.raw+json")
    set_ = tools(gateway, site)
    assert asyncio.run(set_.call("github_file", {"repository": "a/barley"})).text == "# Barley"
    assert asyncio.run(set_.github_file("a/barley", "/src/a b.py")) == "x = 1"
    assert asyncio.run(set_.github_file("a/barley", "none.py")) == "a/barley has no none.py"
    assert site.requests[0].headers["accept"] == "application/vnd.github.raw+json"
    assert "authorization" not in site.requests[0].headers


def test_github_limits_are_waited_out(gateway: TestGateway, site: Site) -> None:
    body = {"message": "API rate limit exceeded"}
    reset = str(int(time.time()) + 50)
    site.put("/search/repositories", body, status=403, X_RateLimit_Remaining="0", X_RateLimit_Reset=reset)
    error = failing(gateway, tools(gateway, site).github_search("x", None, 5))
    assert error.code == "rate_limited" and error.retry_after == pytest.approx(50, abs=5)


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (401, {"message": "Bad credentials"}, "auth"),
        (403, {"message": "Forbidden"}, "auth"),
        (422, {"message": "Validation Failed"}, "bad_request"),
        (500, "oops", "server_error"),
        (200, "{broken", "server_error"),
        (200, {"items": [{"full_name": "x"}]}, "server_error"),
    ],
)
def test_github_errors(gateway: TestGateway, site: Site, status: int, body: Any, code: str) -> None:
    site.put("/search/repositories", body, status=status)
    assert failing(gateway, tools(gateway, site).github_search("x", None, 5)).code == code
