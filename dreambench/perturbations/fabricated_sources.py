"""Fabricated sources: entries of the reference list are replaced by sources that do not exist, on the report's own subject.

Eligible units are the entries with an address; in a report without a list, the distinct addresses of its links. Labels and
markers stay, so each claim keeps its citation and loses its source.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any, ClassVar

from dreambench.documents import Reference, Span
from dreambench.perturbations.addresses import invented, latin_words
from dreambench.perturbations.edits import Change, Role
from dreambench.perturbations.perturbation import Perturbation, Source, Unit
from dreambench.perturbations.wording import words_of


class FabricatedSources(Perturbation):
    """Puts an invented title and address in the place of each chosen source."""

    id: ClassVar[str] = "fabricated_sources"
    kind: ClassVar[Role] = "flaw"
    check: ClassVar[Mapping[str, Any]] = {
        "shortest": 0.1,
        "longest": 3.0,
        "pattern": r"[^\n]{8,250}\n\s*https?://[^\s<>()\[\]]+",
    }

    def units(self, source: Source) -> list[Unit]:
        view, document = source.view, source.document
        invent = Inventor(source)
        entries = [entry for entry in document.references if entry.urls]
        if entries:
            return [Unit(entry.span.start, entry.span.end, partial(_replace, source.text, entry, invent)) for entry in entries]
        return [Unit(spans[0].start, spans[0].end, partial(_relink, spans, invent)) for spans in view.addresses.values()]

    def answered(self, source: Source, unit: Unit, text: str) -> Sequence[Change]:
        """The author's title (first line) and address (second), where the embedded author would put its own."""
        title, _, url = text.strip().partition("\n")
        planned = unit.make(source.draws.stream("unit", unit.start, unit.end))
        return [replace(c, after=url.strip() if c.after.startswith("http") else title.strip()) for c in planned]


class Inventor:
    """Makes sources about the topics of one report."""

    def __init__(self, source: Source) -> None:
        view = source.view
        words = words_of(view)
        blocks = view.running_blocks or ((0,) if view.document.blocks else ())
        topics = [topic for block in blocks for topic in words.topics(block)[:1] if words.is_topic(topic)]
        self._topics = list(dict.fromkeys(topics)) or ["相关领域" if view.chinese else "current practice"]
        self._chinese = view.chinese
        self._words = latin_words(" ".join([view.document.title, *self._topics]))
        self._taken = frozenset(view.addresses)

    def source(self, rng: Random) -> tuple[str, str]:
        """(title, address)."""
        return invented(rng.choice(self._topics), self._words, self._chinese, self._taken, rng)


def _replace(text: str, entry: Reference, invent: Inventor, rng: Random) -> list[Change]:
    title, url = invent.source(rng)
    changes = []
    for number, old in enumerate(entry.urls):
        at = text.find(old, entry.span.start, entry.span.end)
        if at >= 0:
            new = url if number == 0 else invent.source(rng)[1]
            changes.append(Change(at, at + len(old), new, "fabricated_sources"))
    at, end = _title_place(text, entry)
    if at >= 0 and not any(change.start < end and at < change.end for change in changes):
        changes.append(Change(at, end, title, "fabricated_sources"))
    return sorted(changes, key=lambda change: change.start)


_CUT_OFF = re.compile(r"[\"”’』」]|\s*(?:\.\.\.|…+)")


def _title_place(text: str, entry: Reference) -> tuple[int, int]:
    """Where the title stands, with a closing quotation mark or the dots of a title cut short; (-1, -1) without one."""
    at = text.find(entry.title, entry.span.start, entry.span.end) if len(entry.title) > 3 else -1
    if at < 0:
        return -1, -1
    end = at + len(entry.title)
    while (more := _CUT_OFF.match(text, end, entry.span.end)) and (more[0].strip(" .…") == "" or _opened(text[at:end])):
        end = more.end()
    return at, end


def _opened(title: str) -> bool:
    """Whether a quotation mark of the title is still open."""
    return title.count('"') % 2 == 1 or sum(map(title.count, "“‘『「")) > sum(map(title.count, "”’』」"))


def _relink(spans: tuple[Span, ...], invent: Inventor, rng: Random) -> list[Change]:
    _, url = invent.source(rng)
    return [Change(span.start, span.end, url, "fabricated_sources") for span in spans]
