"""From what litellm raises to a `ProviderError` that our one retry policy understands, or to a refusal.

litellm's classes differ from provider to provider for the same trouble (a dropped connection is an InternalServerError,
403 is an APIError), so the HTTP status, the cause and the wording decide, in this order: wording that is specific, cause,
status.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from dreambench.engine.call import Reply
from dreambench.errors import ProviderError
from dreambench.judges.llm.providers import without_secrets

_LONGEST = 400
_CONTEXT = re.compile(r"context.?(length|window)|maximum context|prompt is too long|too many tokens|input token count", re.I)
_FILTER = re.compile(r"content.?(policy|filter|management)|safety system|responsible ?ai ?policy|data_inspection_failed", re.I)
_QUOTA = re.compile(r"insufficient.?(quota|balance|credit)|exceeded your current quota|credit balance|billing", re.I)
_DELAY_IN_BODY = re.compile(r"retryDelay\W+(\d+(?:\.\d+)?)s")
_DAILY = re.compile(r"per.?day|daily", re.I)
_DELAY_IN_WORDS = re.compile(r"(?:try again|retry) in ((?:\d+(?:\.\d+)?(?:ms|h|m|s))+)", re.I)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_SSL = re.compile(r"ssl:(<[^>]*>|\w+) ")
_LOST = ("ConnectionError", "ConnectError", "ClientError", "TransportError", "ProtocolError")
"""How the names of classes end that mean a connection which was lost or never there."""
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}

_BY_STATUS: Mapping[int, tuple[str, str]] = {
    401: ("auth", "fatal"),
    402: ("quota", "fatal"),
    403: ("auth", "fatal"),
    404: ("not_found", "fatal"),
    408: ("timeout", ""),
    409: ("server_error", ""),
    429: ("rate_limited", ""),
    503: ("overloaded", ""),
    529: ("overloaded", ""),
}


def failure(error: BaseException, model: str, now: datetime) -> ProviderError | Reply:
    """What `error` means: a ProviderError to raise, or a refusal (the provider's filter) as a Reply."""
    message = _message(error)
    text = f"{model}: {message}"
    status = getattr(error, "status_code", None)
    refused_request = isinstance(status, int) and 400 <= status < 500 and status != 429
    if type(error).__name__ == "ContextWindowExceededError" or (refused_request and _CONTEXT.search(message)):
        return ProviderError(text, code="context_length", permanent=True)
    if type(error).__name__ == "ContentPolicyViolationError" or (refused_request and _FILTER.search(message)):
        return Reply(answer=message, finish="refusal")
    if status in (400, 403, 429) and _QUOTA.search(message) and not _passes(error):
        return ProviderError(text, code="quota", fatal=True)
    if isinstance(error, TimeoutError) or _caused_by(error, "Timeout"):
        return ProviderError(text, code="timeout")
    if lost := [cause for cause in _chain(error) if type(cause).__name__.endswith(_LOST)]:
        cause = _message(lost[-1])  # the innermost one names the host and says why
        return ProviderError(f"{text} ({cause})" if cause not in text else text, code="connection")
    wait = retry_after(error, now)
    if "overloaded" in message.lower() and status != 429:
        return ProviderError(text, code="overloaded", retry_after=wait)
    code, weight = _BY_STATUS.get(status or 0, ("bad_request", "permanent") if refused_request else ("server_error", ""))
    return ProviderError(text, code=code, retry_after=wait, permanent=weight == "permanent", fatal=weight == "fatal")


def retry_after(error: BaseException, now: datetime) -> float | None:
    """Seconds that the provider wants us to wait, by its headers or body; None when it does not say."""
    headers = _headers(error)
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    if value := headers.get("retry-after"):
        return _seconds_or_date(value, now)
    if (found := _DELAY_IN_BODY.search(str(error))) is not None:
        return float(found.group(1))
    resets = [_reset(headers, what, now) for what in ("requests", "tokens", "input-tokens", "output-tokens")]
    if (longest := max((wait for wait in resets if wait is not None), default=None)) is not None:
        return longest
    found = _DELAY_IN_WORDS.search(str(error))  # OpenAI's last resort: some tokens are left, but not enough
    return _duration(found.group(1)) if found else None


def _passes(error: BaseException) -> bool:
    """Whether a used-up quota is one of the minute: Google words all of them alike, and says when to come back."""
    return _DELAY_IN_BODY.search(str(error)) is not None and _DAILY.search(str(error)) is None


def _reset(headers: Mapping[str, str], what: str, now: datetime) -> float | None:
    """When a used-up limit is refilled: OpenAI writes a duration, Anthropic a date."""
    if headers.get(f"x-ratelimit-remaining-{what}") == "0" and (value := headers.get(f"x-ratelimit-reset-{what}")):
        return _duration(value)
    if headers.get(f"anthropic-ratelimit-{what}-remaining") == "0":
        return _seconds_or_date(headers.get(f"anthropic-ratelimit-{what}-reset", ""), now)
    return None


def _duration(value: str) -> float | None:
    """Seconds of `6m0s`, `120ms` or `7`."""
    parts = _DURATION.findall(value)
    return sum(float(count) * _UNITS[unit] for count, unit in parts) if parts else _number(value)


def _seconds_or_date(value: str, now: datetime) -> float | None:
    if (seconds := _number(value)) is not None:
        return max(0.0, seconds)
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            return max(0.0, (read(value) - now).total_seconds())
        except (ValueError, TypeError):
            continue
    return None


def _number(value: str | None) -> float | None:
    return float(value) if value is not None and re.fullmatch(r"\d+(\.\d+)?", value.strip()) else None


def _headers(error: BaseException) -> dict[str, str]:
    """The response's headers in lower case; litellm keeps them in one of three places."""
    merged: dict[str, str] = {}
    response = getattr(error, "response", None)
    for source in (getattr(response, "headers", None), getattr(error, "litellm_response_headers", None), _own(error)):
        merged.update({str(name).lower(): str(value) for name, value in (source or {}).items()})
    return merged


def _own(error: BaseException) -> Any:
    headers = getattr(error, "headers", None)
    return headers if hasattr(headers, "items") else None


def _caused_by(error: BaseException, *endings: str) -> bool:
    return any(type(cause).__name__.endswith(endings) for cause in _chain(error))


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and its causes, but not the classes that litellm wraps everything in."""
    seen: BaseException | None = error
    for _ in range(8):
        if seen is None:
            return
        if type(seen).__module__ != "litellm.exceptions" or type(seen).__name__ == "Timeout":
            yield seen
        seen = seen.__cause__ or seen.__context__


def _message(error: BaseException) -> str:
    """The error's own words: one line, short, without secrets and without litellm's names around them."""
    text = str(error).split("\nTraceback", 1)[0]
    text = " ".join(re.sub(r"\b(litellm\.)?(\w+Error|\w+Exception)\b( -|:) ", "", text).split())
    return without_secrets(_SSL.sub("", text))[:_LONGEST] or type(error).__name__
