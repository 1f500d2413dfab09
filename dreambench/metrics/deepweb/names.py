"""Which entity a name in a text means: lists, headings and score keys of the public files spell them differently.

A name is compared with every spelling of an entity (as it stands, without its parenthesis, the parenthesis alone), folded;
then word by word, then by likeness. What fits two entities equally well fits none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rapidfuzz import fuzz

from dreambench.language.text import normalise

LIKE = 88.0
"""Least ratio (0-100) of the sorted words of names that are spelled differently."""
_PARENTHESIS = re.compile(r"\s*[(（\[]([^)）\]]+)[)）\]]\s*")
_OUTER = re.compile(r"^[\s*_`#:：.,;|-]+|[\s*_`#:：,;|-]+$")
_WORDS = re.compile(r"[a-z0-9]+|[\u4e00-\u9fff]+")
_LIST = re.compile(r"\s*(?:[,;，；、/&+]|\band\b|和|及|与)\s*")


class EntityNames:
    """`find` gives the entity that a name means; `find_all` those of a merged heading."""

    def __init__(self, entities: Sequence[str]) -> None:
        self.entities = list(entities)
        self._spellings = [(entity, folded) for entity in entities for folded in spellings(entity)]

    def find(self, name: str) -> str | None:
        """The entity, or None when the name means none of them or several equally."""
        wanted = spellings(name)
        if not wanted:
            return None
        for fits in (_same, _begins, _like):
            found = {entity for entity, spelling in self._spellings if any(fits(one, spelling) for one in wanted)}
            if len(found) == 1:
                return found.pop()
            if found:
                return self._closest(wanted[0], found)
        return None

    def find_all(self, names: str) -> list[str]:
        """The entities of "A, B and C", in order; as one name first, so that "Johnson & Johnson" stays one."""
        whole = self.find(names)
        parts = [part for part in _LIST.split(_PARENTHESIS.sub(" ", names)) if part.strip()]
        if len(parts) < 2:
            return [whole] if whole else []
        found = [entity for part in parts if (entity := self.find(part))]
        distinct = list(dict.fromkeys(found))
        return distinct if len(distinct) > 1 else [whole] if whole else distinct

    def _closest(self, name: str, among: Iterable[str]) -> str | None:
        scored = sorted(
            ((max(fuzz.ratio(name, spelling) for spelling in spellings(entity)), entity) for entity in among), reverse=True
        )
        return scored[0][1] if scored[0][0] > scored[1][0] + 5 else None


def spellings(name: str) -> list[str]:
    """The folded spellings of a name, the fullest first: "01.AI (Zero-One AI)" is also "01 ai" and "zero one ai"."""
    trimmed = _OUTER.sub("", name)
    inside = _PARENTHESIS.findall(trimmed)
    forms = [trimmed, _PARENTHESIS.sub(" ", trimmed), *inside]
    folded = [" ".join(_WORDS.findall(normalise(form))) for form in forms]
    return [form for form in dict.fromkeys(folded) if form]


def _same(one: str, other: str) -> bool:
    return one == other or one.replace(" ", "") == other.replace(" ", "")


def _begins(one: str, other: str) -> bool:
    """Whether a name is the first words of the entity's ("Google" of "Google DeepMind"), or has one word more than it.

    More words more are not the entity: "Google search share" is a topic.
    """
    short, long = sorted((one, other), key=len)
    if len(short) <= 2 or (len(one) > len(other) and one.count(" ") > other.count(" ") + 1):
        return False
    return f"{long} ".startswith(f"{short} ") or (short[0] > "\u33ff" and long.startswith(short))


def _like(one: str, other: str) -> bool:
    return min(len(one), len(other)) > 3 and fuzz.token_sort_ratio(one, other) >= LIKE
