"""Asking an HTTP service: one attempt, its answer, and what its errors mean for the one retry policy."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from dreambench.errors import ProviderError
from dreambench.tools.fetch import retry_after
from dreambench.tools.transport import tls

_QUOTA = re.compile(
    r"not enough credits|no.?more.?credits|out of credits|insufficient (credit|quota|balance)|usage limit|quota|"
    r"budget.?exceeded|plan.s? (set )?(usage )?limit|credits? (are )?exhausted",
    re.IGNORECASE,
)
_WORDS = 300
_LARGEST = 20_000_000


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: header names in lower case."""

    status: int
    headers: Mapping[str, str]
    text: str


async def ask(
    service: str,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str],
    params: Mapping[str, Any] | None = None,
    json: Mapping[str, Any] | None = None,
    seconds: float = 30.0,
) -> Answer:
    """One request. Raises ProviderError when there is no answer, for whatever reason."""
    try:
        async with (
            httpx.AsyncClient(verify=tls(), timeout=seconds) as client,
            client.stream(method, url, headers=headers, params=params, json=json) as response,
        ):
            body = bytearray()
            async for part in response.aiter_bytes():
                body += part
                if len(body) > _LARGEST:
                    raise ProviderError(f"{service}: the answer is larger than {_LARGEST:,} bytes", code="server_error")
            found = {name.lower(): value for name, value in response.headers.items()}
            return Answer(response.status_code, found, bytes(body).decode(response.encoding or "utf-8", "replace"))
    except httpx.TimeoutException as error:
        raise ProviderError(f"{service}: no answer in {seconds:g} s", code="timeout") from error
    except (httpx.TransportError, httpx.DecodingError) as error:
        raise ProviderError(f"{service}: {type(error).__name__}: {error}", code="connection") from error
    except (httpx.InvalidURL, UnicodeError) as error:
        raise ProviderError(f"{service}: {url!r} is no URL: {error}", code="bad_request", fatal=True) from error


def failure(service: str, answer: Answer, words: str, *, secret: str = "") -> ProviderError:
    """What an answer that is no success means. `words` are the service's own; a key in them is taken out."""
    said = " ".join(words.replace(secret, "[key]").split() if secret else words.split())[:_WORDS]
    text = f"{service}: HTTP {answer.status}{f': {said}' if said else ''}"
    status, wait = answer.status, waiting(answer.headers)
    if status == 402 or (status in (400, 403, 429, 432, 433) and _QUOTA.search(words)):
        return ProviderError(text, code="quota", fatal=True)
    if status == 429 or (status == 403 and wait is not None):
        return ProviderError(text, code="rate_limited", retry_after=wait)
    if status in (401, 403):
        return ProviderError(text, code="auth", fatal=True)
    if status == 408:
        return ProviderError(text, code="timeout", retry_after=wait)
    if status == 404:
        return ProviderError(text, code="not_found", permanent=True)
    if 400 <= status < 500:
        return ProviderError(text, code="bad_request", permanent=True)
    return ProviderError(text, code="server_error", retry_after=wait)


def malformed(service: str, why: str) -> ProviderError:
    """A success that cannot be read: trouble at the service, tried again."""
    return ProviderError(f"{service}: an answer that cannot be read: {why[:_WORDS]}", code="server_error")


def waiting(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by Retry-After, or by the `x-ratelimit` headers of a used-up window; None when they ask for none.

    `x-ratelimit-reset` holds seconds (Brave, one per window) or the moment in seconds since 1970 (GitHub).
    """
    if (wait := retry_after(headers)) is not None:
        return wait
    remaining = headers.get("x-ratelimit-remaining", "").split(",")
    resets = headers.get("x-ratelimit-reset", "").split(",")
    waits = [
        float(reset) for left, reset in zip(remaining, resets, strict=False) if left.strip() == "0" and reset.strip().isdigit()
    ]
    return max((wait - time.time() if wait > 1e9 else wait for wait in waits), default=None)
