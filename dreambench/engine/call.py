"""What crosses the gateway: a `Call` goes out, a `Reply` comes back, a `CallRecord` stays in the ledger.

A call's key is the hash of everything that can change its answer and of nothing else, and it is computed before the call
is made. Replies are plain text and numbers, so they are stored as JSON and never pickled.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

KEY_SCHEMA = 1
"""Raised when the meaning of a key or of a stored reply changes: older cache entries are then never found again."""


_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def canonical_json(value: object) -> str:
    """One text per value: sorted keys, no spaces, UTF-8 kept; equal values give equal bytes."""
    return _CANONICAL.encode(value)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one reply, as the provider counted them. Parts of `prompt` are `cached` (read from the provider's cache) and
    `cache_write` (written to it, where the provider tells); part of `completion` is `reasoning`."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    reasoning: int = 0
    cache_write: int = 0


@dataclass(frozen=True)
class Call:
    """One leaf call.

    `provider` names who answers (`litellm`, `embedded`, a tool), `account` is what rate limits belong to, `role` is what
    the ledger sums by (`judging`, `extraction`, `creation`, `tools`), and `body` is JSON that holds all that determines
    the answer: base URL, messages, tools, response schema, parameters. `repeat` tells wanted repetitions apart.
    Calls that are not `metered` (work done in this process) leave budgets alone. The answer to a `batched` one comes hours
    later and stays where it is when nobody waits for it any more: nothing of it is lost in flight.
    """

    provider: str
    account: str
    model: str
    body: Mapping[str, Any]
    role: str = "judging"
    repeat: int = 0
    metered: bool = True
    batched: bool = False

    @cached_property
    def key(self) -> str:
        """SHA-256 (hex) over schema version, provider, model, body and repeat; role and account do not enter."""
        text = canonical_json([KEY_SCHEMA, self.provider, self.model, self.body, self.repeat])
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer as it reached the process.

    `answer` is the text of the typed answer (JSON) or of a tool's result, not yet validated. `finish` is `stop`, or why
    the answer is unusable: `length` (truncated) or `refusal`. `cost` is in US dollars, None when the price is unknown.
    """

    answer: str
    model: str = ""
    fingerprint: str = ""
    finish: str = "stop"
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None

    def to_json(self) -> str:
        """Text that can be stored anywhere: what UTF-8 cannot hold (half a surrogate pair) is escaped."""
        text = canonical_json(asdict(self))
        try:
            text.encode()
        except UnicodeEncodeError:
            return json.dumps(asdict(self), allow_nan=False)
        return text

    @classmethod
    def from_json(cls, text: str) -> Reply:
        """The inverse of `to_json`. Raises ValueError, KeyError or TypeError on anything else."""
        data = json.loads(text)
        return cls(**{**data, "usage": Usage(**data["usage"])})


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One row of `calls.parquet`: what was asked of whom, what came back, what it cost, and its seconds.

    `source` is `provider` (paid now), `cache` (stored earlier) or `flight` (shared with an equal call in flight); money
    spent by a run is the sum over `provider` rows. `outcome` is `ok`, `refusal`, `length` or the name of the error. `seconds`
    are from asking to having the answer, waiting for a free place and between tries included.
    """

    key: str
    cell: str
    role: str
    provider: str
    account: str
    requested_model: str
    answered_model: str
    fingerprint: str
    repeat: int
    source: str
    outcome: str
    attempts: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    reasoning_tokens: int
    cost: float | None
    seconds: float
    cache_write_tokens: int = 0
