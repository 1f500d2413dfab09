"""One request for one URL, within limits: time in all, bytes on the wire and unpacked, content types. No redirects.

What lies with the page (too large, another type, a private address) raises PageRefused; what lies with us or the moment
(timeouts, resets, 429, 5xx) raises ProviderError and is tried again by the gateway.
"""

from __future__ import annotations

import asyncio
import contextlib
import zlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

import httpcore
import httpx

from dreambench.engine.clock import Clock
from dreambench.errors import ProviderError
from dreambench.tools.guard import Guard, PageRefused, Target
from dreambench.tools.results import Reason
from dreambench.tools.transport import PinnedTransport

HTML = frozenset({"text/html", "application/xhtml+xml"})
PDF = "application/pdf"
READABLE = HTML | {PDF, "text/plain", "text/markdown", "text/csv", "text/xml", "application/xml", "application/json"}
REDIRECTS = frozenset({301, 302, 303, 307, 308})
_WAITS = ("connect", "read", "write", "pool")
_ERROR_BODY = 200_000
"""Bytes read of an error page: enough to see who refuses."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer: `location` is set for redirects, `body` is unpacked, header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    location: str | None = None

    @property
    def media(self) -> str:
        """The content type without parameters; what an unnamed body turns out to be."""
        named = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        if self.body.startswith(b"%PDF-"):
            return PDF
        return named or ("text/html" if self.body.lstrip()[:1] == b"<" else "text/plain")


async def fetch(target: Target, guard: Guard, *, user_agent: str, seconds: float, max_bytes: int) -> Fetched:
    """GETs `target`. Raises PageRefused and ProviderError (see the module)."""
    headers = {
        "User-Agent": user_agent,
        "Accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.8,*/*;q=0.1",
        "Accept-Encoding": "gzip, deflate",
    }
    try:
        request = httpx.Request("GET", target.url, headers=headers, extensions={"timeout": dict.fromkeys(_WAITS, seconds)})
        async with asyncio.timeout(seconds), PinnedTransport(guard) as transport:
            response = await transport.handle_async_request(request)
            async with contextlib.aclosing(response):
                return await _read(response, max_bytes)
    except (TimeoutError, httpcore.TimeoutException) as error:
        raise ProviderError(f"{target.host}: no full answer in {seconds:g} s", code="timeout") from error
    except httpx.InvalidURL as error:
        raise PageRefused(Reason.UNSUPPORTED, f"not an address: {error}") from error
    except (httpcore.NetworkError, httpcore.ProtocolError) as error:
        why = f"{target.host}: {type(error).__name__}: {error}"
        raise ProviderError(why, code="connection", permanent="CERTIFICATE_VERIFY" in str(error)) from error


async def _read(response: httpx.Response, max_bytes: int) -> Fetched:
    headers = {name.lower(): value for name, value in response.headers.items()}
    status = response.status_code
    if status in REDIRECTS and "location" in headers:
        return Fetched(status, headers, location=headers["location"])
    if status >= 400:
        return Fetched(status, headers, await _beginning(response, headers))
    named = headers.get("content-type", "").partition(";")[0].strip().lower()
    if named and named not in READABLE:
        raise PageRefused(Reason.UNSUPPORTED, f"content type {named[:80]}")
    if headers.get("content-length", "").isdigit() and int(headers["content-length"]) > max_bytes:
        raise PageRefused(Reason.TOO_LARGE, f"{int(headers['content-length']):,} bytes, at most {max_bytes:,} are read")
    return Fetched(status, headers, b"".join([part async for part in _unpacked(response, headers, max_bytes)]))


async def _beginning(response: httpx.Response, headers: Mapping[str, str]) -> bytes:
    """The first part of an error page; nothing of one that cannot be unpacked."""
    parts: list[bytes] = []
    try:
        async for part in _unpacked(response, headers, _ERROR_BODY):
            parts.append(part)
    except PageRefused:
        pass
    return b"".join(parts)


async def _unpacked(response: httpx.Response, headers: Mapping[str, str], max_bytes: int) -> AsyncIterator[bytes]:
    """The body's parts, never more than `max_bytes` in all, neither on the wire nor unpacked."""
    unpack = _unpacker(headers.get("content-encoding", ""))
    received = given = 0
    async for raw in response.aiter_raw():
        received += len(raw)
        part = unpack.feed(raw, max_bytes - given) if unpack else raw
        given += len(part)
        if received > max_bytes or given > max_bytes:
            raise PageRefused(Reason.TOO_LARGE, f"more than {max_bytes:,} bytes")
        yield part


def _unpacker(encoding: str) -> _Unpacker | None:
    named = encoding.strip().lower()
    if named in ("", "identity"):
        return None
    if named in ("gzip", "x-gzip", "deflate"):
        return _Unpacker(named)
    raise PageRefused(Reason.UNSUPPORTED, f"content encoding {named[:40]}")


class _Unpacker:
    """gzip (several members too) or deflate, unpacked no further than is wanted: a bomb stays folded."""

    def __init__(self, named: str) -> None:
        self._gzip = named != "deflate"
        self._first = True
        self._inner = zlib.decompressobj(zlib.MAX_WBITS | 16 if self._gzip else zlib.MAX_WBITS)

    def feed(self, data: bytes, room: int) -> bytes:
        """What `data` unpacks to, at most `room` + 1 bytes of it."""
        parts: list[bytes] = []
        left = room + 1
        try:
            while data and left > 0:
                part = self._some(data, left)
                parts.append(part)
                left -= len(part)
                data = self._inner.unconsumed_tail or self._next_member()
        except zlib.error as error:
            raise PageRefused(Reason.UNSUPPORTED, f"the compressed body is broken: {error}") from error
        return b"".join(parts)

    def _some(self, data: bytes, left: int) -> bytes:
        first, self._first = self._first, False
        try:
            return self._inner.decompress(data, left)
        except zlib.error:
            if self._gzip or not first:
                raise
            self._inner = zlib.decompressobj(-zlib.MAX_WBITS)  # many servers send deflate without its wrapper
            return self._inner.decompress(data, left)

    def _next_member(self) -> bytes:
        rest = self._inner.unused_data
        if not self._gzip or not rest.startswith(b"\x1f\x8b"):
            return b""
        self._inner = zlib.decompressobj(zlib.MAX_WBITS | 16)
        return rest


def trouble(host: str, fetched: Fetched) -> ProviderError | None:
    """The error that an HTTP status means for us: asked too often, or a server in trouble; None for an answer."""
    wait = retry_after(fetched.headers)
    if fetched.status == 429:
        return ProviderError(f"{host}: asked too often (429)", code="rate_limited", retry_after=wait)
    if fetched.status == 408:
        return ProviderError(f"{host}: request timeout (408)", code="timeout", retry_after=wait)
    if fetched.status >= 500:
        return ProviderError(f"{host}: server error ({fetched.status})", code="server_error", retry_after=wait)
    return None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the header Retry-After asks for, written as seconds or as a date."""
    value = headers.get("retry-after", "").strip()
    if value.isdigit():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - Clock().now()).total_seconds()) if value else None
    except (ValueError, TypeError):
        return None
