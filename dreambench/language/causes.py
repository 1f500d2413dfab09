"""Causal claims: the words of cause in a sentence, what stands on either side, and whether a text links the two sides.

Which side is the cause is not told apart: evidence for the link has to speak of both, whatever the order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dreambench.language.polarity import find_cues, is_hedged, negations
from dreambench.language.statements import analyse, share
from dreambench.language.text import has_cjk
from dreambench.language.tokens import sentences

LEAST_WORDS = 2
"""Content words that a side must have to be looked for."""
LEAST_CHINESE = 3
COVERED = 0.34
"""Share of each side's content words that a stretch of a text must have to count as speaking of both."""
_WRITER = re.compile(r"\b(?:I|we|my|our)\b|我们?")
_SIDE = re.compile(r"[;。；：]|(?<=[a-z0-9)])[.:](?= )")


@dataclass(frozen=True, slots=True)
class CausalClaim:
    """A plain statement that one thing brings about another: the two sides as content words."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    cue: str


def find_causal_claim(text: str) -> CausalClaim | None:
    """The causal claim of a sentence; None for one that is hedged or denies something, for a question, for what the writer
    says of himself, and for one that says too little on one side."""
    if is_hedged(text) or negations(text) or text.rstrip().endswith(("?", "？")) or _WRITER.search(text):
        return None
    for cue in find_cues(text, "cause"):
        statement = analyse(text)
        left = max((m.end() for m in _SIDE.finditer(text, 0, cue.start)), default=0)
        right = next((m.start() for m in _SIDE.finditer(text, cue.end)), len(text))
        before = tuple(sorted(statement.words_in([(left, cue.start)])))
        after = tuple(sorted(statement.words_in([(cue.end, right)])))
        least = LEAST_CHINESE if has_cjk(text) else LEAST_WORDS
        if len(before) >= least and len(after) >= least:
            return CausalClaim(before, after, cue.text)
    return None


def links(claim: CausalClaim, text: str) -> bool:
    """Whether two sentences of `text` that follow each other speak of both sides of `claim`."""
    return nearest(claim, text)[0] >= COVERED


def nearest(claim: CausalClaim, text: str) -> tuple[float, str]:
    """How far the two neighbouring sentences that fit best cover the side that they cover worse, in [0, 1], and the first."""
    cut = sentences(text)
    vocabularies = [analyse(sentence.text).all_words for sentence in cut]
    best, where = 0.0, ""
    for at, sentence in enumerate(cut):
        pair: Sequence[frozenset[str]] = vocabularies[at : at + 2]
        words = frozenset[str]().union(*pair)
        covered = min(share(claim.before, words), share(claim.after, words))
        if covered > best:
            best, where = covered, sentence.text
    return best, where
