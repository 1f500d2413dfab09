"""Dead links: the addresses of sources no longer lead anywhere, as after a site has been rebuilt.

Eligible units are the distinct addresses of the report; every mention of a chosen one changes alike. Site and title stay. The
new addresses are not opened: a page that happens to be there would be a surprise, not an error.
"""

from __future__ import annotations

from functools import partial
from random import Random
from typing import ClassVar

from dreambench.documents import Span
from dreambench.perturbations.addresses import dead, latin_words
from dreambench.perturbations.edits import Change, Role
from dreambench.perturbations.perturbation import Perturbation, Source, Unit


class DeadLinks(Perturbation):
    """Gives each chosen address another path on its site."""

    id: ClassVar[str] = "dead_links"
    kind: ClassVar[Role] = "flaw"

    def units(self, source: Source) -> list[Unit]:
        view = source.view
        taken = frozenset(view.addresses)
        words = tuple(latin_words(source.document.title))
        return [
            Unit(spans[0].start, spans[0].end, partial(_kill, source.text, spans, words, taken))
            for spans in view.addresses.values()
        ]


def _kill(text: str, spans: tuple[Span, ...], words: tuple[str, ...], taken: frozenset[str], rng: Random) -> list[Change]:
    new: dict[str, str] = {}
    changes = []
    for span in spans:
        url = span.of(text)
        if url not in new:
            state = rng.getrandbits(32) if not new else state
            new[url] = dead(url, words, taken, Random(state))
        changes.append(Change(span.start, span.end, new[url], "dead_links"))
    return changes
