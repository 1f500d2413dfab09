"""What litellm raises, understood: waits in headers and bodies, wording, causes. (The real client is in test_llm.)"""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from dreambench.engine.call import Reply
from dreambench.errors import ProviderError
from dreambench.judges.llm.failures import failure, retry_after

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


class Raised(Exception):
    """An error as litellm shapes them."""

    def __init__(
        self, message: str = "x", status: int | None = None, headers: dict[str, str] | None = None, **more: Any
    ) -> None:
        super().__init__(message)
        self.status_code = status
        self.response = SimpleNamespace(headers=headers or {})
        for name, value in more.items():
            setattr(self, name, value)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Thu, 01 Jan 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m30s"}, 90.0),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "7"}, 7.0),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "120ms"}, 0.12),
        ({"x-ratelimit-remaining-tokens": "50", "x-ratelimit-reset-tokens": "6m0s"}, None),
        ({"anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-tokens-reset": "2026-01-01T12:00:12Z"}, 12.0),
        ({"anthropic-ratelimit-tokens-remaining": "9", "anthropic-ratelimit-tokens-reset": "2026-01-01T12:00:12Z"}, None),
        ({}, None),
    ],
)
def test_waits_are_read_from_headers(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(Raised(status=429, headers=headers), NOW) == pytest.approx(seconds)
    elsewhere = Raised(status=429, litellm_response_headers=headers)
    assert retry_after(elsewhere, NOW) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        ('{"error": {"details": [{"@type": "RetryInfo", "retryDelay": "34.5s"}]}}', 34.5),
        ("Rate limit reached. Limit 30000, Used 29000, Requested 2000. Please try again in 2s. Visit the site", 2.0),
        ("Please try again in 6m0.5s.", 360.5),
        ("Please retry in 34.074824224s.", 34.074824224),
        ("Please try again in a while", None),
    ],
)
def test_waits_are_read_from_a_body(body: str, seconds: float | None) -> None:
    assert retry_after(Raised(body, 429), NOW) == seconds


@pytest.mark.parametrize(
    ("error", "code", "permanent", "fatal"),
    [
        (Raised("Rate limit reached", 429), "rate_limited", False, False),
        (Raised("context length of tokens per minute", 429), "rate_limited", False, False),
        (Raised("You exceeded your current quota, please check your plan", 429), "quota", True, True),
        (Raised("Your credit balance is too low", 400), "quota", True, True),
        (Raised("Overloaded", 500), "overloaded", False, False),
        (Raised("boom", 529), "overloaded", False, False),
        (Raised("boom", 504), "server_error", False, False),
        (Raised("prompt is too long: 250000 tokens > 200000 maximum", 400), "context_length", True, False),
        (Raised("The input token count (1200000) exceeds the maximum", 400), "context_length", True, False),
        (Raised("boom", 418), "bad_request", True, False),
        (TimeoutError(), "timeout", False, False),
        (Raised("no status at all"), "server_error", False, False),
    ],
)
def test_codes(error: Exception, code: str, permanent: bool, fatal: bool) -> None:
    meaning = failure(error, "openai/m", NOW)
    assert isinstance(meaning, ProviderError)
    assert (meaning.code, meaning.permanent, meaning.fatal) == (code, permanent, fatal)


def test_a_cause_further_down_says_that_the_connection_was_lost() -> None:
    class ClientConnectorError(OSError):
        pass

    ClientConnectorError.__name__ = "ConnectError"
    error = Raised("Connection error.", 500)
    error.__cause__ = Raised("wrapped")
    error.__cause__.__context__ = ClientConnectorError()
    meaning = failure(error, "openai/m", NOW)
    assert isinstance(meaning, ProviderError)
    assert meaning.code == "connection"


def test_a_judge_that_cannot_be_reached_is_named_with_address_and_cause() -> None:
    class ConnectError(OSError):
        pass

    error = Raised("Connection error.", 500)
    error.__cause__ = ConnectError("Cannot connect to host 127.0.0.1:9 ssl:<ssl.SSLContext object at 0x7f> [refused]")
    assert str(failure(error, "openai/m", NOW)) == "openai/m: Connection error. (Cannot connect to host 127.0.0.1:9 [refused])"


@pytest.mark.parametrize("message", ["content management policy", "flagged by our safety system", "Content-Policy violation"])
def test_filters_are_refusals(message: str) -> None:
    meaning = failure(Raised(message, 400), "openai/m", NOW)
    assert isinstance(meaning, Reply)
    assert meaning.finish == "refusal"


def test_messages_are_one_short_line_without_the_clients_names() -> None:
    error = Raised(
        "litellm.RateLimitError: RateLimitError: OpenAIException - slow\n down" + "x" * 2000 + "\nTraceback: secret", 429
    )
    meaning = str(failure(error, "openai/m", NOW))
    assert meaning.startswith("openai/m: slow down")
    assert len(meaning) < 500
    assert "\n" not in meaning
