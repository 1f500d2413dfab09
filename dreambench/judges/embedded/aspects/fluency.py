"""Sentence fluency, by lengths and seams: how sentence lengths vary, how sentences take up the one before, how hard they are
to read. Norms are those of edited expository prose; Chinese is measured by characters (a character is .6 of a word).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean

from dreambench.judges.embedded.lexicon import refers_back, relations
from dreambench.judges.embedded.measures import Feature, Finding, between, falling, rising, share, variation
from dreambench.judges.embedded.view import ReportView, Sentence
from dreambench.language.tokens import tokens

__all__ = ["readability_and_flow", "rhythm_and_variety", "transition_smoothness"]

_LATIN = re.compile(r"[A-Za-z]+(?:['’-][A-Za-z]+)*")
_CLAUSE = re.compile(r"[,;:，；：、。！？.!?（）()]+")
_ENDED = re.compile(r"[.!?:;。！？：；…][\"')”’）]*$")
_NO_TEXT = Finding((Feature("sentences", 0.0, 0.0),), "there are no sentences")


def rhythm_and_variety(view: ReportView, question: str) -> Finding:
    """Sentence lengths (mean and variation), change from one to the next, different beginnings, varied words, few fragments.

    Curves: mean best from 14 to 21 words, variation best from .45 to .65, change between neighbours (.5 at .35 of the mean),
    beginnings and words as they are, fragments (fewer than 5 words or no end mark) (.5 at .25).
    """
    if not view.prose:
        return _NO_TEXT
    lengths = [sentence.length for sentence in view.prose]
    mean, varied = fmean(lengths), variation(lengths)
    change = fmean([abs(a - b) for a, b in pairwise(lengths)] or [0.0]) / mean
    starts = Counter(_beginning(sentence.text) for sentence in view.prose)
    distinct = sum(1 for sentence in view.prose if starts[_beginning(sentence.text)] == 1) / len(view.prose)
    words = _moving_variety([word for sentence in view.prose for word in sentence.words])
    broken = share(sentence.length < 5 or not _ENDED.search(sentence.text) for sentence in view.prose)
    return Finding(
        (
            Feature("mean sentence length", mean, between(mean, 14, 21, 8), 0.2),
            Feature("variation of sentence length", varied, between(varied, 0.45, 0.65, 0.2), 0.25),
            Feature("change between neighbours", change, rising(change, 0.35), 0.1),
            Feature("beginnings used once", distinct, distinct, 0.15),
            Feature("different words in 50", words, words, 0.1),
            Feature("fragments", broken, falling(broken, 0.25), 0.2),
        )
    )


def transition_smoothness(view: ReportView, question: str) -> Finding:
    """Connecting words per sentence and their variety; sentences that share a word with the one before; jumps.

    Neighbours are sentences of one section. Curves: connecting words (.5 at .35 a sentence), variety (share of the most
    common one, .5 at .35), neighbours that share a content word as they are, jumps (.5 at .4).
    """
    if len(view.prose) < 2:
        return Finding(
            (Feature("sentences", float(len(view.prose)), 0.2 * len(view.prose)),), "there are no neighbours to link"
        )
    found = [[word for _, word in relations(sentence.text)] for sentence in view.prose]
    counts = Counter(word for words in found for word in words)
    dense = sum(counts.values()) / len(view.prose)
    common = max(counts.values()) / sum(counts.values()) if counts else 1.0
    pairs = [
        (a, b, words)
        for (a, b), words in zip(pairwise(view.prose), found[1:], strict=True)
        if a.section == b.section  # a new heading is a seam of its own
    ]
    shared = share(not set(a.words).isdisjoint(b.words) for a, b, _ in pairs)
    jumps = share(set(a.words).isdisjoint(b.words) and not words and not refers_back(b.text) for a, b, words in pairs)
    back = share(refers_back(b.text) or bool(_leading(b.text, words)) for _, b, words in pairs)
    return Finding(
        (
            Feature("connecting words per sentence", dense, rising(dense, 0.35), 0.25),
            Feature("share of the most common one", common, falling(common, 0.35), 0.1),
            Feature("neighbours that share a word", shared, shared, 0.25),
            Feature("sentences that begin with a link", back, rising(back, 0.12), 0.2),
            Feature("jumps", jumps if pairs else 1.0, falling(jumps, 0.4) if pairs else 0.0, 0.2),
        )
    )


def readability_and_flow(view: ReportView, question: str) -> Finding:
    """Sentence, clause, word and paragraph length; very long sentences; piled-up citations and stray markup.

    Curves: sentences best from 10 to 20 words, clauses from 5 to 11, English words from 4 to 5.6 letters, paragraphs from
    30 to 110 words, sentences over 40 words (.5 at .06), citations (.5 at 1.5) and stray marks (.5 at .15) per sentence.
    """
    if not view.prose:
        return _NO_TEXT
    lengths = [sentence.length for sentence in view.prose]
    clauses = [view.length(piece) for s in view.prose for piece in _CLAUSE.split(s.text) if piece.strip()]
    clause = fmean(clauses or [0.0])
    long = share(length > 40 for length in lengths)
    paragraph = fmean(sum(s.length for s in group) for group in view.paragraphs)
    fitting = fmean(between(sum(s.length for s in group), 30, 110, 25) for group in view.paragraphs)
    cited = len(view.document.markers) / len(view.prose)
    stray = sum(_stray(sentence.text) for sentence in view.prose) / len(view.prose)
    return Finding(
        (
            Feature("mean sentence length", fmean(lengths), fmean(between(length, 10, 20, 10) for length in lengths), 0.25),
            Feature("sentences over 40 words", long, falling(long, 0.06), 0.15),
            Feature("mean clause length", clause, between(clause, 5, 11, 4), 0.15),
            *(() if view.chinese else _word_features(view.prose)),
            Feature("mean paragraph length", paragraph, fitting, 0.1),
            Feature("citations per sentence", cited, falling(cited, 1.5), 0.1),
            Feature("stray marks per sentence", stray, falling(stray, 0.15), 0.1),
        )
    )


def _beginning(text: str) -> str:
    """The first two words (Chinese: three characters) of a sentence, as they compare."""
    return " ".join(token.norm for token in tokens(text[:60])[:2])


def _moving_variety(words: Sequence[str], window: int = 50) -> float:
    """Mean share of different words in a moving window (moving-average type-token ratio, Covington and McFall 2010)."""
    if len(words) <= window:
        return len(set(words)) / len(words) if words else 0.0
    counts = Counter(words[:window])
    total = len(counts)
    for index in range(window, len(words)):
        old = words[index - window]
        counts[old] -= 1
        if not counts[old]:
            del counts[old]
        counts[words[index]] += 1
        total += len(counts)
    return total / (len(words) - window + 1) / window


def _leading(text: str, words: Sequence[str]) -> str:
    """The connecting word that begins a sentence, empty when none does."""
    start = text[:40].lower()
    return next((word for word in words if start.startswith(word)), "")


def _word_features(sentences: Sequence[Sentence]) -> tuple[Feature, ...]:
    """Letters per English word and share of words over 12 letters; nothing where there is no word."""
    sizes = [len(word) for sentence in sentences for word in _LATIN.findall(sentence.text)]
    if not sizes:
        return ()
    mean, long = fmean(sizes), share(size > 12 for size in sizes)
    return (
        Feature("letters per word", mean, between(mean, 4.0, 5.6, 1.2), 0.1),
        Feature("words over 12 letters", long, falling(long, 0.12), 0.05),
    )


def _stray(text: str) -> int:
    """Brackets, stars and bars that clean prose would not have left over."""
    opened = (
        abs(text.count("(") - text.count(")"))
        + abs(text.count("[") - text.count("]"))
        + abs(text.count("（") - text.count("）"))
    )
    return opened + text.count("**") + text.count("|") + text.count("##")
