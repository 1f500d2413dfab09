"""Which sentences state something that can be checked, and what a number in a sentence counts.

The score of a sentence is a sum of named parts, so that it can be shown: numbers and dates, names, words of causation and
comparison, length. Questions, headings, opinions, forecasts of the writer and talk about the document itself are excluded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from dreambench.language.amounts import Quantity
from dreambench.language.dates import DateMention, find_dates
from dreambench.language.entities import find_entities
from dreambench.language.polarity import find_cues
from dreambench.language.quantities import find_quantities
from dreambench.language.text import blank_out, fold_width
from dreambench.language.tokens import Sentence, content_words, is_content, sentences, tokens


@dataclass(frozen=True, slots=True)
class CheckWorthy:
    """A sentence that can be checked; `score` in [0, 1] is the sum of its `parts`."""

    start: int
    end: int
    text: str
    score: float
    parts: tuple[tuple[str, float], ...]


_ABOUT_ITSELF = re.compile(
    r"\b(?:this|the present|our) (?:report|section|document|paper|article|chapter|overview|summary|analysis|table|answer)\b"
    r"|\b(?:in this|the following|the next|the previous) (?:section|table|chapter|paragraph|figure)\b|\b(?:see|as"
    r" shown in|as discussed|as noted) (?:above|below|"
    r"section|table|figure)\b|\bwe (?:will|now|first|discuss|examine|review|present|summari[sz]e)\b|\bin (?:summary"
    r"|conclusion)\b|\bas an ai\b|\blet (?:me|us)\b|\bi (?:will|have|'ll|need|now)\b|\bi'll\b"
    r"|本报告|本文|本节|本章|上文|下文|下表|如下|综上所述|总之",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"\b(?:i|we) (?:think|believe|feel|hope|recommend|suggest|argue)\b|\bin (?:my|our) (?:opinion|view)\b|\b(?:should"
    r"|ought to)\b|\bbeautiful|\bwonderful"
    r"|\binterestingly\b|\bunfortunately\b|\bhopefully\b|\bit is (?:important|worth|essential|crucial) to\b|我认为|我们认为"
    r"|我们建议|应当|应该|值得注意的是|令人",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^\s*(?:#{1,6}\s|\*\*[^*]{1,120}\*\*:?\s*$|[-=|: ]+$|>?\s*\|)")
_BULLET = re.compile(r"^\s*(?:[-*+•]|[0-9]{1,3}[.)、])\s+")
_END = re.compile(r"[.!;:。！；…][\"')\]”’）]*(?:\s*\[[^\]]{1,40}\](?:\([^)\s]*\))?)*\s*[.]?\s*$|\]\([^)\s]*\)[.]?\s*$")
_REFERENCE = re.compile(
    r"^\s*(?:\[[0-9]{1,3}\][:.]?\s|\[\^?[0-9]{1,3}\]:|(?:\d{1,3}[.)]\s+)?(?:https?://"
    r"|\[[^\]]{1,200}\]\(http)[^\s]*\s*$|(?:sources?|references|参考文献|来源)[:：])",
    re.IGNORECASE,
)
_DEFINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|became|remains|consists|founded|published|located|known as)\b"
    r"|是|为|位于|成立|拥有|达到",
    re.IGNORECASE,
)
_MIN_CONTENT = 3
_MIN_SCORE = 0.3
_BEHIND = 60


def check_worthy_sentences(text: str | Sequence[Sentence], minimum: float = _MIN_SCORE) -> list[CheckWorthy]:
    """Sentences of a text (or given ones) that state a checkable fact, in order, with scores of at least `minimum`."""
    found: list[CheckWorthy] = []
    for sentence in sentences(text) if isinstance(text, str) else text:
        if why_excluded(sentence.text):
            continue
        parts = score_parts(sentence.text)
        score = min(1.0, sum(value for _, value in parts))
        if score >= minimum:
            found.append(CheckWorthy(sentence.start, sentence.end, sentence.text, round(score, 4), parts))
    return found


def why_excluded(sentence: str) -> str | None:
    """Why a sentence is no claim: `heading`, `reference`, `question`, `self_reference`, `opinion`, `fragment`; else None."""
    body = _BULLET.sub("", sentence)
    if _HEADING.match(sentence):
        return "heading"
    if _REFERENCE.match(sentence):
        return "reference"
    if re.search(r"[?？][\"')”’]*\s*$", body):
        return "question"
    if _ABOUT_ITSELF.search(body):
        return "self_reference"
    if _OPINION.search(body):
        return "opinion"
    words = content_words(body)
    if len(words) < _MIN_CONTENT or (len(words) < 6 and not _END.search(body) and not find_quantities(body)):
        return "fragment"
    return None


def score_parts(sentence: str) -> tuple[tuple[str, float], ...]:
    """The named parts of a sentence's score."""
    amounts = [quantity for quantity in find_quantities(sentence) if quantity.kind != "ordinal"]
    parts = {
        "quantities": 0.3 * min(len(amounts), 1) + 0.05 * min(max(len(amounts) - 1, 0), 2),
        "dates": 0.2 * bool(find_dates(sentence)),
        "entities": min(0.25, 0.15 * len(find_entities(sentence))),
        "relation": 0.1 * bool(find_cues(sentence, "cause") or find_cues(sentence, "direction")),
        "definite": 0.15 * (_DEFINITE.search(sentence) is not None),
        "evidence": 0.05 * bool(find_cues(sentence, "evidence")),
        "hedged": -0.05 * bool(find_cues(sentence, "hedge")),
    }
    return tuple((name, value) for name, value in parts.items() if value)


