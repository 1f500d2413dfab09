"""Stage 1 of Factuality and Citation Integrity: the claims of a report, each placed in it by code.

The judge gives a claim with the words that make it; code finds those words and takes the sentence or sentences around them
as the claim's place. Words that do not stand in the report make no claim of it: the item is kept, marked and not scored.
Two claims are one when they have the same words in the same order, apart from case, punctuation, inflection and articles.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from dreambench.documents import Document, Span
from dreambench.engine.compute import compute
from dreambench.evaluators.parts import Part
from dreambench.judges.judge import Judge
from dreambench.judges.kinds import Answer
from dreambench.judges.kinds.extract_claims import Answer as ClaimsAnswer
from dreambench.judges.quotes import check_quote
from dreambench.judges.rubric import Rubric
from dreambench.language.claims import check_worthy_sentences
from dreambench.language.tokens import Sentence, words
from dreambench.metrics.asking import Failed, ask, failed_row
from dreambench.metrics.metric import Subject
from dreambench.records import Judgment, Status, item_id

QUOTE_NOT_FOUND = "quote_not_found"
TOO_LONG = ("length", "context_length")
"""Reason codes of an answer that was cut off, and of a prompt that the model cannot hold."""
_ARTICLES = frozenset({"a", "an", "the"})
_LINK = re.compile(r"!?\[([^\]\n]*)\]\((?:[^()\s]|\([^()\s]*\))*\)")
_MARKUP = re.compile(r"[*_`]{1,3}|<[^<>\n]{1,80}>|^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_BEFORE_MARK = re.compile(r"\s+(?=[.,;:!?。，；：！？])")


@dataclass(frozen=True, slots=True)
class Claim:
    """One assertion. `sentences` are indices into the document's sentences, `places` the spans it was found at."""

    text: str
    places: tuple[Span, ...]
    sentences: tuple[int, ...]

    @property
    def key(self) -> tuple[str, ...]:
        """Equal for claims that are one."""
        return tuple(word for word in words(self.text) if word not in _ARTICLES)

    @property
    def place(self) -> Span:
        """Where the report makes the claim first."""
        return self.places[0]

    def item(self, task_id: str, what: str = "") -> str:
        """The item id of the claim, or of `what` about it."""
        return item_id(task_id, f"{what} {self.text}".strip(), self.place.start, self.place.end)


@dataclass(frozen=True, slots=True)
class Extracted:
    """The claims of one part, and what became of the others that the judge gave."""

    claims: tuple[Claim, ...] = ()
    given: int = 0
    repeated: int = 0
    beyond: int = 0
    in_context: int = 0
    unplaced: tuple[str, ...] = ()
    cost: float | None = 0.0


async def extract_claims(
    judge: Judge, rubric: Rubric, subject: Subject, part: Part, limit: int | None, repeat: int
) -> Extracted | Failed:
    """Asks for the claims of one part, at most `limit`, and places them. A limit of 0 asks nobody."""
    if limit == 0:
        return Extracted()
    as_of = subject.task.as_of.isoformat() if subject.task.as_of else None
    text = part.text(subject.document.text)
    asked = {"question": subject.task.query, "as_of": as_of, "report": text, "limit": limit}
    answer = await ask(judge, rubric, repeat=repeat, role="extraction", **asked)
    if isinstance(answer, Failed):
        return answer
    return await compute(_placed, answer, subject.document, part, limit)


def sentence_claims(document: Document, limit: int | None) -> Extracted:
    """The first `limit` sentences that state something checkable, by code and without a judge; each is one claim."""
    cut = [
        Sentence(sentence.span.start, sentence.span.end, _plain(document, index))
        for index, sentence in enumerate(document.sentences)
        if document.in_body(sentence.span)
    ]
    indices = {sentence.span.start: index for index, sentence in enumerate(document.sentences)}
    found = [
        Claim(worthy.text, (Span(worthy.start, worthy.end),), (indices[worthy.start],))
        for worthy in check_worthy_sentences(cut)
    ]
    claims = merge_claims(found)
    kept = claims[:limit]
    return Extracted(tuple(kept), given=len(found), repeated=len(found) - len(claims), beyond=len(claims) - len(kept))


def merge_claims(claims: Iterable[Claim]) -> list[Claim]:
    """Each claim once, in order of first mention, with all its places."""
    merged: dict[tuple[str, ...], Claim] = {}
    for claim in claims:
        first = merged.get(claim.key)
        merged[claim.key] = joined(first, claim) if first else claim
    return list(merged.values())


