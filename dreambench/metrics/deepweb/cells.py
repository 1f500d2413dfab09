"""Finds the cells of a matrix in a Markdown text, reference or answer, whatever its layout.

Read are: a heading per cell (`### Q2 x OpenAI`), one heading for several entities, a section per dimension with a bullet or
a table row per entity, a section per entity with a heading, bullet or row per dimension, one table of all cells either way
round, and a JSON block of dimension -> entity -> answer. The first text that is found for a cell counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dreambench.language.text import normalise
from dreambench.metrics.deepweb.model import Dimension, Key
from dreambench.metrics.deepweb.names import EntityNames, spellings

_HEADING = re.compile(r"^\s{0,3}(?:#{1,6}\s+(?P<hash>.+?)\s*#*|\*\*(?P<bold>[^*]+)\*\*\s*[:：]?)\s*$")
_BULLET = re.compile(
    r"^\s*(?:[-*+•]|\d{1,2}[.)、])\s+(?P<name>\*\*[^*]+\*\*|[^:：|]{1,80}?)\s*(?:[:：]|\s[-–—]\s)\s*(?P<rest>\S.*)?$"
)
# "Q2 2024", "2024 Q2" and "Q2 FY24" are quarters, no dimensions.
_CODE = re.compile(
    r"(?<![A-Za-z0-9])(?<!\d{4} )(?<!\d{4}-)(?<!\d{4}年)(?<!FY\d{2} )(?:[QD]|Question |Dimension |维度|问题)\s?"
    r"(?P<number>\d{1,2})(?![0-9])(?!\s*(?:of\s+)?(?:(?:FY\s?|CY\s?)\d{2}|(?:19|20)\d\d|['’]\d\d))",
    re.IGNORECASE,
)
_JOIN = re.compile(r"^\s*(?:×|x|X|\*|-|–|—|:|：|·|/|\|)\s*|\s*(?:×|x|X|-|–|—|:|：|·|/|\|)\s*$")
_CROSS = re.compile(r"\s*(?:×|\bx\b|\bX\b|·|\||:|：|\s[-–—]\s)\s*")
_RULE = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_FENCE = re.compile(r"^```(?:json)?[ \t]*\n(?P<body>\{.*?\}|\[.*?\])\s*\n```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class CellText:
    """What a text says of a cell, and where (offsets into the text). Table cells read "header: value; header: value"."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    start: int
    end: int


