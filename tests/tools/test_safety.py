"""Every trick by which a page tool could be led to a private address, an endless read or a bomb, by its name.

Nothing but loopback is ever connected to: public addresses are played by a backend that records where it was sent.
"""

from __future__ import annotations

import asyncio
import gzip
import socket
import time
import zlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpcore
import httpx
import pytest

from dreambench.errors import ProviderError
from dreambench.tools.guard import Guard, PageRefused
from dreambench.tools.reader import PageReader
from dreambench.tools.results import Visit
from dreambench.tools.settings import PageSettings
from dreambench.tools.transport import PinnedTransport
from tests.support.gateway import TestGateway
from tests.tools.site import Site, article

PUBLIC = "93.184.216.34"

PRIVATE = {
    "loopback": "http://127.0.0.1/",
    "loopback, another": "http://127.8.9.10/",
    "loopback, https": "https://127.0.0.1/",
    "loopback, trailing dot": "http://127.0.0.1./",
    "private 10": "http://10.0.0.1/",
    "private 172.16": "http://172.16.0.1/",
    "private 192.168": "http://192.168.1.1/",
    "link-local": "http://169.254.1.1/",
    "cloud metadata": "http://169.254.169.254/latest/meta-data/",
    "cloud metadata behind carrier-grade NAT": "http://100.100.100.200/",
    "cloud host agent at a public address": "http://168.63.129.16/",
    "carrier-grade NAT": "http://100.64.0.1/",
    "unspecified": "http://0.0.0.0/",
    "this network": "http://0.1.2.3/",
    "multicast": "http://224.0.0.1/",
    "reserved": "http://240.0.0.1/",
    "broadcast": "http://255.255.255.255/",
    "benchmarking": "http://198.18.0.1/",
    "documentation": "http://192.0.2.1/",
    "IPv6 loopback": "http://[::1]/",
    "IPv6 loopback in full": "http://[0:0:0:0:0:0:0:1]/",
    "IPv6 unspecified": "http://[::]/",
    "IPv6 link-local": "http://[fe80::1]/",
    "IPv6 link-local with a zone": "http://[fe80::1%25eth0]/",
    "IPv6 unique local": "http://[fd12:3456::1]/",
    "IPv6 cloud metadata": "http://[fd00:ec2::254]/",
    "IPv6 site-local": "http://[fec0::1]/",
    "IPv6 multicast": "http://[ff02::1]/",
    "IPv6 documentation": "http://[2001:db8::1]/",
    "IPv6-mapped": "http://[::ffff:127.0.0.1]/",
    "IPv6-mapped in hex": "http://[::ffff:7f00:1]/",
    "IPv6-mapped metadata": "http://[::ffff:169.254.169.254]/",
    "IPv4-compatible": "http://[::127.0.0.1]/",
    "NAT64": "http://[64:ff9b::7f00:1]/",
    "NAT64 of a local network": "http://[64:ff9b:1::a00:1]/",
    "6to4": "http://[2002:7f00:1::]/",
    "Teredo": "http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/",
    "decimal": "http://2130706433/",
    "decimal, the metadata address": "http://2852039166/",
    "octal": "http://0177.0.0.1/",
    "octal, one number": "http://017700000001/",
    "hexadecimal": "http://0x7f000001/",
    "hexadecimal, dotted": "http://0x7f.0x0.0x0.0x1/",
    "hexadecimal, capital X": "http://0X7F.1/",
    "mixed": "http://0x7f.0.0.01/",
    "shortened": "http://127.1/",
    "shortened to a zero": "http://0/",
    "full-width digits": "http://１２７.０.０.１/",
    "circled digits": "http://①②⑦.⓪.⓪.①/",
    "ideographic full stops": "http://127。0。0。1/",
}


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as started:
        yield started


def reader(
    gateway: TestGateway, *allow: str, resolve: Callable[[str, int], Awaitable[Sequence[str]]] | None = None, **keys: Any
) -> PageReader:
    settings = PageSettings(**{"contact": "https://example.org/me", "delay": 0.0, "robots": False, **keys})
    return PageReader(gateway=gateway, settings=settings, allow_private=allow, resolve=resolve)


def visit(gateway: TestGateway, url: str, *allow: str, **keys: Any) -> Visit:
    return asyncio.run(reader(gateway, *allow, **keys).visit(url))


