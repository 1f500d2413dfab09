"""Reading pages: outcomes, snapshots and replay, robots.txt, politeness, dates, PDFs; against a site on loopback."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Iterator
from datetime import date, timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from dreambench.engine.store import CacheMode
from dreambench.errors import CacheMissError, ProviderError
from dreambench.tools.page import Page
from dreambench.tools.results import Visit
from dreambench.tools.settings import PageSettings
from dreambench.tools.web import WebTools
from tests.support.gateway import TestGateway, make_gateway
from tests.tools.site import Site, article

LONG_AGO = date(2024, 6, 1)


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as started:
        yield started


def tools(gateway: TestGateway, site: Site, undated: Any = "keep", **keys: Any) -> WebTools:
    page = PageSettings(**{"contact": "https://example.org/me", "delay": 0.0, **keys})
    return WebTools(gateway=gateway, page=page, allow_private=[site.host], undated=undated)


def visit(gateway: TestGateway, site: Site, path: str, as_of: date | None = None, **keys: Any) -> Visit:
    return asyncio.run(tools(gateway, site, **keys).page_visit(site.url(path), as_of))


def test_a_page_is_read_with_title_and_date(gateway: TestGateway, site: Site) -> None:
    site.put("/a", article(title="Barley in 2023"))
    found = visit(gateway, site, "/a#part")
    assert found.page and "Barley failed in the north" in found.page.text
    assert (found.page.title, found.page.published, found.reason_code) == ("Barley in 2023", date(2024, 3, 1), "ok")
    assert (found.url, found.page.url, found.status) == (site.url("/a#part"), site.url("/a"), 200)
    assert site.requests[-1].headers["user-agent"].startswith("dreambench/") and "+https://example.org/me" in str(
        site.requests[-1].headers
    )


OUTCOMES = {404: "dead", 410: "dead", 401: "blocked", 403: "blocked", 405: "blocked", 451: "blocked", 402: "paywall"}


@pytest.mark.parametrize(("status", "reason"), OUTCOMES.items())
def test_a_refusal_is_an_outcome(gateway: TestGateway, site: Site, status: int, reason: str) -> None:
    site.put("/a", "no", status=status)
    found = visit(gateway, site, "/a")
    assert (found.reason_code, found.status, found.page) == (reason, status, None)


@pytest.mark.parametrize(
    ("status", "code"),
    [(429, "rate_limited"), (500, "server_error"), (502, "server_error"), (503, "server_error"), (408, "timeout")],
)
def test_our_own_trouble_is_an_error_and_never_a_verdict(gateway: TestGateway, site: Site, status: int, code: str) -> None:
    site.put("/a", "no", status=status)
    with pytest.raises(ProviderError) as caught:
        visit(gateway, site, "/a")
    assert caught.value.code == code and site.paths.count("/a") == 3, "tried again by the gateway, then owed"
    site.put("/a", article())
    site.put("/a", article())
    assert visit(gateway, site, "/a").reason_code == "ok", "and nothing of it was stored"


def test_trouble_of_the_moment_passes(gateway: TestGateway, site: Site) -> None:
    site.put("/a", "later", status=503)
    site.put("/a", article())
    assert visit(gateway, site, "/a").reason_code == "ok"


def test_retry_after_is_the_sites_own_wish(gateway: TestGateway, site: Site) -> None:
    site.put("/a", "slowly", status=429, Retry_After="100000")
    with pytest.raises(ProviderError) as caught:
        visit(gateway, site, "/a")
    assert caught.value.retry_after == 100000 and site.paths.count("/a") == 1


def test_a_dropped_connection_is_our_trouble(gateway: TestGateway, site: Site) -> None:
    site.act("/a", lambda handler: handler.connection.close())
    with pytest.raises(ProviderError) as caught:
        visit(gateway, site, "/a")
    assert caught.value.code == "connection"


def test_redirects_are_followed_and_the_page_belongs_to_its_own_address(gateway: TestGateway, site: Site) -> None:
    site.put("/old", status=301, Location="/newer")
    site.put("/newer", status=307, Location=site.url("/newest"))
    site.put("/newest", article())
    found = visit(gateway, site, "/old")
    assert found.page and found.page.url == found.final_url == site.url("/newest") and found.url == site.url("/old")


def test_pages_are_stored_once_and_judged_again_without_a_request(tmp_path: Path, site: Site) -> None:
    site.put("/a", article())
    site.put("/gone", "x", status=404)
    site.put("/old", status=302, Location="/a")
    paths = ["/a", "/old", "/gone"]
    filled = make_gateway(tmp_path)
    first = [visit(filled, site, path) for path in paths]
    filled.store.close()
    snapshots = [record for record in filled.records if record.requested_model == "page.snapshot"]
    assert [record.source for record in snapshots] == ["provider", "cache"], "two addresses, one page"
    assert {record.role for record in filled.records} == {"tools"}

    asked = len(site.requests)
    replayed = make_gateway(tmp_path, mode=CacheMode.REPLAY)
    assert [visit(replayed, site, path) for path in paths] == first
    assert len(site.requests) == asked, "no request"
    with pytest.raises(CacheMissError):
        visit(replayed, site, "/never-read")
    assert len(site.requests) == asked


def test_a_fetch_whose_page_was_lost_is_made_again(gateway: TestGateway, site: Site) -> None:
    site.put("/a", article())
    first = visit(gateway, site, "/a")
    assert first.page
    snapshot = next(record.key for record in gateway.records if record.requested_model == "page.snapshot")
    asyncio.run(gateway.store.drop(snapshot))
    assert visit(gateway, site, "/a").page == first.page
    assert site.paths.count("/a") == 2


def test_one_request_for_all_who_ask_at_once(gateway: TestGateway, site: Site) -> None:
    site.put("/a", article())
    set_ = tools(gateway, site)

    async def work() -> list[Visit]:
        return await asyncio.gather(*(set_.page_visit(site.url("/a"), None) for _ in range(8)))

    found = asyncio.run(work())
    assert all(one == found[0] and one.page for one in found)
    assert sorted(site.paths) == ["/a", "/robots.txt"]


WALLS = {
    "a robot check": ("blocked", "<title>Just a moment...</title><p>Checking your browser before you go on.</p>"),
    "a Chinese robot check": ("blocked", "<title>安全验证</title><p>请完成安全验证后继续访问。</p>"),
    "a script check": ("blocked", "<title>x.example</title><noscript>Enable JavaScript and cookies to continue</noscript>"),
    "a login": ("blocked", "<title>Log in</title><form><p>Sign in to go on</p><input name=p type='password'></form>"),
    "a consent form": (
        "blocked",
        "<title>Before you continue to Search</title><p>We use cookies and data to deliver services. Accept all</p>",
    ),
    "a teaser": ("paywall", article("The ministry said on Monday. " * 20 + "Subscribe to continue reading.")),
    "a paid text by its own data": (
        "paywall",
        article("Short. " * 30, head='<script type="application/ld+json">{"isAccessibleForFree": false}</script>'),
    ),
    "an error page that says 200": ("dead", "<title>404 - Page not found</title><p>Go to the home page.</p>"),
    "a page built by a script": ("unsupported", "<title>App</title><div id=root></div><script>boot()</script>"),
    "a page that asks for scripts": (
        "unsupported",
        "<title>App</title><noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>",
    ),
    "an empty body": ("unsupported", ""),
}


@pytest.mark.parametrize(("reason", "markup"), WALLS.values(), ids=WALLS)
def test_walls_are_recognised_and_never_read_as_content(gateway: TestGateway, site: Site, reason: str, markup: str) -> None:
    head, title, body = markup.partition("</title>")
    site.put("/a", markup if "<html" in markup else f"<html><head>{head}{title}</head><body>{body}</body></html>")
    found = visit(gateway, site, "/a")
    assert (found.reason_code, found.page) == (reason, None)


def test_a_robot_check_with_an_error_status_is_no_trouble_of_ours(gateway: TestGateway, site: Site) -> None:
    site.put("/a", "<title>Just a moment...</title>", status=503, cf_mitigated="challenge")
    assert visit(gateway, site, "/a").reason_code == "blocked"


NOT_WALLS = {
    "about captchas": article(
        "Sites ask visitors to verify you are human and complete the captcha. " * 40, title="On captchas"
    ),
    "with a login box": article(head="") + "<form>Sign in <input type=password></form>",
    "about paywalls": article("Papers write: subscribe to continue reading. Readers turn away from such walls. " * 60),
    "a paid text given in full": article(
        "Barley failed. The price of malt rose. " * 150,
        head='<script type="application/ld+json">{"isAccessibleForFree": "False"}</script>',
    ),
    "numbered 404": article(title="404 parishes lost their church"),
}


@pytest.mark.parametrize("markup", NOT_WALLS.values(), ids=NOT_WALLS)
def test_articles_that_look_like_walls_are_read(gateway: TestGateway, site: Site, markup: str) -> None:
    site.put("/a", markup)
    assert visit(gateway, site, "/a").reason_code == "ok"


def test_robots_txt_is_honoured_and_asked_for_once(gateway: TestGateway, site: Site) -> None:
    site.put("/robots.txt", "User-agent: *\nDisallow: /private/\n", media="text/plain")
    site.put("/a", article())
    site.put("/private/b", article())
    set_ = tools(gateway, site)

    async def work() -> list[str]:
        return [(await set_.page_visit(site.url(path), None)).reason_code for path in ("/a", "/private/b", "/a")]

    assert asyncio.run(work()) == ["ok", "robots", "ok"]
    assert site.paths == ["/robots.txt", "/a"]
    assert visit(gateway, site, "/private/b", robots=False).reason_code == "ok"


def test_robots_txt_of_the_site_redirected_to(gateway: TestGateway, site: Site) -> None:
    with Site() as other:
        other.put("/robots.txt", "User-agent: dreambench\nDisallow: /", media="text/plain")
        other.put("/page", article())
        site.put("/a", status=302, Location=other.url("/page"))
        page = PageSettings(contact="https://example.org/me", delay=0.0)
        set_ = WebTools(gateway=gateway, page=page, allow_private=[site.host, other.host])
        assert asyncio.run(set_.page_visit(site.url("/a"), None)).reason_code == "robots"
        assert other.paths == ["/robots.txt"]


@pytest.mark.parametrize(("status", "reason"), [(404, "ok"), (410, "ok"), (401, "robots"), (403, "robots")])
def test_a_robots_txt_that_is_not_given(gateway: TestGateway, site: Site, status: int, reason: str) -> None:
    site.put("/robots.txt", "no", status=status)
    site.put("/a", article())
    assert visit(gateway, site, "/a").reason_code == reason


def test_a_site_that_cannot_give_its_robots_txt_now_is_read_later(gateway: TestGateway, site: Site) -> None:
    site.put("/robots.txt", "no", status=500)
    site.put("/a", article())
    with pytest.raises(ProviderError):
        visit(gateway, site, "/a")
    assert "/a" not in site.paths


def test_few_requests_to_one_host_at_a_time(gateway: TestGateway, site: Site) -> None:
    running: list[int] = [0]
    most: list[int] = [0]

    def slowly(handler: BaseHTTPRequestHandler) -> None:
        running[0] += 1
        most[0] = max(most[0], running[0])
        time.sleep(0.05)
        running[0] -= 1
        handler.send_error(404)

    site.act("*", slowly)
    set_ = tools(gateway, site, robots=False)

    async def work() -> None:
        await asyncio.gather(*(set_.page_visit(site.url(f"/{number}"), None) for number in range(8)))

    asyncio.run(work())
    assert most == [2]


def test_requests_to_one_host_start_apart(gateway: TestGateway, site: Site) -> None:
    times: list[float] = []

    def note(handler: BaseHTTPRequestHandler) -> None:
        times.append(time.monotonic())
        handler.send_error(404)

    site.act("*", note)
    set_ = tools(gateway, site, robots=False, delay=0.15)

    async def work() -> None:
        await asyncio.gather(*(set_.page_visit(site.url(f"/{number}"), None) for number in range(4)))

    asyncio.run(work())
    assert min(later - earlier for earlier, later in itertools.pairwise(times)) > 0.1


def test_a_page_read_today_for_a_past_date_is_marked(gateway: TestGateway, site: Site) -> None:
    site.put("/a", article())
    now = visit(gateway, site, "/a", date.today() + timedelta(days=1))
    then = visit(gateway, site, "/a", LONG_AGO)
    assert (now.possibly_later, then.possibly_later) == (False, True)
    assert "it may say more than was known" in then.as_text() and "it may say more" not in now.as_text()
    assert site.paths.count("/a") == 1, "one page, whatever the date"


def test_pages_without_a_date_follow_undated(gateway: TestGateway, site: Site) -> None:
    site.put("/a", article(published=""))
    assert visit(gateway, site, "/a", LONG_AGO).reason_code == "ok"
    assert visit(gateway, site, "/a", LONG_AGO, undated="drop").reason_code == "undated"
    assert visit(gateway, site, "/a", None, undated="drop").reason_code == "ok"


@pytest.mark.parametrize("encoding", ["gb18030", "utf-8"])
@pytest.mark.parametrize("named", ["header", "meta", "nowhere"])
def test_chinese_pages_in_their_encodings(gateway: TestGateway, site: Site, encoding: str, named: str) -> None:
    label = "gb2312" if encoding == "gb18030" else encoding
    head = f'<meta charset="{label}">' if named == "meta" else ""
    markup = article("风电装机容量达到一千吉瓦，比上年增长。" * 20, title="风电", head=head)
    site.put("/a", markup.encode(encoding), media=f"text/html; charset={label}" if named == "header" else "text/html")
    found = visit(gateway, site, "/a")
    assert found.page and found.page.title == "风电" and "风电装机容量" in found.page.text


def test_plain_text_is_read_as_it_is(gateway: TestGateway, site: Site) -> None:
    site.put("/a.txt", "Barley <failed> in 2023.", media="text/plain")
    assert visit(gateway, site, "/a.txt").page == Page(site.url("/a.txt"), "", "Barley <failed> in 2023.")


def pdf(*pages: str) -> bytes:
    """A small PDF with one line of text a page."""
    kids = " ".join(f"{3 + 2 * n} 0 R" for n in range(len(pages)))
    objects = ["<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>"]
    font = "<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
    for number, text in enumerate(pages):
        drawn = f"BT /F 12 Tf 72 700 Td ({text}) Tj ET"
        box = "/MediaBox[0 0 612 792]"
        objects.append(f"<</Type/Page/Parent 2 0 R{box}/Resources{font}/Contents {4 + 2 * number} 0 R>>")
        objects.append(f"<</Length {len(drawn)}>>stream\n{drawn}\nendstream")
    body, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj{content}endobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    end = f"trailer<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{len(body)}\n%%EOF"
    return f"{body}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}".encode()


def test_a_pdf_is_read_whole_or_by_pages(gateway: TestGateway, site: Site) -> None:
    site.put("/a.pdf", pdf("Barley failed.", "Malt rose.", "Oats held."), media="application/pdf")
    set_ = tools(gateway, site)
    whole = asyncio.run(set_.page_visit(site.url("/a.pdf"), None))
    assert whole.media == "pdf" and whole.page and whole.page.text.split("\f") == ["Barley failed.", "Malt rose.", "Oats held."]
    some = asyncio.run(set_.call("pdf_fetch", {"url": site.url("/a.pdf"), "first": 2, "pages": 1}))
    assert some.text.endswith("[pages 2 to 2 of 3]\nMalt rose.")
    none = asyncio.run(set_.call("pdf_fetch", {"url": site.url("/a.pdf"), "first": 9}))
    assert none.text.endswith("[there are 3 pages]")
    assert site.paths.count("/a.pdf") == 1


@pytest.mark.parametrize("body", [b"%PDF-1.4\nbroken", pdf("")], ids=["damaged", "without text"])
def test_a_pdf_that_cannot_be_read(gateway: TestGateway, site: Site, body: bytes) -> None:
    site.put("/a.pdf", body, media="application/pdf")
    assert visit(gateway, site, "/a.pdf").reason_code == "unsupported"


def test_pdf_fetch_of_a_page_says_what_to_use(gateway: TestGateway, site: Site) -> None:
    site.put("/a", article())
    found = asyncio.run(tools(gateway, site).call("pdf_fetch", json.dumps({"url": site.url("/a")})))
    assert "not a PDF; read it with page_visit" in found.text


def test_nobody_reads_anonymously(gateway: TestGateway) -> None:
    problems = WebTools(gateway=gateway).needs()
    assert [problem.where for problem in problems] == ["page.contact"]
    assert WebTools(gateway=gateway, page=PageSettings(contact="me@example.org")).needs() == ()


@pytest.mark.parametrize("contact", ["me", "https://a.example\r\nX: y", "https://ä.example", "me @example.org"])
def test_a_contact_is_an_address(contact: str) -> None:
    with pytest.raises(ValueError, match="a URL or a mail address"):
        PageSettings(contact=contact)