_REACH = 200
_CLAUSE = re.compile(
    r"[,:](?![0-9])|[;()。，；：（）]|(?<=[a-z0-9%)])\.(?= )|\b(?:and|but|while|whereas|although|which|before(?= [a-z]+ing)"
    r"|after(?= [a-z]+ing)|compared with|compared to|against|up from|down from)\b",
    re.IGNORECASE,
)


def clause_at(text: str, start: int, end: int) -> tuple[int, int]:
    """The clause of `text` around `start:end`: to the nearest comma-like mark or conjunction, at most 200 characters."""
    begin = max(0, start - _REACH)
    left = begin
    for match in _CLAUSE.finditer(text, begin, min(len(text), end + _REACH)):
        if match.end() <= start:
            left = match.end()
        elif match.start() >= end:
            return left, match.start()
    return left, min(len(text), end + _REACH)


def clauses(text: str) -> list[tuple[int, int]]:
    """All clauses of `text`, in order, blank ones left out."""
    cuts = [0, *(match.end() for match in _CLAUSE.finditer(text)), len(text)]
    return [(a, b) for a, b in pairwise(cuts) if text[a:b].strip()]


def quantity_topic(sentence: str, quantity: Quantity) -> list[str]:
    """The content words that say what `quantity` counts: those of its clause, nearest first, without numbers and dates.

    Words right after the number come before words in front of it, because English and Chinese both count what follows.
    """
    return topic_in(without_amounts(sentence, find_quantities(sentence), find_dates(sentence)), quantity)


def without_amounts(sentence: str, quantities: Sequence[Quantity], dates: Sequence[DateMention]) -> str:
    """The folded sentence with amounts and dates blanked out, for `topic_in`."""
    return blank_out(fold_width(sentence), [*((q.start, q.end) for q in quantities), *((d.start, d.end) for d in dates)], " ")


def topic_in(blanked: str, quantity: Quantity) -> list[str]:
    """`quantity_topic` on a sentence that is already without amounts."""
    start, end = clause_at(blanked, quantity.start, quantity.end)
    found = [token for token in tokens(blanked[start:end]) if is_content(token)]
    after = [token.norm for token in found if token.start + start >= quantity.end]
    before = [token.norm for token in reversed(found) if token.end + start <= quantity.start]
    return list(dict.fromkeys(after[:4] + before[:8] + after[4:]))


def counted_noun(sentence: str, quantity: Quantity, limit: int = 3) -> list[str]:
    """The content words directly behind a number, at most `limit`, up to the end of its clause."""
    folded = fold_width(sentence)
    _, end = clause_at(folded, quantity.start, quantity.end)
    behind = tokens(folded[quantity.end : min(end, quantity.end + _BEHIND)])
    behind = [token for token in behind if not token.norm[0].isdigit()]
    return [token.norm for token in behind if is_content(token) or (len(token.norm) == 1 and token.norm > "\u33ff")][:limit]
