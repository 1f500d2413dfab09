"""How the two ends talk: messages are dicts of plain JSON, whole or not at all, in order."""

from __future__ import annotations

import json
from typing import Any, Protocol

Message = dict[str, Any]


class ChannelClosed(Exception):
    """The other end is gone: it ended, was killed, or its machine was lost."""


class Channel(Protocol):
    """One end. `where` names the other one for people: a process, a host."""

    where: str

    async def send(self, message: Message) -> None:
        """Raises ChannelClosed."""

    async def receive(self) -> Message:
        """The next message. Raises ChannelClosed once there is none any more."""

    async def close(self) -> None:
        """Ends the channel and whoever is at the other end of it; closing twice is once."""


def pack(message: Message) -> str:
    """JSON that every channel can carry: half a surrogate pair in a text is escaped."""
    return json.dumps(message, ensure_ascii=True, separators=(",", ":"))


def unpack(text: str | bytes) -> Message:
    """The message that `pack` wrote."""
    message: Message = json.loads(text)
    return message
