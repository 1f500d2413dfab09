"""Citation swap: markers point to another source of the same report, which says something else.

Eligible units are the resolved markers for which the report has a marker of the same style with another address that the
sentence does not cite already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from random import Random
from typing import Any, ClassVar

from dreambench.documents import Citation, CitationStatus, Document, Span, normalize_url
from dreambench.perturbations.edits import Change, Role
from dreambench.perturbations.perturbation import Perturbation, Source, Unit


class CitationSwap(Perturbation):
    """Puts the marker of another source in the place of each chosen marker."""

    id: ClassVar[str] = "citation_swap"
    kind: ClassVar[Role] = "flaw"
    check: ClassVar[Mapping[str, Any]] = {"shortest": 0.0, "longest": 40.0}

    def units(self, source: Source) -> list[Unit]:
        document = source.document
        by_span = group_markers(document)
        swappable = {span: group for span, group in by_span.items() if _swaps(group)}
        pool: dict[str, dict[frozenset[str], str]] = {}
        for span, group in swappable.items():
            pool.setdefault(_form(group[0]), {}).setdefault(
                _targets(group), _body(document.text, span, group[0]).of(document.text)
            )
        cited: dict[int | None, set[str]] = {}
        for citation in document.citations:
            cited.setdefault(citation.sentence, set()).update([normalize_url(citation.url)] if citation.url else [])
        units = []
        for span, group in swappable.items():
            taken = cited[group[0].sentence] if group[0].sentence is not None else _targets(group)
            others = [raw for urls, raw in pool[_form(group[0])].items() if urls.isdisjoint(taken | _targets(group))]
            if others:
                body = _body(document.text, span, group[0])
                units.append(Unit(body.start, body.end, partial(_swap, body, tuple(others)), options=tuple(others)))
        return units

    def instruction(self, source: Source, unit: Unit) -> dict[str, Any]:
        """The author chooses the most tempting wrong source."""
        listed = [f"{entry.label}: {entry.title} {entry.url or ''}" for entry in source.document.references]
        return {"mode": self.id, "material": "\n".join(listed), "choices": unit.options}


def group_markers(document: Document) -> dict[Span, list[Citation]]:
    """The citations of each marker, in text order."""
    groups: dict[Span, list[Citation]] = {}
    for citation in document.citations:
        groups.setdefault(citation.span, []).append(citation)
    return dict(sorted(groups.items()))


def _swaps(group: Sequence[Citation]) -> bool:
    resolved = all(citation.status is CitationStatus.RESOLVED for citation in group)
    return resolved and not (group[0].style == "author_year" and not group[0].raw.startswith(("(", "（")))


def _form(citation: Citation) -> str:
    """Markers of one form can stand for each other: for links with words, the address alone is exchanged."""
    return "address" if _is_worded(citation) else citation.style


def _is_worded(citation: Citation) -> bool:
    return citation.style in ("link", "html_link") and not citation.label.isdigit()


def _targets(group: Sequence[Citation]) -> frozenset[str]:
    return frozenset(normalize_url(citation.url) for citation in group if citation.url)


def _body(text: str, span: Span, citation: Citation) -> Span:
    """What is exchanged: the whole marker, or the address alone where the words of a link belong to the sentence."""
    if _is_worded(citation) and citation.url:
        at = text.rfind(citation.url, span.start, span.end)
        if at >= 0:
            return Span(at, at + len(citation.url))
    return span


def _swap(body: Span, others: tuple[str, ...], rng: Random) -> list[Change]:
    return [Change(body.start, body.end, rng.choice(others), "citation_swap")]
