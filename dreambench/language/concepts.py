"""Words that say the same in most reports, mapped to one of them, and a tolerant comparison of stems.

The list is short and general on purpose: a missing synonym makes the weak baseline say "unrelated", a wrong one makes it lie.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from dreambench.language.stemming import stem

_GROUPS = (
    "company firm corporation enterprise business|begin start commence|finish complete completion"
    "|build construct construction|buy acquire purchase acquisition|country nation state|car vehicle automobile"
    "|big large great|show demonstrate indicate reveal|make produce manufacture|found establish foundation"
    "|locate situate base headquarter|employ employee staff worker workforce|need require|revenue sale turnover"
    "|publish release|person people inhabitant resident population|doctor physician|weigh weight mass"
    "|height high tall elevation|length long|approve adopt pass endorse|area cover span"
    "|year annual annually|receive get|end finish conclude|get obtain|own possess|allow permit authorize authorise"
    "|ban forbid prohibit outlaw|reject refuse|live reside|near close|help assist|die kill|use utilize utilise"
    "|roughly approximate|author writer|film movie|city town|ceo chief|leader head|money fund|cost price"
    "|job employment|speed fast quick|average mean|describe depict|research study trial survey|win gain"
    "|movie cinema|share proportion percentage|main principal primary|member|visitor visit|last run|stay remain"
)
_CONCEPT: dict[str, str] = {}
for _group in _GROUPS.split("|"):
    _stems = [stem(word) for word in _group.split()]
    for _word in _stems:
        _CONCEPT.setdefault(_word, _CONCEPT.get(_stems[0], _stems[0]))


def concept(word: str) -> str:
    """The representative of a stem's group, or the stem itself."""
    return _CONCEPT.get(word, word)


@lru_cache(maxsize=20_000)
def similar(a: str, b: str) -> bool:
    """Whether two stems are of one word family: equal, one group, or one (five letters at least) begins the other."""
    if a == b or concept(a) == concept(b):
        return True
    short, long = sorted((a, b), key=len)
    if len(short) < 5 or not (a.isascii() and b.isascii()) or short.isdigit():
        return False
    return long.startswith(short) or (len(short) >= 6 and long.startswith(short[:-1]) and len(long) - len(short) <= 4)


_HEAD = 5
"""Similar stems that are not of one group begin with the same letters, so many."""


def find_similar(word: str, others: Collection[str]) -> str | None:
    """`word` itself if it is among `others`, else the one that sorts first of those similar to it, so that sets have no say."""
    if word in others:
        return word
    head, meaning = word[:_HEAD], concept(word)
    # most are told apart by their first letters alone
    near = (other for other in others if other[:_HEAD] == head or _CONCEPT.get(other, other) == meaning)
    return min((other for other in near if similar(word, other)), default=None)


class Vocabulary:
    """Words sorted for `find`, which says what `find_similar` says, for words that are looked through many times."""

    __slots__ = ("_heads", "_meanings", "_words")

    def __init__(self, words: frozenset[str]) -> None:
        self._words = words
        self._heads: dict[str, list[str]] = {}
        self._meanings: dict[str, list[str]] = {}
        for word in words:
            self._heads.setdefault(word[:_HEAD], []).append(word)
            if word in _CONCEPT:
                self._meanings.setdefault(_CONCEPT[word], []).append(word)

    def find(self, word: str) -> str | None:
        """`find_similar(word, words)`."""
        if word in self._words:
            return word
        near = (*self._heads.get(word[:_HEAD], ()), *self._meanings.get(concept(word), ()))
        return min((other for other in near if similar(word, other)), default=None)


vocabulary = lru_cache(maxsize=2048)(Vocabulary)
