"""The pages that an agent opened, as its steps have them, and what they say about a sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from dreambench.documents import normalize_url
from dreambench.judges.embedded import classify_domain
from dreambench.judges.embedded.memory import Memory
from dreambench.judges.kinds.agent_step import Step
from dreambench.judges.kinds.classify_domain import Context as Publisher
from dreambench.language.amounts import Quantity
from dreambench.language.comparison import same_quantity
from dreambench.language.dates import DateMention, find_dates, overlapping
from dreambench.language.entailment import Relation, relate
from dreambench.language.quantities import find_quantities
from dreambench.language.text import has_cjk
from dreambench.language.tokens import content_words

SURE = 0.75
"""Least sureness of a contradiction that is held against a report."""
SHARED = 0.5
"""Share of a sentence's content words that a page must have to be compared with it."""
Stand = Literal["for", "against", "silent"]
_PUBLISHED = re.compile(r"^published (\d{4}-\d{2}-\d{2})$", re.MULTILINE)
_CUT = re.compile(r"\n\[cut here: [^\]]*\]$")


@dataclass(frozen=True, slots=True)
class Source:
    """A page as it was read: `head` is its title, address and date; `whole` says that nothing of it was cut off."""

    url: str
    site: str
    head: str
    text: str
    published: str
    whole: bool


@dataclass(frozen=True, slots=True)
class Word:
    """What one source says about a sentence, with the deciding words of the source."""

    source: Source
    stand: Stand
    quote: str
    why: str


def sources_of(steps: Iterable[Step]) -> list[Source]:
    """The pages that the steps opened, in order."""
    found: dict[str, Source] = {}
    for step in steps:
        if step.tool == "page_visit" and step.outcome == "ok" and "\n\n" in step.result:
            url = str(json.loads(step.arguments).get("url", ""))
            head, _, body = step.result.partition("\n\n")
            named = _PUBLISHED.search(head)
            text = _CUT.sub("", body)
            site = urlsplit(url).netloc.removeprefix("www.")
            found.setdefault(url, Source(url, site, head, text, named[1] if named else "", text == body))
    return list(found.values())


def about_page(url: str) -> str:
    """Where a site says who it is."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/about"


def authority_of(sources: Sequence[Source]) -> dict[str, int]:
    """How far a site checks what it prints (1-10), for sites whose page about itself is among `sources`."""
    own = [source for source in sources if source.url == about_page(source.url)]
    return {source.site: _authority((source.site, source.text)) for source in own}


def _judged(key: tuple[str, str]) -> int:
    return int(classify_domain.answer({}, Publisher(domain=key[0], about=key[1]))["score"])


def opened(sources: Sequence[Source]) -> Mapping[str, Source]:
    """The sources by their address as citations are compared."""
    return {normalize_url(source.url): source for source in sources}


def words_on(sentence: str, sources: Sequence[Source], report: str) -> list[Word]:
    """What each source says about `sentence` of `report`; those that share too few words with it are left out."""
    wanted = _figures(sentence).words
    near = [source for source in sources if len(wanted & _figures(source.text).words) >= SHARED * max(len(wanted), 1)]
    return [_word(sentence, source, _relation((sentence, source.text)), report) for source in near]


def _word(sentence: str, source: Source, relation: Relation, report: str) -> Word:
    quote = relation.quote[0].text if relation.quote else ""
    if relation.label == "supports":
        return Word(source, "for", quote, relation.why)
    against = relation.label == "contradicts" and relation.confidence >= SURE and bool(quote)
    if _figures(sentence).dates and (not _figures(quote).dates or _too_early(source, sentence)):
        against = False  # what holds for one date says nothing of another
    if against and _differs(_figures(sentence), _figures(quote), _figures(source.text), _figures(report)):
        return Word(source, "against", quote, relation.why)
    return Word(source, "silent", quote, relation.why)


def _too_early(source: Source, sentence: str) -> bool:
    """Whether a page came out before a date that the sentence speaks of: then it cannot know."""
    last = max((mention.first.isoformat() for mention in _figures(sentence).dates), default="")
    return bool(source.published) and source.published < last


@dataclass(frozen=True, slots=True)
class _Figures:
    """The content words, amounts and dates of a text."""

    words: frozenset[str]
    amounts: tuple[Quantity, ...]
    dates: tuple[DateMention, ...]


def _differs(claim: _Figures, quote: _Figures, page: _Figures, report: _Figures) -> bool:
    """Whether the claim has a figure that the page has nowhere, and the quote a rival of it that the report has nowhere.

    A page that has the claim's figure elsewhere may mean something else here, and a report that gives the page's figure
    elsewhere knows of it.
    """
    for wanted in claim.amounts:
        if not any(same_quantity(wanted, other) in ("equal", "compatible") for other in page.amounts):
            rivals = [other for other in quote.amounts if same_quantity(wanted, other) == "different"]
            if any(not any(same_quantity(rival, other) == "equal" for other in report.amounts) for rival in rivals):
                return True
    for date in claim.dates:
        if not overlapping([date], page.dates):
            rivalling = [other for other in quote.dates if other.precision == date.precision]
            if any(not overlapping([rival], report.dates) for rival in rivalling):
                return True
    return False


def same_language(text: str, source: Source) -> bool:
    """Whether words of `text` can be looked for in `source`: the same script, and English where it is Latin."""
    if has_cjk(text) != has_cjk(source.text):
        return False
    found = re.findall(r"[a-z]+", source.text.lower())
    return has_cjk(text) or sum(word in ("the", "of", "and", "to", "is") for word in found) >= 0.05 * len(found)


def _related(key: tuple[str, str]) -> Relation:
    return relate(*key)


def _read(text: str) -> _Figures:
    amounts = tuple(amount for amount in find_quantities(text) if amount.kind != "ordinal")
    return _Figures(frozenset(content_words(text)), amounts, tuple(find_dates(text)))


_relation: Memory[tuple[str, str], Relation] = Memory(_related, size=4096)
_authority: Memory[tuple[str, str], int] = Memory(_judged, size=256)
_figures: Memory[str, _Figures] = Memory(_read, size=2048)
