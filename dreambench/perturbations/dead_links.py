"""Dead links: the addresses of sources no longer lead anywhere, as after a site has been rebuilt.

Eligible units are the distinct addresses of the report; every mention of a chosen one changes alike. Site and title stay. The
new addresses are not opened: a page that happens to be there would be a surprise, not an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any, ClassVar

from dreambench.documents import Span
from dreambench.perturbations.addresses import dead, latin_words
from dreambench.perturbations.edits import Change, Role
from dreambench.perturbations.perturbation import Perturbation, Source, Unit


class DeadLinks(Perturbation):
    """Gives each chosen address another path on its site."""

    id: ClassVar[str] = "dead_links"
    kind: ClassVar[Role] = "flaw"
    check: ClassVar[Mapping[str, Any]] = {"shortest": 0.1, "longest": 2.0}

    def units(self, source: Source) -> list[Unit]:
        view = source.view
        taken = frozenset(view.addresses)
        words = tuple(latin_words(source.document.title))
        return [
            Unit(spans[0].start, spans[0].end, partial(_kill, source.text, spans, words, taken))
            for spans in view.addresses.values()
        ]

    def instruction(self, source: Source, unit: Unit) -> dict[str, Any]:
        """The author gives an address on the same site."""
        site = re.match(r"(?:https?://)?[^/\s?#]+", source.text[unit.start : unit.end])
        return {"mode": self.id, "material": "", "pattern": re.escape(site[0] if site else "") + r"/[^\s<>()\[\]]+"}

    def answered(self, source: Source, unit: Unit, text: str) -> Sequence[Change]:
        """The author's address, at every mention."""
        planned = unit.make(source.draws.stream("unit", unit.start, unit.end))
        return [replace(change, after=text) for change in planned]


def _kill(text: str, spans: tuple[Span, ...], words: tuple[str, ...], taken: frozenset[str], rng: Random) -> list[Change]:
    new: dict[str, str] = {}
    changes = []
    state = rng.getrandbits(32)
    for span in spans:
        url = span.of(text)
        if url not in new:
            new[url] = dead(url, words, taken, Random(state))
        changes.append(Change(span.start, span.end, new[url], "dead_links"))
    return changes
