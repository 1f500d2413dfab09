"""Words of a text, sentences with offsets, and lexical ranking.

English words are lower-cased and stemmed lightly; Chinese runs become overlapping character bigrams, which need no
dictionary. Sentences come from sentencex, cut again at line ends, so that headings, list items and table rows stay apart.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from sentencex import get_sentence_boundaries

from dreambench.language.stemming import stem
from dreambench.language.text import CJK, Language, fold_width, guess_language, normalise, word_set
from dreambench.remembered import remembered

__all__ = ["Sentence", "Token", "bm25", "content_words", "normalise", "overlap", "sentences", "stem", "tokens", "words"]


class Token(NamedTuple):
    """A word, a number or a Chinese bigram at `start:end`; `norm` is its form for comparison."""

    start: int
    end: int
    text: str
    norm: str


class Sentence(NamedTuple):
    """A sentence at `start:end`, without white space at its ends."""

    start: int
    end: int
    text: str


STOP_WORDS = word_set(
    "a an the and or but nor so yet if then than that this these those there here it its he she they them their"
    " his her him we us our you your i me my of in on at by for with from to into onto over under about as is are"
    " was were be been being am do does did done have has had having will would shall should can could may might"
    " must not no which who whom whose what when where why how all any both each few more most other some such"
    " only own same too very just also while during before after above below between through because until against"
    " up down out off again further once however thus therefore although though whereas since per via among within"
    " without upon according reportedly one ones said say says take takes took taken taking make makes made get"
    " gets got nearly almost around approximately roughly least many much even still already now later ever never"
)
_STOP_CHARS = frozenset("的了在是和与及或也就都而并被把将从对于以其之这那个为有所等中上下到由向但又则更很最年月日")
# A bigram with one of these spans two words.
_JOINTS = frozenset("的了在是和与或及也就都")
_TOKEN = re.compile(rf"[A-Za-z]+-?[0-9]+[A-Za-z0-9]*|[A-Za-zÀ-ÖØ-öø-ÿ]+(?:'[A-Za-z]+)?|[0-9]+(?:[.,][0-9]+)*|[{CJK}]+")
_POSSESSIVE = re.compile(r"'s?$")


def tokens(text: str) -> list[Token]:
    """All tokens of `text` in order; a Chinese run of n characters gives n - 1 bigrams (one token when n is 1)."""
    found: list[Token] = []
    folded = fold_width(text)
    for match in _TOKEN.finditer(folded):
        start, end = match.span()
        first = folded[start]
        if first > "\u33ff":
            found.extend(_bigrams(text, start, end))
        else:
            norm = match[0].replace(",", "") if first.isdigit() else stem(_POSSESSIVE.sub("", match[0].lower()))
            found.append(Token(start, end, text[start:end], norm))
    return found


def _bigrams(text: str, start: int, end: int) -> Iterable[Token]:
    if end - start == 1:
        return [Token(start, end, text[start:end], text[start:end])]
    return [Token(at, at + 2, text[at : at + 2], text[at : at + 2]) for at in range(start, end - 1)]


def words(text: str) -> list[str]:
    """The normal forms of all tokens."""
    return [token.norm for token in tokens(text)]


def is_content(token: Token) -> bool:
    """Whether a token carries meaning of its own: no stop word, no bigram across or made of function characters."""
    if token.norm[0] > "\u33ff":
        return _JOINTS.isdisjoint(token.norm) and not _STOP_CHARS.issuperset(token.norm)
    return token.text.lower() not in STOP_WORDS and (len(token.norm) > 1 or token.norm.isdigit())


def content_words(text: str) -> list[str]:
    """The normal forms of the tokens that carry meaning, repeats kept, in order."""
    return [token.norm for token in tokens(text) if is_content(token)]


_LINE = re.compile(r"[^\r\n]+")
# sentencex leaves "3.5 %. Fine." in one piece; a closing mark, a blank and a capital end a sentence unless an initial precedes.
_MISSED = re.compile(r"(?<=[a-z0-9%\])\"'][.!?]) +(?=[\"'(\[]?[A-Z][a-z'A-Z ])")
_ABBREVIATION = re.compile(
    r"\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|vs|etc|al|e\.g|i\.e|cf|approx|no|No|Fig|fig|Inc|Ltd|Co|Corp|Jan|Feb|Mar|Apr|Jun"
    r"|Jul|Aug|Sept?|Oct|Nov|Dec|Gen|Sen|Rep|Gov)\.$"
)
_TRAILING_CITATIONS = re.compile(r"(?: ?\[[^\]\n]{1,40}\](?:\([^)\s]{1,2000}\))?)+[.]?[ \t]*")
# "## 2.1." and "3." stay with the words that they number.
_NUMBERING = re.compile(r"[ \t>#*_-]{0,12}\(?[0-9]{1,3}(?:\.[0-9]{1,3}){0,4}[.)、]{0,2}[ \t*_]{0,4}")
_MAX_PIECE = 4000
PASSAGE = 2000
"""Characters up to which a text is remembered: a passage is compared with many claims, a report is cut once."""


def sentences(text: str, language: Language | None = None) -> list[Sentence]:
    """The sentences of `text` with their offsets; every line is cut by itself, blanks and empty lines belong to none."""
    return list(_remembered(text, language))


def _cut(text: str, language: Language | None) -> tuple[Sentence, ...]:
    language = language or guess_language(text)
    found: list[Sentence] = []
    for line in _LINE.finditer(text):
        for start in range(line.start(), line.end(), _MAX_PIECE):
            found.extend(_line_sentences(text, start, min(start + _MAX_PIECE, line.end()), language))
    return tuple(found)


_remembered = remembered(_cut, border=PASSAGE, short=1024)


def _line_sentences(text: str, start: int, end: int, language: Language) -> list[Sentence]:
    line = text[start:end]
    if not line.strip():
        return []
    cuts = {0, len(line)}
    cuts.update(int(boundary["start_index"]) for boundary in get_sentence_boundaries(language, line))
    for match in _MISSED.finditer(line):
        if not _ABBREVIATION.search(line[max(0, match.start() - 12) : match.start()]):
            cuts.add(match.end())
    ordered = sorted(cut for cut in cuts if cut <= len(line) and not (cut < len(line) and _NUMBERING.fullmatch(line[:cut])))
    found: list[Sentence] = []
    for first, last in pairwise(ordered):
        piece = line[first:last]
        if not piece.strip():
            continue
        left = first + len(piece) - len(piece.lstrip())
        right = first + len(piece.rstrip())
        # "... grew. [12]" keeps its citation.
        if found and _TRAILING_CITATIONS.fullmatch(piece):
            found[-1] = Sentence(found[-1].start, start + right, text[found[-1].start : start + right])
            continue
        found.append(Sentence(start + left, start + right, text[start + left : start + right]))
    return found


def bm25(
    query: str | Sequence[str], passages: Sequence[str] | Sequence[Sequence[str]], k1: float = 1.5, b: float = 0.75
) -> list[float]:
    """Okapi BM25 of every passage for the query's content words, idf from `passages`; 0.0 when nothing is shared.

    Query and passages may be given as content words already, which saves finding them again for every query.

    The idf is ln(1 + (N - n + 0.5) / (n + 0.5)) and so never negative (Robertson and Zaragoza 2009, with Lucene's 1 +).
    """
    wanted = set(content_words(query) if isinstance(query, str) else query)
    counts = [Counter(content_words(passage) if isinstance(passage, str) else passage) for passage in passages]
    lengths = [sum(count.values()) for count in counts]
    mean = sum(lengths) / len(lengths) if any(lengths) else 1.0
    total = len(passages)
    document_frequency = {word: sum(word in count for count in counts) for word in wanted}
    idf = {word: math.log(1 + (total - n + 0.5) / (n + 0.5)) for word, n in document_frequency.items() if n}
    scores: list[float] = []
    for count, length in zip(counts, lengths, strict=True):
        norm = k1 * (1 - b + b * length / mean)
        scores.append(
            math.fsum(weight * count[word] * (k1 + 1) / (count[word] + norm) for word, weight in idf.items() if word in count)
        )
    return scores


def overlap(a: str, b: str) -> float:
    """Share of the content words of `a` that occur in `b`, in [0, 1]; 0.0 when `a` has none."""
    wanted = set(content_words(a))
    return len(wanted & set(content_words(b))) / len(wanted) if wanted else 0.0
