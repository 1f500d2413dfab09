"""Characters before words: one fixed folding that never moves an offset.

Everything in this package first folds its input with `fold_width`, which maps one character to one character, so that
offsets found in the folded text are offsets into the given text. `normalise` goes further (case, runs of spaces) and is
for comparing strings only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal

Language = Literal["en", "zh"]

_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_SPACES = dict.fromkeys([0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000, 0x200B, 0xFEFF], 0x20)
_DASHES = dict.fromkeys([0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2015, 0x2212, 0xFE58, 0xFE63, 0x301C, 0xFF5E], 0x2D)
_QUOTES = {
    **dict.fromkeys([0x2018, 0x2019, 0x201A, 0x201B, 0x2032, 0x02BC, 0x60, 0xB4], 0x27),
    **dict.fromkeys([0x201C, 0x201D, 0x201E, 0x201F, 0x2033, 0xAB, 0xBB, 0x300C, 0x300D, 0x300E, 0x300F], 0x22),
}
# Chinese sentence marks keep their width: the comma of 「万，」 must not look like a thousands separator.
_KEPT = {0xFF0C, 0xFF01, 0xFF1F, 0xFF1B, 0xFF1A}
_TABLE = {code: to for code, to in (_FULL_WIDTH | _SPACES | _DASHES | _QUOTES).items() if code not in _KEPT}
_TABLE[0xFFE5] = 0xA5

CJK = "\u3400-\u4dbf\u4e00-\u9fff"
_CJK_CHAR = re.compile(f"[{CJK}]")
_LATIN_WORD = re.compile(r"[A-Za-z]+")
_BLANKS = re.compile(r"\s+")


@lru_cache(maxsize=256)
def fold_width(text: str) -> str:
    """`text` with full-width forms, dashes, quotes and odd spaces as ASCII; the length and every offset are kept."""
    return text if text.isascii() else text.translate(_TABLE)


def normalise(text: str) -> str:
    """`text` for comparison: width, dashes, quotes and case folded, runs of white space as one space, ends stripped."""
    return _BLANKS.sub(" ", fold_width(text)).strip().lower()


def guess_language(text: str) -> Language:
    """`zh` when Chinese characters outnumber Latin words, else `en`."""
    return "zh" if len(_CJK_CHAR.findall(text)) > len(_LATIN_WORD.findall(text)) else "en"


def has_cjk(text: str) -> bool:
    """Whether any Chinese character occurs in `text`."""
    return _CJK_CHAR.search(text) is not None


def word_set(words: str, separator: str | None = None) -> frozenset[str]:
    """The words of a long literal, split at white space or `separator`."""
    return frozenset(words.split(separator))


def alternation(words: Iterable[str]) -> str:
    """A regular expression that matches any of `words`, the longest first; blanks in a word match one blank or hyphen."""
    ordered = sorted(set(words), key=lambda word: (-len(word), word))
    return "|".join(re.escape(word).replace(r"\ ", "[ -]") for word in ordered)


def blank_out(text: str, spans: Sequence[tuple[int, int]], filler: str = "\x00") -> str:
    """`text` of the same length with `spans` (any order, overlaps allowed) overwritten by `filler`."""
    parts: list[str] = []
    position = 0
    for start, end in sorted(spans):
        if end <= position:
            continue
        start = max(start, position)
        parts.append(text[position:start])
        parts.append(filler * (end - start))
        position = end
    parts.append(text[position:])
    return "".join(parts)
