"""What a text is made of, taken once: it tells in a millisecond which rules cannot apply, so that clean text costs little."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from dreambench.documents.hostile.characters import fold_alike

_WORD = re.compile(r"[a-z_']+")
_LONG = 19
_BLOCK_START = re.compile(r"[ \t]*(?:[-*+•] |\d{1,3}[.)] |#{1,6} |\||>|```|~~~)")


@dataclass(frozen=True)
class Features:
    """Views of one text; `folded` has the same offsets."""

    text: str

    @cached_property
    def folded(self) -> str:
        """Lower case, look-alikes as Latin letters."""
        return fold_alike(self.text)

    @cached_property
    def pieces(self) -> frozenset[str]:
        """What stands between white space in the folded text, each once."""
        return frozenset(self.folded.split())

    @cached_property
    def words(self) -> frozenset[str]:
        """The Latin words of the folded text."""
        return frozenset(_WORD.findall(" ".join(self.pieces)))

    @cached_property
    def long_pieces(self) -> tuple[str, ...]:
        """Pieces that are long enough to be a code."""
        return tuple(piece for piece in self.pieces if len(piece) >= _LONG)

    @cached_property
    def has_cjk(self) -> bool:
        """Whether any piece begins with a CJK ideograph or ends beyond U+3000 (CJK punctuation and letters)."""
        return not self.text.isascii() and any(
            "\u4e00" <= piece[0] <= "\u9fff" or piece[-1] >= "\u3000" for piece in self.pieces
        )

    @cached_property
    def edges(self) -> list[int]:
        """Where paragraphs, list items, headings, table rows and quotes begin, and the end of the text."""
        edges = [0]
        position, blank = 0, False
        for line in self.text.split("\n"):
            if not line or line.isspace():
                blank = True
            elif blank or _BLOCK_START.match(line):
                edges.append(position)
                blank = False
            position += len(line) + 1
        return [*dict.fromkeys(edges), len(self.text)]

    @cached_property
    def _known(self) -> dict[str, bool]:
        return {}

    def has(self, part: str) -> bool:
        """Whether `part` stands anywhere in the folded text; remembered."""
        known = self._known.get(part)
        if known is None:
            known = self._known[part] = part in self.folded
        return known

    def says(self, *words: str) -> bool:
        """Whether any of `words` is a word of the text."""
        return not self.words.isdisjoint(words)
