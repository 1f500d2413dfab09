"""The group `page`: how pages are read on the network, and how politely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, PositiveFloat, PositiveInt, field_validator

from dreambench import __version__
from dreambench.errors import Problem

PRODUCT = "dreambench"
"""The product token that robots.txt files are searched for."""


class PageSettings(BaseModel):
    """`contact` is a URL or mail address at which site owners reach whoever runs this; it is sent with every request."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    contact: str | None = None
    per_host: PositiveInt = 2
    delay: NonNegativeFloat = 0.5
    robots: bool = True
    seconds: PositiveFloat = 30.0
    max_bytes: PositiveInt = 10_000_000
    redirects: int = Field(default=5, ge=0, le=20)

    @field_validator("contact")
    @classmethod
    def _can_be_sent(cls, contact: str | None) -> str | None:
        if contact is None or not contact.strip():
            return None
        contact = contact.strip()
        if not (contact.isascii() and contact.isprintable()) or " " in contact or not ("://" in contact or "@" in contact):
            raise ValueError("should be a URL or a mail address")
        return contact

    @property
    def user_agent(self) -> str:
        """What we call ourselves to a web server: name, version, and the contact when one is set."""
        return f"{PRODUCT}/{__version__} (+{self.contact})" if self.contact else f"{PRODUCT}/{__version__}"

    def identity(self) -> Mapping[str, Any]:
        """What can change a number: not who asks, nor how fast."""
        return {"robots": self.robots, "max_bytes": self.max_bytes, "redirects": self.redirects}

    def needs(self) -> Sequence[Problem]:
        """Nobody reads other people's sites anonymously."""
        if self.contact:
            return ()
        return [
            Problem(
                "page.contact",
                "is not set, and web sites are told who reads them",
                ["a URL", "a mail address", "the environment variable DREAMBENCH_CONTACT"],
                "page.contact=https://example.org/about-me",
            )
        ]
