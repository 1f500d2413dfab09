"""Swapped claims: true statements replaced by given false ones, each with a source that seems to support it.

A file lists pairs, one JSON object a line: `true` as it stands in the report, `false`, and `source` (an address) with an
optional `title`. Eligible units are the listed claims that the report makes. In a report with a numbered list of sources the
false claim cites a new entry of that list, elsewhere a link.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, ClassVar

from dreambench.documents import Document, Reference
from dreambench.errors import ConfigError, Problem
from dreambench.judges.rubric import RubricShelf
from dreambench.perturbations.edits import Author, Change, Role
from dreambench.perturbations.perturbation import Perturbation, Source, Unit
from dreambench.perturbations.prose import Line
from dreambench.records import short_hash

ALIKE = 90.0
"""Likeness (0 to 100, rapidfuzz) from which a sentence of the report is the listed true claim."""
FIELDS = ("true", "false", "source")


@dataclass(frozen=True, slots=True)
class Pair:
    """A true claim, its false variant, and the source that is given for it."""

    true: str
    false: str
    source: str
    title: str = ""


class SwapClaims(Perturbation):
    """Puts the false variant, with its source, in the place of each chosen claim."""

    id: ClassVar[str] = "swap_claims"
    kind: ClassVar[Role] = "flaw"
    check: ClassVar[Mapping[str, Any]] = {"shortest": 0.3, "longest": 2.0}

    def __init__(
        self,
        *,
        path: Path,
        dose: float = 1.0,
        seed: int = 0,
        author: Author = "embedded",
        name: str = "",
        shelf: RubricShelf | None = None,
    ) -> None:
        """`path` is the file of pairs. Raises ConfigError with every line that is none."""
        super().__init__(dose=dose, seed=seed, author=author, name=name, shelf=shelf)
        self.pairs = read_pairs(Path(path), f"perturbation.{self.name}.path")

    def settings(self) -> Mapping[str, Any]:
        return {
            "pairs": short_hash(*(part for pair in self.pairs for part in (pair.true, pair.false, pair.source, pair.title)))
        }

    def units(self, source: Source) -> list[Unit]:
        return [Unit(line.start, line.end, _nothing, pair.false) for line, pair in self._found(source)]

    def _found(self, source: Source) -> list[tuple[Line, Pair]]:
        """The sentences that make a listed claim, each claim once, in text order."""
        from rapidfuzz import fuzz, process

        lines = [line for line in source.view.lines if line.words]
        words = [_folded(line.words) for line in lines]
        found: dict[int, Pair] = {}
        for pair in self.pairs:
            best = process.extractOne(_folded(pair.true), words, scorer=fuzz.ratio, score_cutoff=ALIKE)
            if best is not None:
                found.setdefault(best[2], pair)
        return [(lines[at], pair) for at, pair in sorted(found.items())]

    def changes(self, source: Source, units: Sequence[Unit], chosen: Sequence[int]) -> list[tuple[int, Change]]:
        return self._swapped(source, {number: units[number].mode for number in chosen})

    def answered(self, source: Source, unit: Unit, text: str) -> Sequence[Change]:
        """The author words the false claim; source and marker are put in by rule."""
        found = self._found(source)
        number = next(at for at, (line, _) in enumerate(found) if line.start == unit.start)
        return [change for _, change in self._swapped(source, {number: text.strip()})]

    def instruction(self, source: Source, unit: Unit) -> dict[str, Any]:
        return {"mode": "swap_claims", "material": unit.mode}

    def _swapped(self, source: Source, texts: Mapping[int, str]) -> list[tuple[int, Change]]:
        found = self._found(source)
        entries = Entries(source.document)
        changes = []
        for number, text in texts.items():
            line, pair = found[number]
            marker, entry = entries.cite(pair)
            core = line.core
            end = line.end
            stop = "" if line.text[core.end :].strip() == "" else ("。" if source.view.chinese else ".")
            new = re.sub(r"[.。\s]+$", "", text) + marker + stop
            changes.append((number, Change(line.start + core.start, end, new, self.id, pair.source)))
            if entry is not None:
                changes.append((number, entry))
        return changes


class Entries:
    """Gives out markers for new sources: numbered behind the report's last number, or links where nothing is numbered."""

    def __init__(self, document: Document) -> None:
        self._text = document.text
        self._gap = "" if document.language == "zh" else " "
        numbered = [entry for entry in document.references if entry.label.isdigit()]
        self._last: Reference | None = numbered[-1] if numbered else None
        self._next = max((int(entry.label) for entry in numbered), default=0) + 1

    def cite(self, pair: Pair) -> tuple[str, Change | None]:
        """The marker, and the new entry behind the last one; every entry is made in the style of the last."""
        title = pair.title or re.sub(r"^https?://(?:www\.)?|[/?#].*$", "", pair.source)
        if self._last is None:
            return f"{self._gap}([{title}]({pair.source}))", None
        number, self._next = self._next, self._next + 1
        raw = self._last.span.of(self._text)
        head = re.match(r"\s*(?:\[\d+\]:?|\d+[.)、])", raw)
        label = head[0].replace(self._last.label, str(number)) if head else f"[{number}]"
        url_first = bool(self._last.url) and raw.find(self._last.url or "") < raw.find(self._last.title)
        body = f"{pair.source} - {title}" if url_first else f"{title}: {pair.source}"
        body = f"[{title}]({pair.source})" if "](" in raw else body
        at = self._last.span.end
        return f"{self._gap}[{number}]", Change(at, at, f"\n{label} {body}", "swap_claims", pair.source)


def _folded(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip(" .。").casefold()


def _nothing(rng: Random) -> list[Change]:
    return []


def read_pairs(path: Path, where: str) -> list[Pair]:
    """The pairs of a JSON lines file. Raises ConfigError."""
    if not path.is_file():
        raise ConfigError(Problem(where, f"{path} is no file", ["a JSON lines file"]))
    pairs, problems = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            pairs.append(Pair(**{key: str(value) for key, value in record.items()}))
        except (ValueError, TypeError, AttributeError) as error:
            problems.append(Problem(f"{path}:{number}", f"is no pair of claims: {error}", [*FIELDS, "title"]))
    if problems or not pairs:
        raise ConfigError(*(problems or [Problem(where, f"{path} holds no pair", FIELDS)]))
    return pairs