@dataclass
class _Reader:
    """Goes through the lines and remembers which dimension and which entities they are about."""

    dimensions: Sequence[Dimension]
    names: EntityNames
    found: dict[Key, CellText] = field(default_factory=dict)
    dimension: str = ""
    entities: list[str] = field(default_factory=list)
    _open: list[_Line] = field(default_factory=list)
    _targets: list[Key] = field(default_factory=list)

    def heading(self, text: str) -> bool:
        """Takes a heading; False when it names neither a dimension nor an entity (a label inside a cell)."""
        dimension, rest = self.split(text)
        entities = self.names.find_all(rest) if rest else []
        if not dimension and not entities:
            return False
        self.close()
        if dimension:
            # "## Q2" below "# OpenAI" stays with OpenAI; a new dimension at the top of a section has no entity yet.
            by_entity = bool(self.entities) and not self.dimension
            self.entities = entities or (self.entities if by_entity or self._under_entity else [])
            self.dimension = dimension
            self._under_entity = by_entity or (self._under_entity and not entities)
        else:
            self.entities = entities
            if not self.dimension or self._under_entity:
                self.dimension, self._under_entity = "", True
        self._aim()
        return True

    _under_entity: bool = False

    def split(self, text: str) -> tuple[str, str]:
        """The dimension that a heading or table head names, and what is left of it."""
        if code := _CODE.search(text):
            number = int(code["number"])
            ids = {dimension.id.casefold(): dimension.id for dimension in self.dimensions}
            near = (f"q{number}", f"d{number}", str(number))
            known = next((ids[one] for one in near if one in ids), None)
            if known is None and 0 < number <= len(self.dimensions):
                known = self.dimensions[number - 1].id
            if known:
                rest = text[code.end() :] if text[code.end() :].strip(" *:：") else text[: code.start()]
                return known, self._entity_part(rest)
        folded = spellings(text)
        for dimension in self.dimensions:
            if dimension.name and any(form in spellings(dimension.name) for form in folded):
                return dimension.id, ""
        return "", text

    def _entity_part(self, rest: str) -> str:
        """ "× OpenAI (2025)" and "Revenue × OpenAI": the part that names entities, without the sign before it."""
        parts = [part for part in _CROSS.split(_JOIN.sub("", rest)) if part.strip()]
        named = [part for part in parts if self.names.find_all(part)]
        return named[-1] if named else ""

    def _aim(self) -> None:
        self._targets = [(self.dimension, entity) for entity in self.entities] if self.dimension else []

    def line(self, line: _Line) -> None:
        bullet = _BULLET.match(line.text)
        if bullet:
            dimension, rest = self.split(bullet["name"])
            named = self.names.find_all(rest) if rest else []
            if self.dimension and not self.entities and named and not dimension:
                self._bullet(line, bullet, [(self.dimension, entity) for entity in named])
                return
            if dimension and (named or (self.entities and not self.dimension)):
                self._bullet(line, bullet, [(dimension, entity) for entity in named or self.entities])
                return
        if self._targets:
            self._open.append(line)

    def _bullet(self, line: _Line, bullet: re.Match[str], targets: list[Key]) -> None:
        self.close()
        self._targets = targets
        if bullet["rest"]:
            self._open.append(_Line(bullet["rest"], line.start + bullet.start("rest"), line.end))

    def close(self) -> None:
        """Ends the cell that is open."""
        lines = [line for line in self._open if line.text.strip()]
        if lines:
            text = "\n".join(line.text for line in self._open).strip()
            for key in self._targets:
                self.add(key, CellText(text, lines[0].start, lines[-1].end))
        self._open = []

    def add(self, key: Key, cell: CellText) -> None:
        self.found.setdefault(key, cell)

    def table(self, rows: list[tuple[_Line, list[str]]]) -> bool:
        """Takes a table; False when it is no table of cells."""
        if len(rows) < 2:
            return False
        head = rows[0][1]
        columns = {place: self.split(title)[0] for place, title in enumerate(head)}
        columns = {place: dimension for place, dimension in columns.items() if dimension}
        holders = {place: entity for place, title in enumerate(head) if (entity := self.names.find(title))}
        if len(columns) > 1:
            return self._wide(rows, columns)
        if len(holders) > 1:
            return self._across(rows, holders)
        return self._long(rows)

    def _wide(self, rows: list[tuple[_Line, list[str]]], columns: dict[int, str]) -> bool:
        """A row per entity, a column per dimension."""
        hit = False
        for line, cells in rows[1:]:
            entity = next((found for cell in cells[:2] if (found := self.names.find(cell))), None)
            for place, dimension in columns.items():
                if entity and place < len(cells):
                    self.add((dimension, entity), CellText(cells[place], line.start, line.end))
                    hit = True
        return hit

    def _across(self, rows: list[tuple[_Line, list[str]]], holders: dict[int, str]) -> bool:
        """A column per entity: a row per dimension, or a row per attribute of the current dimension."""
        parts: dict[str, list[str]] = {entity: [] for entity in holders.values()}
        hit = False
        for line, cells in rows[1:]:
            dimension = self.split(cells[0])[0]
            for place, entity in holders.items():
                if place >= len(cells):
                    continue
                if dimension:
                    self.add((dimension, entity), CellText(cells[place], line.start, line.end))
                    hit = True
                elif cells[place]:
                    parts[entity].append(f"{cells[0]}: {cells[place]}")
        if self.dimension and not hit:
            for entity, said in parts.items():
                self.add((self.dimension, entity), CellText("; ".join(said), rows[0][0].start, rows[-1][0].end))
                hit = True
        return hit

    def _long(self, rows: list[tuple[_Line, list[str]]]) -> bool:
        """A row per cell: the dimension or the entity may be the section's."""
        hit, head = False, rows[0][1]
        for line, cells in rows[1:]:
            places = {place: self.split(cell)[0] for place, cell in enumerate(cells[:3]) if _CODE.fullmatch(cell.strip(" *"))}
            dimension = next(iter(places.values()), "") or self.dimension
            at = next((place for place, cell in enumerate(cells[:3]) if self.names.find(cell)), None)
            entity = self.names.find(cells[at]) if at is not None else (self.entities[0] if len(self.entities) == 1 else None)
            if not dimension or not entity or (at is None and not places):
                continue
            used = {*places, *([at] if at is not None else [])}
            said = [
                f"{head[place]}: {cell}" for place, cell in enumerate(cells) if place not in used and cell and place < len(head)
            ]
            self.add((dimension, entity), CellText("; ".join(said), line.start, line.end))
            hit = True
        return hit