def names(**addresses: Sequence[str]) -> Callable[[str, int], Awaitable[Sequence[str]]]:
    """A resolver that knows `a_test` as a.test, and counts."""

    async def resolve(host: str, port: int) -> Sequence[str]:
        found = addresses.get(host.replace(".", "_"))
        if found is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return found

    return resolve


@pytest.mark.parametrize("url", PRIVATE.values(), ids=PRIVATE)
def test_private_addresses_are_refused(gateway: TestGateway, url: str) -> None:
    found = visit(gateway, url)
    assert (found.reason_code, found.page) == ("private_address", None), found.detail
    assert gateway.records == [], "nothing was sent"


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "::ffff:10.0.0.1", "fe80::1%eth0"])
def test_names_of_private_addresses_are_refused(gateway: TestGateway, address: str) -> None:
    found = visit(gateway, "http://innocent.test/", resolve=names(innocent_test=[address]))
    assert found.reason_code == "private_address"


def test_one_private_address_among_public_ones_is_enough(gateway: TestGateway) -> None:
    found = visit(gateway, "http://innocent.test/", resolve=names(innocent_test=[PUBLIC, "127.0.0.1"]))
    assert found.reason_code == "private_address"


@pytest.mark.parametrize("address", [PUBLIC, "1.1.1.1", "2606:2800:220:1:248:1893:25c8:1946", "64:ff9b::5db8:d822"])
def test_public_addresses_are_let_through(address: str) -> None:
    found = asyncio.run(Guard(resolve=names(innocent_test=[address])).addresses("innocent.test", 443))
    assert found == [address]


class Recorder(httpcore.AsyncNetworkBackend):
    """Plays the internet: notes where a connection was wanted and leads it to the site on loopback."""

    def __init__(self, site: Site) -> None:
        self.connected: list[tuple[str, int]] = []
        self._site = site
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(self, host: str, port: int, *args: Any, **keys: Any) -> httpcore.AsyncNetworkStream:
        self.connected.append((host, port))
        return await self._inner.connect_tcp("127.0.0.1", self._site.port)


