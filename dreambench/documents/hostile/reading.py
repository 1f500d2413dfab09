"""`read_hostile`: hidden text first, then what is addressed to the judge in the text that is left, until nothing is found.

The steps are repeated because a cut can bring the halves of an order together. Every step is linear in the text's length.
"""

from __future__ import annotations

from dreambench.documents.hostile.characters import fold_alike, shown
from dreambench.documents.hostile.cut import keep, merge
from dreambench.documents.hostile.features import Features
from dreambench.documents.hostile.hidden import find_hidden
from dreambench.documents.hostile.model import Found, Judged, Passage
from dreambench.documents.hostile.places import find_orders, holds_order, widen
from dreambench.documents.hostile.structure import find_structure
from dreambench.documents.model import Span
from dreambench.remembered import remembered

_ROUNDS = 4
_SHORT = 1_000
"""Characters up to which a text is short and remembered apart: claims and passages must not push reports out of memory."""


def judged_text(text: str) -> str:
    """`text` without hidden text and passages addressed to the judge; the same object where there are none."""
    return read_hostile(text).text


def read_hostile(text: str, *, visible: bool = True) -> Judged:
    """The passages of `text` in order, and the text without them. Any string is fine.

    With `visible` false only what a reader does not see is looked for.
    """
    return _remembered(text, visible)


def _read(text: str, visible: bool) -> Judged:
    hidden = (_widened(text, hit) for hit in find_hidden(text))
    found = [hit for hit in hidden if hit.end > hit.start]  # a page break alone (form feed) is white space, and stays
    judged = _cut(text, found)
    for _ in range(_ROUNDS if visible else 0):
        more = _visible(judged)
        if not more:
            break
        found += more
        judged = _cut(text, found)
    return judged


_remembered = remembered(_read, border=_SHORT, short=8_192, long=32)


def _visible(judged: Judged) -> list[Found]:
    """What is found in the judged text so far, as offsets into the text that was given."""
    text = judged.text
    features = Features(text)
    hits = find_structure(features, _orders)
    orders = find_orders(features, hits)
    found = []
    for hit in [*hits, *orders]:
        wide = _widened(text, hit)
        if wide.end == wide.start:
            continue
        back = judged.original(Span(wide.start, wide.end))
        found.append(hit._replace(start=back.start, end=back.end))
    return found


def _widened(text: str, hit: Found) -> Found:
    start, end = widen(text, hit)
    return hit._replace(start=start, end=end)


def _orders(text: str) -> bool:
    return holds_order(fold_alike(text))


def _cut(text: str, found: list[Found]) -> Judged:
    if not found:
        return Judged(text, (), (Span(0, len(text)),) if text else (), (0,) if text else ())
    cuts = merge([(hit.start, hit.end) for hit in found], text)
    kept = keep(text, cuts)
    at: list[int] = []
    length = 0
    for span in kept:
        at.append(length)
        length += len(span)
    judged = "".join(span.of(text) for span in kept)
    return Judged(judged, tuple(_passages(text, found)), tuple(kept), tuple(at))


def _passages(text: str, found: list[Found]) -> list[Passage]:
    """One passage per hit; a hit inside of a larger one is part of it."""
    passages: list[Passage] = []
    until, line, counted = -1, 1, 0
    for hit in sorted(found, key=lambda hit: (hit.start, -hit.end)):
        if hit.end > until:
            until = hit.end
            words = shown(text[hit.start : hit.end]) + (f" = {shown(hit.said, 80)}" if hit.said else "")
            line += text.count("\n", counted, hit.start)
            counted = hit.start
            passages.append(Passage(Span(hit.start, hit.end), hit.kind, hit.rule, line, words))
    return passages
