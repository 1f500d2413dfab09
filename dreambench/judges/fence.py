"""Fences around untrusted text (reports, pages), so that it is data in a prompt and never instructions.

The fence is derived from the text itself: an author cannot write it in advance, and equal prompts have equal bytes, so
the cache works. Characters that nobody sees and brackets that would open a chat token or a look-alike of a fence are replaced
first, so nothing inside a fence has a meaning to a chat template.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

from dreambench.documents.hostile.characters import neutralise

DIGITS = 16


def fence_token(text: str) -> str:
    """First 16 hex digits of SHA-256 of `text`, hashed again with a counter while they occur in it."""
    data = text.encode("utf-8", "surrogatepass")
    token, counter = hashlib.sha256(data).hexdigest()[:DIGITS], 0
    while token in text:
        counter += 1
        token = hashlib.sha256(data + counter.to_bytes(8, "big")).hexdigest()[:DIGITS]
    return token


@lru_cache(maxsize=64)
def fence(text: str, what: str) -> str:
    """`text`, neutralised, between an opening and a closing line that name `what` it is and carry the derived token.

    The last ones are remembered: all prompts about a report hold the same fenced text, and are rendered one after the other.
    """
    text = neutralise(text)
    token = fence_token(text)
    return f"<{what} {token}>\n{text}\n</{what} {token}>"


def plain(text: str) -> str:
    """Words of a model (a thought, arguments) for a line of a prompt outside of fences: neutralised, on one line."""
    return " ".join(neutralise(text).split())
