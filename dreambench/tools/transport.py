"""HTTP over checked addresses: an httpx transport whose connections go exactly where the guard looked.

The name is resolved once, inside `connect_tcp`, by the guard; the socket is opened to the address that was checked, so
DNS cannot change in between. Host header and TLS server name stay those of the URL. No proxies, no retries, no cookies.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Iterable
from functools import cache
from typing import Any

import httpcore
import httpx

from dreambench.tools.guard import Guard


@cache
def tls() -> ssl.SSLContext:
    """One verifying TLS context for all tools: making one takes tens of milliseconds."""
    return httpx.create_ssl_context()


class _PinnedBackend(httpcore.AsyncNetworkBackend):
    def __init__(self, guard: Guard, inner: httpcore.AsyncNetworkBackend) -> None:
        self._guard = guard
        self._inner = inner

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        addresses = await self._guard.addresses(host, port)
        for address in addresses[:-1]:
            try:
                return await self._inner.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._inner.connect_tcp(addresses[-1], port, timeout, local_address, socket_options)

    async def connect_unix_socket(self, path: str, *args: Any, **keys: Any) -> httpcore.AsyncNetworkStream:
        raise httpcore.ConnectError("no page lives in a socket file")

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)


class _Body(httpx.AsyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


class PinnedTransport(httpx.AsyncBaseTransport):
    """For one httpx client; raises httpcore's exceptions, and what the guard raises."""

    def __init__(self, guard: Guard, inner: httpcore.AsyncNetworkBackend | None = None) -> None:
        backend = _PinnedBackend(guard, inner or httpcore.AnyIOBackend())
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls(), network_backend=backend, max_keepalive_connections=0, retries=0
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = await self._pool.handle_async_request(
            httpcore.Request(
                method=request.method,
                url=httpcore.URL(
                    scheme=request.url.raw_scheme,
                    host=request.url.raw_host,
                    port=request.url.port,
                    target=request.url.raw_path,
                ),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        return httpx.Response(answer.status, headers=answer.headers, stream=_Body(answer.stream), extensions=answer.extensions)

    async def aclose(self) -> None:
        await self._pool.aclose()
