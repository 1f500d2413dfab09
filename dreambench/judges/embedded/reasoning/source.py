"""The pages that an agent opened, as its steps have them, and what they say about a sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from dreambench.documents import normalize_url
from dreambench.judges.embedded.memory import Memory
from dreambench.judges.kinds.agent_step import Step
from dreambench.language.entailment import Relation, relate
from dreambench.language.text import has_cjk
from dreambench.language.tokens import content_words

SURE = 0.6
"""Least sureness of a contradiction that is held against a report."""
HARD = ("quantity", "ordinal", "date")
"""Points on which code can defend a contradiction: a denial or a direction may be a matter of wording."""
SHARED = 3
"""Content words that a sentence and a page must share to be compared."""
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


def opened(sources: Sequence[Source]) -> Mapping[str, Source]:
    """The sources by their address as citations are compared."""
    return {normalize_url(source.url): source for source in sources}


def words_on(sentence: str, sources: Sequence[Source]) -> list[Word]:
    """What each source says about `sentence`; those that share too few words with it are left out."""
    wanted = set(content_words(sentence))
    near = [source for source in sources if len(wanted & _vocabulary(source.text)) >= SHARED]
    return [_word(source, _relation((sentence, source.text))) for source in near]


def _word(source: Source, relation: Relation) -> Word:
    quote = relation.quote[0].text if relation.quote else ""
    points = {part.partition(":")[0] for part in relation.why.split("; ")}
    if relation.label == "supports":
        return Word(source, "for", quote, relation.why)
    if relation.label == "contradicts" and relation.confidence >= SURE and points & {*HARD} and quote:
        return Word(source, "against", quote, relation.why)
    return Word(source, "silent", quote, relation.why)


def same_language(text: str, source: Source) -> bool:
    """Whether words of `text` can be looked for in `source`: the same script, and English where it is Latin."""
    if has_cjk(text) != has_cjk(source.text):
        return False
    found = re.findall(r"[a-z]+", source.text.lower())
    return has_cjk(text) or sum(word in ("the", "of", "and", "to", "is") for word in found) >= 0.05 * len(found)


def _related(key: tuple[str, str]) -> Relation:
    return relate(*key)


def _all_words(text: str) -> frozenset[str]:
    return frozenset(content_words(text))


_relation: Memory[tuple[str, str], Relation] = Memory(_related, size=4096)
_vocabulary: Memory[str, frozenset[str]] = Memory(_all_words, size=512)
