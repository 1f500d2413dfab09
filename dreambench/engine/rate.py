"""Requests and tokens that an account may use per minute: two token buckets that fill evenly on the engine's clock.

A bucket holds one second's share, and at least one request, so no minute sees more than the limit and that much. A call takes
its tokens before they are known, as an estimate, and settles the difference when it comes back; what it took too much of is
waited for by the calls after it.
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, PositiveFloat

from dreambench.engine.call import Call


class PerMinute(BaseModel):
    """Limits of one account; None is without limit. Tokens are those of prompts and answers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    requests: PositiveFloat | None = None
    tokens: PositiveFloat | None = None

    def stricter(self, other: PerMinute) -> PerMinute:
        """Where two judges share an account, the lower figure of each counts."""
        return PerMinute(requests=_least(self.requests, other.requests), tokens=_least(self.tokens, other.tokens))


def estimated_tokens(call: Call) -> int:
    """Tokens of a call before it is made: the characters of its messages / 4. One whose body is elsewhere counts when it is
    back."""
    return sum(len(str(message.get("content") or "")) for message in call.body.get("messages", ())) // 4


@dataclass(slots=True)
class _Bucket:
    """`level` may go below zero: a call larger than the bucket is let through when it is full, and paid off."""

    per_second: float
    most: float
    level: float
    at: float

    def fill(self, now: float) -> None:
        self.level = min(self.most, self.level + max(0.0, now - self.at) * self.per_second)
        self.at = now

    def wait(self, needed: float) -> float:
        """Seconds until the level has `needed`."""
        return max(0.0, (needed - self.level) / self.per_second)


class Pace:
    """When the next call of an account may begin. Times are seconds on a monotonic clock."""

    def __init__(self, limits: PerMinute, now: float) -> None:
        self._requests = _bucket(limits.requests, now, least=1.0)
        self._tokens = _bucket(limits.tokens, now, least=0.0)

    def wait(self, now: float) -> float:
        """Seconds until a call may begin; 0 when it may now."""
        waits = [0.0]
        for bucket, needed in ((self._requests, 1.0), (self._tokens, 0.0)):
            if bucket is not None:
                bucket.fill(now)
                waits.append(bucket.wait(needed))
        return max(waits)

    def begin(self, tokens: int) -> None:
        """Takes one request and the tokens that it is thought to need."""
        if self._requests is not None:
            self._requests.level -= 1.0
        self.settle(tokens)

    def settle(self, tokens: int) -> None:
        """Takes `tokens` more than were thought; negative ones are given back."""
        if self._tokens is not None:
            self._tokens.level -= tokens


def _bucket(per_minute: float | None, now: float, least: float) -> _Bucket | None:
    if per_minute is None:
        return None
    most = max(least, per_minute / 60)
    return _Bucket(per_minute / 60, most, most, now)


def _least(one: float | None, other: float | None) -> float | None:
    given = [value for value in (one, other) if value is not None]
    return min(given, default=None)