def find_cells(text: str, dimensions: Sequence[Dimension], entities: Sequence[str]) -> dict[Key, CellText]:
    """What `text` says of each cell; cells that it does not mention are not there."""
    reader = _Reader(dimensions, EntityNames(entities))
    for key, cell in _json_cells(text, reader):
        reader.add(key, cell)
    lines = list(_lines(text))
    place = 0
    while place < len(lines):
        rows, after = _table_at(lines, place)
        if rows and reader.table(rows):
            place = after
            continue
        heading = _HEADING.match(lines[place].text)
        if not (heading and reader.heading(heading["hash"] or heading["bold"])):
            reader.line(lines[place])
        place += 1
    reader.close()
    return reader.found


def sections(text: str, dimensions: Sequence[Dimension]) -> tuple[str, dict[str, str]]:
    """What a rubric says in general (before and outside of dimensions), and of each dimension."""
    reader = _Reader(dimensions, EntityNames([]))
    general: list[str] = []
    parts: dict[str, list[str]] = {}
    current = ""
    for line in _lines(text):
        heading = _HEADING.match(line.text)
        if heading:
            title = heading["hash"] or heading["bold"]
            current = reader.split(title)[0]
            (parts.setdefault(current, []) if current else general).append(title)
            continue
        lead = re.match(r"^\s*[|*-]*\s*\**(?P<code>[QD]\d{1,2})\b", line.text)
        named = reader.split(lead["code"])[0] if lead else ""
        (parts.setdefault(named or current, []) if named or current else general).append(line.text)
    return "\n".join(general), {name: "\n".join(said) for name, said in parts.items()}


def headed_entities(text: str, dimensions: Sequence[Dimension]) -> list[str]:
    """The names that follow a dimension in headings (`### Q2 x NAME`), for files whose list of entities is empty."""
    found: dict[str, str] = {}
    for line in _lines(text):
        heading = _HEADING.match(line.text)
        title = (heading["hash"] or heading["bold"]) if heading else ""
        code = _CODE.search(title)
        parts = [part for part in _CROSS.split(_JOIN.sub("", title[code.end() :])) if part.strip()] if code else []
        level = line.text.lstrip().partition(" ")[0]
        if parts and len(level) >= 3 and level.startswith("#"):
            for name in re.split(r"\s*[,、;]\s*", parts[-1]):
                found.setdefault(normalise(name), name.strip())
    return list(found.values())


def _lines(text: str) -> Iterator[_Line]:
    start = 0
    for raw in text.splitlines(keepends=True):
        stripped = raw.rstrip("\r\n")
        yield _Line(stripped, start, start + len(stripped))
        start += len(raw)


def _table_at(lines: Sequence[_Line], place: int) -> tuple[list[tuple[_Line, list[str]]], int]:
    """The rows of the table that begins here (without the dashes), and the line after it; no rows when there is none."""
    if "|" not in lines[place].text or place + 1 >= len(lines) or not _RULE.match(lines[place + 1].text):
        return [], place
    after = place + 2
    while after < len(lines) and "|" in lines[after].text:
        after += 1
    rows = [lines[place], *lines[place + 2 : after]]
    return [(line, [cell.strip() for cell in re.split(r"(?<!\\)\|", line.text.strip().strip("|"))]) for line in rows], after


def _json_cells(text: str, reader: _Reader) -> Iterator[tuple[Key, CellText]]:
    for block in _FENCE.finditer(text):
        try:
            value = json.loads(block["body"])
        except ValueError:
            continue
        for dimension, entity, said in _triples(value):
            known, name = reader.split(dimension)[0], reader.names.find(entity)
            if known and name:
                yield (known, name), CellText(said, block.start(), block.end())


def _triples(value: Any) -> Iterator[tuple[str, str, str]]:
    rows = value.get("cells", value) if isinstance(value, dict) else value
    if isinstance(rows, list):
        for row in rows:
            if isinstance(row, dict) and {"dimension", "entity"} <= row.keys():
                rest = {key: each for key, each in row.items() if key not in ("dimension", "entity")}
                yield str(row["dimension"]), str(row["entity"]), _said(rest)
    elif isinstance(rows, dict):
        for dimension, cells in rows.items():
            for entity, said in cells.items() if isinstance(cells, dict) else ():
                yield dimension, entity, _said(said)


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return "\n".join(f"{key}: {_said(each)}" for key, each in value.items() if each not in (None, "", []))
    return ", ".join(_said(each) for each in value) if isinstance(value, list) else str(value)