def joined(first: Claim, other: Claim) -> Claim:
    """The first claim with the places of both."""
    places = dict.fromkeys((*first.places, *other.places))
    return replace(first, places=tuple(places), sentences=tuple(sorted({*first.sentences, *other.sentences})))


def extraction_row(task_id: str, found: Sequence[Extracted], claims: int, cost: float | None, few: int = 0) -> Judgment:
    """One row (family `extraction`) on how the claims came about: its value is their number, fewer than `few` are flagged."""
    counts = {
        "repeated": sum(part.repeated for part in found) + sum(len(part.claims) for part in found) - claims,
        "beyond the limit": sum(part.beyond for part in found),
        "of the overlap with the part before": sum(part.in_context for part in found),
        "whose words do not stand in the report": sum(len(part.unplaced) for part in found),
    }
    said = [f"{claims} of {sum(part.given for part in found)} claims given, in {len(found)} part{'s' * (len(found) != 1)}"]
    said += [f"left out: {count} {why}" for why, count in counts.items() if count]
    return Judgment(
        item_id(task_id, "extraction"),
        "extraction",
        "claims",
        float(claims),
        reason_code="few_claims" if claims < few else "",
        rationale="; ".join(said),
        cost=cost,
    )


def failed_extraction(task_id: str, failed: Failed, key: str, size: int) -> Judgment:
    """The one row of a report whose claims could not all be extracted; says which `key` to lower where a part was too long."""
    if failed.reason_code in TOO_LONG:
        failed = replace(failed, message=f"{failed.message}; ask for less at once: {key} is {size}")
    return failed_row(item_id(task_id, "extraction"), "report", "", failed)


def unplaced_rows(task_id: str, family: str, found: Iterable[Extracted]) -> list[Judgment]:
    """A row for every claim whose words do not stand in the report: marked, and outside every score."""
    return [
        Judgment(
            item_id(task_id, f"unplaced {text}"),
            family,
            "",
            None,
            Status.UNANSWERED,
            reason_code=QUOTE_NOT_FOUND,
            rationale=f"{text} (the words it was taken from do not stand in the report)",
        )
        for text in dict.fromkeys(text for part in found for text in part.unplaced)
    ]


def _placed(answer: Answer, document: Document, part: Part, limit: int | None) -> Extracted:
    assert isinstance(answer, ClaimsAnswer)
    placed: list[Claim] = []
    unplaced: list[str] = []
    in_context = 0
    for given in answer.claims:
        if span := next(_find(given.quote, document.text, part.own), None):
            placed.append(_claim(given.claim, span, document))
        elif next(_find(given.quote, document.text, (part.lead,)), None):
            in_context += 1
        else:
            unplaced.append(given.claim)
    merged = merge_claims(placed)
    kept = merged[:limit]
    return Extracted(
        tuple(kept),
        given=len(answer.claims),
        repeated=len(placed) - len(merged),
        beyond=len(merged) - len(kept),
        in_context=in_context,
        unplaced=tuple(unplaced),
        cost=answer.cost,
    )


def _find(quote: str, text: str, spans: Iterable[Span]) -> Iterator[Span]:
    for span in spans:
        if len(span) and (found := check_quote(quote, span.of(text))):
            yield Span(span.start + found.start, span.start + found.end)


def _claim(text: str, quoted: Span, document: Document) -> Claim:
    """The claim at the sentences that its words touch; at the words themselves where there is no sentence (a heading)."""
    first = bisect_right(document.sentences, quoted.start, key=lambda sentence: sentence.span.end)
    last = bisect_left(document.sentences, quoted.end, key=lambda sentence: sentence.span.start)
    if first >= last:
        return Claim(text, (quoted,), ())
    place = Span(document.sentences[first].span.start, document.sentences[last - 1].span.end)
    return Claim(text, (place,), tuple(range(first, last)))


def _plain(document: Document, sentence: int) -> str:
    """The sentence without citation markers, link targets and emphasis."""
    span = document.sentences[sentence].span
    pieces, position = [], span.start
    for marker in document.silent_within(span):
        pieces.append(document.text[position : marker.start])
        position = max(position, min(marker.end, span.end))
    pieces.append(document.text[position : span.end])
    plain = _MARKUP.sub("", _LINK.sub(r"\1", "".join(pieces)))
    return _BEFORE_MARK.sub("", " ".join(plain.split()))
