"""When the one retry policy waits, how long, and when it gives up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreambench.engine.retry import RetryPolicy
from dreambench.errors import ProviderError

POLICY = RetryPolicy(attempts=5, seconds=100, base=1, longest=8)


@given(st.integers(1, 4), st.floats(0, 50))
def test_waits_double_with_jitter_and_stay_below_the_longest(attempts: int, elapsed: float) -> None:
    pause = POLICY.pause(ProviderError("x", code="server_error"), attempts, elapsed)
    assert pause is not None
    top = min(8, 2 ** (attempts - 1))
    assert top / 2 <= pause <= top


@pytest.mark.parametrize("wish", [20.0, 99.0])
def test_a_longer_wish_of_the_provider_is_honoured(wish: float) -> None:
    assert POLICY.pause(ProviderError("x", code="rate_limited", retry_after=wish), 1, 0) == wish


def test_a_shorter_wish_does_not_shorten_the_wait() -> None:
    pause = POLICY.pause(ProviderError("x", code="rate_limited", retry_after=0.001), 3, 0)
    assert pause is not None
    assert pause >= 2


@pytest.mark.parametrize(
    ("error", "attempts", "elapsed"),
    [
        (ProviderError("x", code="bad_request", permanent=True), 1, 0),
        (ProviderError("x", code="auth", fatal=True), 1, 0),
        (ProviderError("x", code="server_error"), 5, 0),
        (ProviderError("x", code="server_error"), 1, 100),
        (ProviderError("x", code="rate_limited", retry_after=101), 1, 0),
    ],
)
def test_gives_up(error: ProviderError, attempts: int, elapsed: float) -> None:
    assert POLICY.pause(error, attempts, elapsed) is None
