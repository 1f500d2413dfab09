"""Fences around untrusted text (reports, pages), so that it is data in a prompt and never instructions.

The fence is derived from the text itself: an author cannot write it in advance, and equal prompts have equal bytes, so
the cache works.
"""

from __future__ import annotations

import hashlib

DIGITS = 16


def fence_token(text: str) -> str:
    """First 16 hex digits of SHA-256 of `text`, hashed again with a counter while they occur in it."""
    data = text.encode("utf-8", "surrogatepass")
    token, counter = hashlib.sha256(data).hexdigest()[:DIGITS], 0
    while token in text:
        counter += 1
        token = hashlib.sha256(data + counter.to_bytes(8, "big")).hexdigest()[:DIGITS]
    return token


def fence(text: str, what: str) -> str:
    """`text` between an opening and a closing line that name `what` it is and carry the derived token."""
    token = fence_token(text)
    return f"<{what} {token}>\n{text}\n</{what} {token}>"
