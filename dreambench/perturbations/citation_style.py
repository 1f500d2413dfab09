"""Citation style: numbered markers become links, or links become numbered markers with entries; what they point to stays.

Eligible units are the resolved markers of the style that is rewritten: with `to=inline` those that look a number up, with
`to=numbered` the links (their words stay, where they are part of the sentence). `auto` rewrites the style that the report
uses most.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, ClassVar, Literal

from dreambench.documents import Citation, CitationStatus, Document, Span, normalize_url
from dreambench.errors import ConfigError, Problem
from dreambench.judges.rubric import RubricShelf
from dreambench.perturbations.citation_swap import group_markers
from dreambench.perturbations.edits import Author, Change, Role
from dreambench.perturbations.perturbation import Perturbation, Source, Unit

To = Literal["auto", "inline", "numbered"]
_NUMBERED = frozenset({"numeric", "fullwidth"})


class CitationStyle(Perturbation):
    """Writes each chosen marker in the other style."""

    id: ClassVar[str] = "citation_style"
    kind: ClassVar[Role] = "placebo"
    check: ClassVar[Mapping[str, Any]] = {"shortest": 0.2, "longest": 60.0}

    def __init__(
        self,
        *,
        dose: float = 1.0,
        seed: int = 0,
        author: Author = "embedded",
        to: To = "auto",
        name: str = "",
        shelf: RubricShelf | None = None,
    ) -> None:
        """`to` is the style that markers are rewritten to. Raises ConfigError for an llm author with `to=numbered`."""
        super().__init__(dose=dose, seed=seed, author=author, name=name, shelf=shelf)
        self.to: To = "inline" if author == "llm" and to == "auto" else to
        if author == "llm" and to == "numbered":
            where = f"perturbation.{self.name}.to"
            raise ConfigError(Problem(where, "numbers are given out by rule only", ["inline"], f"{where}=inline"))

    def settings(self) -> Mapping[str, Any]:
        return {"to": self.to}

    def _direction(self, document: Document) -> To:
        if self.to != "auto":
            return self.to
        numbered, links = len(_numbered(document)), len(_links(document))
        return "inline" if numbered >= links else "numbered"

    def units(self, source: Source) -> list[Unit]:
        document = source.document
        found = _numbered(document) if self._direction(document) == "inline" else _links(document)
        return [Unit(span.start, span.end, _nothing) for span in found]

    def changes(self, source: Source, units: Sequence[Unit], chosen: Sequence[int]) -> list[tuple[int, Change]]:
        document = source.document
        if self._direction(document) == "inline":
            groups = _numbered(document)
            shape = source.draws.stream("shape").choice(("[{n}]({u})", "[[{n}]({u})]", "([{n}]({u}))"))
            return [(n, _inline(source.text, groups[Span(units[n].start, units[n].end)], shape)) for n in chosen]
        return _to_numbers(document, [(n, Span(units[n].start, units[n].end)) for n in chosen])

    def instruction(self, source: Source, unit: Unit) -> dict[str, Any]:
        group = group_markers(source.document)[Span(unit.start, unit.end)]
        links = tuple(f"[{citation.label}]({citation.url})" for citation in group)
        return {
            "mode": "inline",
            "material": "; ".join(f"{c.label}: {c.url}" for c in group),
            "keep": links,
            "most": sum(map(len, links)) + 20,
        }


def _numbered(document: Document) -> dict[Span, list[Citation]]:
    """Markers that look numbers up, all of them resolved."""
    ends = frozenset(span.end for span in document.markers)
    return {
        span: group
        for span, group in group_markers(document).items()
        if group[0].style in _NUMBERED
        and all(c.status is CitationStatus.RESOLVED and c.reference is not None and _fits_link(c.url) for c in group)
        and _can_stand(document.text, span, ends)
    }


def _fits_link(url: str | None) -> bool:
    return url is not None and not re.search(r"[\s()<>\[\]]", url)


def _can_stand(text: str, span: Span, ends: frozenset[int]) -> bool:
    """Whether links can take the marker's place: no picture, no bracket around it or, unless a marker, before it."""
    before = text[span.start - 1 : span.start]
    return before not in ("[", "!") and (before != "]" or span.start in ends) and text[span.end : span.end + 1] != "("


def _links(document: Document) -> dict[Span, list[Citation]]:
    """Links that are no part of a reference list."""
    return {
        span: group
        for span, group in group_markers(document).items()
        if group[0].style == "link" and group[0].url is not None and len(group) == 1
    }


def _inline(text: str, group: Sequence[Citation], shape: str) -> Change:
    span = group[0].span
    if text[span.start - 1 : span.start] in ("(", "（"):
        shape = "[{n}]({u})"
    links = "".join(shape.replace("{n}", citation.label).replace("{u}", citation.url or "") for citation in group)
    return Change(span.start, span.end, links, "citation_style")


def _to_numbers(document: Document, chosen: Sequence[tuple[int, Span]]) -> list[tuple[int, Change]]:
    """Markers `[n]` for links, and one new entry for each address that the list does not have yet."""
    groups = group_markers(document)
    labels: dict[str, str] = {}
    numbers = [int(entry.label) for entry in document.references if entry.label.isdigit()]
    for entry in document.references:
        if entry.label.isdigit() and entry.url and sum(e.label == entry.label for e in document.references) == 1:
            labels.setdefault(normalize_url(entry.url), entry.label)
    following = max(numbers, default=0) + 1
    changes: list[tuple[int, Change]] = []
    entries: list[tuple[int, str]] = []
    for number, span in chosen:
        (citation,) = groups[span]
        url = citation.url or ""
        key = normalize_url(url)
        if key not in labels:
            labels[key] = str(following)
            entries.append((number, f"[{following}] {_title(citation)}{url}"))
            following += 1
        words = "" if _is_marker(document, citation) else citation.label
        changes.append((number, Change(span.start, span.end, f"{words} [{labels[key]}]".strip(), "citation_style")))
    return [*changes, *_appended(document, entries)]


def _is_marker(document: Document, citation: Citation) -> bool:
    """Whether a link only points (a number, or in brackets of its own) and its words are no part of the sentence."""
    raw = citation.raw
    return citation.label.isdigit() or raw[:1] in "(（【" or raw[:2] == "[["


def _title(citation: Citation) -> str:
    label = re.sub(r"\s+", " ", citation.label).strip()
    return "" if not label or label.isdigit() else f"{label}: "


def _appended(document: Document, entries: Sequence[tuple[int, str]]) -> list[tuple[int, Change]]:
    """New entries behind the last one of the list, or as a list of their own at the end."""
    if not entries:
        return []
    numbered = [entry for entry in document.references if entry.label.isdigit()]
    at = numbered[-1].span.end if numbered else len(document.text.rstrip())
    heading = "" if numbered else ("\n\n## 参考文献\n" if document.language == "zh" else "\n\n## References\n")
    return [
        (number, Change(at, at, f"{heading if order == 0 else ''}\n{entry}", "citation_style", "new entry"))
        for order, (number, entry) in enumerate(entries)
    ]


def _nothing(rng: Random) -> list[Change]:
    return []
