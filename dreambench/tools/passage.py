"""The passage of a page that fits a query best: what a search result shows of it."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W\u3400-\u9fff]+|[\u3400-\u9fff]")
WIDTH = 300
"""Characters of a passage at most."""


def passage(text: str, query: str, width: int = WIDTH) -> str:
    """At most `width` characters of `text` around the place where most different words of `query` stand; one line."""
    wanted = {word.lower() for word in _WORD.findall(query) if len(word) > 2 or not word.isascii()}
    found = [(match.start(), word) for match in _WORD.finditer(text) if (word := match.group().lower()) in wanted]
    start, best, first = 0, 0, 0
    counts: dict[str, int] = {}
    for position, word in found:
        counts[word] = counts.get(word, 0) + 1
        while position - found[first][0] > width * 3 // 4:
            left = found[first][1]
            counts[left] -= 1
            if not counts[left]:
                del counts[left]
            first += 1
        if len(counts) > best:
            start, best = found[first][0], len(counts)
    return _window(text, start, width)


def _window(text: str, start: int, width: int) -> str:
    """From the beginning of the sentence, or near it, in which `start` lies."""
    begin = max((text.rfind(stop, max(0, start - width // 4), start) + 1 for stop in (". ", "\n", "。", "! ", "? ")), default=0)
    begin = begin or (0 if start < width // 4 else start)
    cut = " ".join(text[begin : begin + width].split())
    return f"{'…' if begin else ''}{cut}{'…' if begin + width < len(text) else ''}"