def test_dns_that_changes_between_check_and_connect(site: Site) -> None:
    answers = iter([[PUBLIC], ["127.0.0.1"], ["127.0.0.1"]])
    asked: list[str] = []

    async def rebinding(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return next(answers)

    backend = Recorder(site)

    async def get() -> httpx.Response:
        async with httpx.AsyncClient(transport=PinnedTransport(Guard(resolve=rebinding), backend)) as client:
            return await client.get("http://rebind.test/page")

    site.put("/page", "hello")
    assert asyncio.run(get()).text == "hello"
    assert asked == ["rebind.test"], "looked up once, by the guard"
    assert backend.connected == [(PUBLIC, 80)], "and connected to what was checked, not to the name"
    assert site.requests[0].headers["host"] == "rebind.test"


REDIRECTS = {
    "loopback": "http://127.0.0.1/",
    "decimal": "http://2130706433/",
    "metadata": "http://169.254.169.254/",
    "without a scheme": "//127.0.0.1/",
    "a name of a private address": "http://inside.test/",
    "localhost": "http://localhost/",
    "IPv6-mapped": "http://[::ffff:127.0.0.1]/",
}


@pytest.mark.parametrize("location", REDIRECTS.values(), ids=REDIRECTS)
def test_redirects_to_private_addresses(gateway: TestGateway, site: Site, location: str) -> None:
    site.put("/start", status=302, Location=location)
    resolve = names(inside_test=["10.0.0.8"], localhost=["127.0.0.1", "::1"])
    found = visit(gateway, site.url("/start"), site.host, resolve=lambda h, p: _numeric(h, p, resolve))
    assert found.reason_code == "private_address" and site.paths == ["/start"]


async def _numeric(host: str, port: int, resolve: Callable[[str, int], Awaitable[Sequence[str]]]) -> Sequence[str]:
    return [host] if host == "127.0.0.1" else await resolve(host, port)


def test_a_redirect_to_the_same_server_under_another_name_or_port_is_refused(gateway: TestGateway, site: Site) -> None:
    site.put("/start", status=301, Location=f"http://localhost:{site.port}/secret")
    site.put("/secret", article())
    found = visit(gateway, site.url("/start"), site.host)
    assert found.page is None and site.paths == ["/start"]


@pytest.mark.parametrize(
    "location",
    ["file:///etc/passwd", "ftp://example.org/x", "data:text/html,hello", "javascript:alert(1)", "gopher://127.0.0.1:70/"],
)
def test_other_schemes(gateway: TestGateway, site: Site, location: str) -> None:
    assert visit(gateway, location).reason_code == "unsupported"
    site.put("/start", status=302, Location=location)
    found = visit(gateway, site.url("/start"), site.host)
    assert found.reason_code == "unsupported" and "only http and https" in found.detail


@pytest.mark.parametrize(
    "url",
    [
        "http://user@example.org/",
        "http://user:secret@example.org/",
        "http://@example.org/",
        f"http://{PUBLIC}@127.0.0.1/",
        "http://example.org:22/",
        "http://example.org:6379/",
        "http://example.org:99999/",
        "http:///etc/passwd",
        "http://exa mple.org/",
        "http://example.org\\@127.0.0.1/",
        "http://example.org/\r\nX: y",
        "http://256.256.256.256/",
        "http://999999999999/",
        "//example.org/",
        "example.org",
        "",
        "http://example.org/" + "x" * 5000,
    ],
)
def test_addresses_that_are_not_a_web_page(gateway: TestGateway, url: str) -> None:
    assert visit(gateway, url).reason_code in ("unsupported", "private_address")
    assert gateway.records == []


def test_a_million_redirects(gateway: TestGateway, site: Site) -> None:
    def onward(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", f"/{len(site.requests)}")
        handler.end_headers()

    site.act("*", onward)
    found = visit(gateway, site.url("/0"), site.host, redirects=4)
    assert (found.reason_code, found.detail) == ("dead", "more than 4 redirects")
    assert len(site.requests) == 5


def write_for_ever(handler: BaseHTTPRequestHandler, part: bytes, pause: float = 0.0, **headers: str) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html")
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    for _ in range(100_000):
        handler.wfile.write(part)
        handler.wfile.flush()
        time.sleep(pause)


def test_an_endless_body(gateway: TestGateway, site: Site) -> None:
    site.act("/endless", lambda handler: write_for_ever(handler, b"x" * 10_000))
    found = visit(gateway, site.url("/endless"), site.host, max_bytes=200_000)
    assert (found.reason_code, found.detail) == ("too_large", "more than 200,000 bytes")


def test_an_endless_error_page(gateway: TestGateway, site: Site) -> None:
    def refuse(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(403)
        handler.end_headers()
        for _ in range(10_000):
            handler.wfile.write(b"x" * 10_000)

    site.act("/no", refuse)
    assert visit(gateway, site.url("/no"), site.host).reason_code == "blocked"


def test_a_body_that_says_it_is_too_large(gateway: TestGateway, site: Site) -> None:
    site.act("/large", lambda handler: write_for_ever(handler, b"x", Content_Length="99999999999"))
    assert visit(gateway, site.url("/large"), site.host).reason_code == "too_large"


@pytest.mark.parametrize("where", ["body", "headers"])
def test_a_slow_answer_is_our_trouble_and_ends(gateway: TestGateway, site: Site, where: str) -> None:
    def drip(handler: BaseHTTPRequestHandler) -> None:
        if where == "headers":
            time.sleep(3)
        write_for_ever(handler, b"x", pause=0.05)

    site.act("/slow", drip)
    started = time.monotonic()
    with pytest.raises(ProviderError) as caught:
        visit(gateway, site.url("/slow"), site.host, seconds=0.4)
    assert caught.value.code == "timeout" and time.monotonic() - started < 5


BOMBS = {
    "gzip": ("gzip", gzip.compress(b"x" * 60_000_000)),
    "gzip in many members": ("gzip", gzip.compress(b"x" * 1_000_000) * 60),
    "deflate": ("deflate", zlib.compress(b"x" * 60_000_000)),
}


@pytest.mark.parametrize(("encoding", "body"), BOMBS.values(), ids=BOMBS)
def test_a_compressed_bomb(gateway: TestGateway, site: Site, encoding: str, body: bytes) -> None:
    import tracemalloc

    site.put("/bomb", body, Content_Encoding=encoding)
    tracemalloc.start()
    found = visit(gateway, site.url("/bomb"), site.host, max_bytes=1_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found.reason_code, found.detail) == ("too_large", "more than 1,000,000 bytes")
    assert peak < 20_000_000, "it was not unpacked"


@pytest.mark.parametrize("encoding", ["gzip, gzip", "br", "zstd", "compress"])
def test_encodings_that_were_not_asked_for(gateway: TestGateway, site: Site, encoding: str) -> None:
    site.put("/odd", gzip.compress(gzip.compress(b"x" * 1_000_000)), Content_Encoding=encoding)
    assert visit(gateway, site.url("/odd"), site.host).reason_code == "unsupported"


def test_a_broken_compressed_body(gateway: TestGateway, site: Site) -> None:
    site.put("/broken", b"\x1f\x8b" + b"\x00" * 100, Content_Encoding="gzip")
    assert visit(gateway, site.url("/broken"), site.host).reason_code == "unsupported"


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "raw deflate"])
def test_compressed_pages_are_read(gateway: TestGateway, site: Site, encoding: str) -> None:
    plain = article().encode()
    raw = zlib.compressobj(wbits=-15)
    packed = {"gzip": gzip.compress(plain), "deflate": zlib.compress(plain), "raw deflate": raw.compress(plain) + raw.flush()}
    site.put("/page", packed[encoding], Content_Encoding=encoding.removeprefix("raw "))
    found = visit(gateway, site.url("/page"), site.host)
    assert found.page and "Barley failed" in found.page.text


@pytest.mark.parametrize(
    "media", ["application/octet-stream", "image/png", "video/mp4", "application/zip", "application/x-msdownload", "text/vtt"]
)
def test_wrong_content_types(gateway: TestGateway, site: Site, media: str) -> None:
    site.put("/file", b"MZ" + b"\x00" * 1000, media=media)
    found = visit(gateway, site.url("/file"), site.host)
    assert found.reason_code == "unsupported" and media in found.detail


def test_headers_without_end(gateway: TestGateway, site: Site) -> None:
    def babble(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for number in range(200_000):
            handler.wfile.write(b"X-%d: %s\r\n" % (number, b"y" * 100))

    site.act("/babble", babble)
    with pytest.raises(ProviderError) as caught:
        visit(gateway, site.url("/babble"), site.host)
    assert caught.value.code == "connection"


def test_markup_without_end_of_depth(gateway: TestGateway, site: Site) -> None:
    site.put("/deep", "<div>" * 100_000 + "deep")
    assert visit(gateway, site.url("/deep"), site.host).reason_code in ("ok", "unsupported")


def test_only_the_named_pair_is_let_through(gateway: TestGateway, site: Site) -> None:
    site.put("/page", article())
    assert visit(gateway, site.url("/page")).page is None
    assert visit(gateway, site.url("/page"), f"127.0.0.1:{site.port + 1}").page is None
    assert site.requests == []
    assert visit(gateway, site.url("/page"), site.host).reason_code == "ok"


def test_what_is_let_through_is_part_of_the_identity(gateway: TestGateway, tmp_path: Path) -> None:
    from dreambench.tools.web import WebTools

    assert WebTools(gateway=gateway).identity()["allow_private"] == []
    assert WebTools(gateway=gateway, allow_private=["b:80", "a:80"]).identity()["allow_private"] == ["a:80", "b:80"]


def test_no_proxy_and_no_cookie_of_the_environment(gateway: TestGateway, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    site.put("/a", article(), Set_Cookie="id=1")
    site.put("/b", article())
    assert visit(gateway, site.url("/a"), site.host).reason_code == "ok"
    assert visit(gateway, site.url("/b"), site.host).reason_code == "ok"
    assert all("cookie" not in seen.headers and "authorization" not in seen.headers for seen in site.requests)


def test_a_name_that_cannot_be_looked_up_now_is_our_trouble(gateway: TestGateway) -> None:
    async def down(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    with pytest.raises(ProviderError) as caught:
        visit(gateway, "http://innocent.test/", resolve=down)
    assert caught.value.code == "connection"


@pytest.mark.parametrize("url", ["http://no-such-host.test/", "http://" + "a" * 70 + ".test/", "http://a..test/"])
def test_a_name_that_does_not_exist_is_a_dead_page(gateway: TestGateway, url: str) -> None:
    assert visit(gateway, url, resolve=names()).reason_code == "dead"


def test_the_guard_says_why(gateway: TestGateway) -> None:
    with pytest.raises(PageRefused, match=r"127\.0\.0\.1 is not a public address"):
        Guard().target("http://0x7f.1/")
