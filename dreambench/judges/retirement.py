"""When a judge's model ends: its option says the provider's date (`retires`) and what follows (`successor`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

SOON = 30
"""Days before a model's end from which it is said."""


@dataclass(frozen=True, slots=True)
class Retirement:
    """The announced end of a judge's model; `successor` is a judge option, or litellm's `provider/model`."""

    judge: str
    model: str
    day: date
    successor: str | None = None

    def sentence(self, today: date) -> str | None:
        """What to say of it on `today`; None while it is more than SOON days away."""
        days = (self.day - today).days
        if days > SOON:
            return None
        left = f", in {days} day{'s' * (days != 1)}" if days > 0 else ", today" if days == 0 else ""
        ends = (
            f"retires on {self.day}{left}" if days >= 0 else f"retired on {self.day}: stored answers remain, new ones may fail"
        )
        return f"judge {self.judge} ({self.model}) {ends}{self._follows()}"

    def _follows(self) -> str:
        if self.successor is None:
            return ""
        typed = f"judge=litellm judge.litellm.model={self.successor}" if "/" in self.successor else f"judge={self.successor}"
        return f"; its successor: {typed}"


def retirement_lines(retirements: Iterable[Retirement], today: date) -> list[str]:
    """One sentence for each model that is gone or soon will be, the same model of a judge once."""
    return list(dict.fromkeys(line for one in retirements if (line := one.sentence(today))))
