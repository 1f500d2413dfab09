"""The passage of a page that fits a query best: what a search result shows of it."""

from __future__ import annotations

import re
from functools import lru_cache

WIDTH = 300
"""Characters of a passage at most."""
_FAR = 60_000
"""Characters of a page that are searched for the passage."""
_WORD = re.compile(r"[^\W_\u3400-\u9fff]+|[\u3400-\u9fff]")
EMPTY_WORDS = frozenset(
    "a an and are as at be but by did do does for from had has have how if in into is it its of on or s such that the "
    "their then there these they this to was were what when where which who will with".split()
)
"""Words that tell nothing about a page but stand in all of them."""


def passage(text: str, query: str, width: int = WIDTH) -> str:
    """At most `width` characters of `text` around the place where most different words of `query` stand; one line."""
    wanted = _wanted(query)
    found = [(match.start(), match.group().lower()) for match in wanted.finditer(text, 0, _FAR)] if wanted else []
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


@lru_cache(maxsize=64)
def _wanted(query: str) -> re.Pattern[str] | None:
    """The beginnings of words that `query` holds, whatever their endings, and its Chinese characters."""
    words = {word.lower() for word in _WORD.findall(query)} - EMPTY_WORDS
    latin = sorted((word for word in words if not "\u3400" <= word[0] <= "\u9fff"), reverse=True)
    chinese = "".join(sorted(words.difference(latin)))
    parts = [rf"\b(?:{'|'.join(map(re.escape, latin))})"] if latin else []
    parts += [f"[{chinese}]"] if chinese else []
    return re.compile("|".join(parts), re.IGNORECASE) if parts else None


def _window(text: str, start: int, width: int) -> str:
    """From the beginning of the sentence, or near it, in which `start` lies."""
    begin = max((text.rfind(stop, max(0, start - width // 4), start) + 1 for stop in (". ", "\n", "。", "! ", "? ")), default=0)
    begin = begin or (0 if start < width // 4 else start)
    cut = " ".join(text[begin : begin + width].split())
    return f"{'…' if begin else ''}{cut}{'…' if begin + width < len(text) else ''}"
