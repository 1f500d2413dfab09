"""Synonyms: other words for the same thing.

Eligible units are the sentences with at least one word of the list outside quotations, names and citations; one or two words
of a chosen sentence are replaced. Amounts, dates, names and words of direction or degree are not in the list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache, partial
from random import Random
from typing import Any, ClassVar

from dreambench.language.text import alternation
from dreambench.perturbations.edits import Change, Role
from dreambench.perturbations.facts.target import same_case
from dreambench.perturbations.perturbation import Perturbation, Source, Unit
from dreambench.perturbations.prose import Line
from dreambench.perturbations.wording import in_quotes, phrases


class Synonyms(Perturbation):
    """Replaces words by synonyms in each chosen sentence."""

    id: ClassVar[str] = "synonyms"
    kind: ClassVar[Role] = "placebo"
    check: ClassVar[Mapping[str, Any]] = {"keep": "facts", "shortest": 0.7, "longest": 1.4}

    def units(self, source: Source) -> list[Unit]:
        found = []
        for line in source.view.prose:
            places = tuple(place for place in _places(line.text) if _fits(line, place[0], place[1]))
            if places:
                found.append(Unit(line.start, line.end, partial(_exchange, line, places)))
        return found


Place = tuple[int, int, tuple[str, ...]]


@cache
def _pattern() -> tuple[Mapping[str, tuple[str, ...]], re.Pattern[str]]:
    pairs: dict[str, tuple[str, ...]] = {}
    for line in [*phrases("synonyms")["en"], *phrases("synonyms")["zh"]]:
        left, right = (word.strip() for word in re.split("[=>]", line))
        pairs[left] = (*pairs.get(left, ()), right)
        if "=" in line:
            pairs[right] = (*pairs.get(right, ()), left)
    guard = "|".join(map(re.escape, phrases("synonyms")["zh_guard"]))
    latin = alternation([word for word in pairs if word.isascii()])
    han = alternation([word for word in pairs if not word.isascii()])
    return pairs, re.compile(
        rf"(?<![A-Za-z-])(?:{latin})(?![A-Za-z-])|(?<![不非可])(?!{guard})(?:{han})(?![性率度化者])", re.IGNORECASE
    )


@lru_cache(maxsize=32768)
def _places(text: str) -> tuple[Place, ...]:
    pairs, pattern = _pattern()
    found = []
    for match in pattern.finditer(text):
        word, before, after = match[0], text[: match.start()], text[match.end() :]
        others = pairs.get(word.lower(), ())
        if word[0].isupper() and word.isascii() and before.strip(' *_"“-•'):
            continue  # inside a name or title
        if re.search(r"\b(?:a|an)\s+$", before, re.IGNORECASE):
            others = tuple(other for other in others if (other[0] in "aeiou") == (word[0].lower() in "aeiou"))
        if others and not _odd(word.lower(), before, after):
            found.append((match.start(), match.end(), others))
    return tuple(found)


def _odd(word: str, before: str, after: str) -> bool:
    """Uses in which a word of the list means something else or needs another construction."""
    if word in ("however", "nevertheless"):
        return re.match(r" \w", after) is not None
    if word in ("use", "utilize", "leverage", "exploit") and not _VERB_BEFORE.search(before):
        return True
    if word in (
        "key",
        "central",
        "basic",
        "fundamental",
        "ideal",
        "use",
        "show",
        "help",
        "stress",
        "ease",
        "gain",
        "buy",
        "demands",
        "used",
    ):
        return re.match(r" [a-z]", after) is None or re.search(r"\b(?:the|of|and|or|more|most)\s$", before) is not None
    if word in (
        "while",
        "usually",
        "frequently",
        "allow",
        "allows",
        "allowing",
        "help",
        "helps",
        "helping",
        "uses",
        "covers",
        "shows",
    ):
        return (
            word in ("while", "uses", "covers", "shows", "help")
            or after[:1] != " "
            or after.startswith((" for", " the", " a "))
        )
    if word in ("enable", "enables", "enabling"):
        return re.match(r" [\w’' -]{2,60} to \w", after) is None
    if word in (
        "remains",
        "stays",
        "requires",
        "showed",
        "separate",
        "thus",
        "solid",
        "elaborate",
        "varied",
        "advantages",
        "developing",
    ):
        return True
    if word in ("significant", "significantly"):
        return re.search(r"(?:statistically|clinically|not|more|most|less) $", before) is not None
    if re.search(r"(?:more|most|less|as|so|very|too) $", before):
        return True
    return word.endswith(("ing", "ed")) and before[-1:] == "-"


_VERB_BEFORE = re.compile(r"\b(?:to|can|could|may|might|will|would|should|must|they|we|you|that|which|who|often|also|not) $")


def _fits(line: Line, start: int, end: int) -> bool:
    return start >= line.core.start and line.is_free(start, end) and not in_quotes(line.text, start)


def _exchange(line: Line, places: Sequence[Place], rng: Random) -> list[Change]:
    chosen = sorted(rng.sample(list(places), min(len(places), rng.choice((1, 1, 2)))))
    return [
        Change(line.start + start, line.start + end, same_case(line.text[start:end], rng.choice(others)), "synonyms")
        for start, end, others in chosen
    ]
