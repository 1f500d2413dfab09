"""The one owner of retries: client libraries get none, this policy decides by error class."""

from __future__ import annotations

import random
from dataclasses import dataclass

from dreambench.errors import ProviderError


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """At most `attempts` tries and `seconds` in all; waits double from `base` to `longest` seconds, with jitter."""

    attempts: int = 6
    seconds: float = 600.0
    base: float = 1.0
    longest: float = 60.0

    def pause(self, error: ProviderError, attempts: int, elapsed: float) -> float | None:
        """Seconds to wait before the next try after `attempts` tries; None to give up.

        The provider's own Retry-After is honoured when it is longer than our wait, and ends the tries when it would
        outlast `seconds`. Jitter is on waits only and changes no result, so it is not seeded.
        """
        if error.permanent or attempts >= self.attempts:
            return None
        wait = min(self.longest, self.base * 2 ** (attempts - 1)) * random.uniform(0.5, 1.0)
        wait = max(wait, error.retry_after or 0.0)
        return wait if elapsed + wait <= self.seconds else None
