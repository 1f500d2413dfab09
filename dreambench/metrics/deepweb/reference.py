"""Types the cells of a reference in Markdown: answer type, value, derivation, sources with provenance, agreement.

The public files mark these with glyphs, brackets, labels or table columns, often not at all; what is not there stays empty.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dreambench.metrics.deepweb.cells import CellText, find_cells
from dreambench.metrics.deepweb.model import Agreement, AnswerType, Dimension, Key, ReferenceCell, Rule, Source, Tier
from dreambench.metrics.deepweb.said import Said, take_apart, with_unit

NO_RULE = Rule()
_TIER = re.compile(r"(?<![A-Za-z0-9])T(?P<number>[1-4])(?![A-Za-z0-9])")
_LETTERS: Mapping[str, Tier] = {"A": "T1", "B": "T2", "C": "T3", "D": "T4"}
_URL = re.compile(r"https?://[^\s<>\"'|)\]，。；]+")
_AGREEMENT = re.compile(r"cross[_ -]source[_ -]agreement`?\s*[:：=]\s*`?(?P<label>consistent|divergent|single)", re.IGNORECASE)
_RISK = re.compile(r"single_source_risk`?\s*[:：=]\s*`?true", re.IGNORECASE)
_ESTIMATED = re.compile(r"⚠|\bestimated?\b|\brange\b|估计|估算", re.IGNORECASE)
_UNVERIFIABLE = re.compile(
    r"❌|✗|✘|(?<![A-Za-z0-9/])(?:ND|N/A)(?![A-Za-z0-9])|\bnot[_ ]available\b|\bunverifiable\b|不可得|无法核实", re.I
)
_MARKS = re.compile(
    r"[⚠❌✗✘✅✓\ufe0f]|`|\[T[1-4]\]|(?:authority_)?tier:\s*T[1-4]"
    r"|cross[_ -]source[_ -]agreement\s*[:：=]\s*\w+|single_source_risk\s*[:：=]\s*\w+",
    re.IGNORECASE,
)
_FORMULA = re.compile(r"[(（](?P<inside>[^()（）]*\d[^()（）]*[×x*÷/+−=-][^()（）]*\d[^()（）]*)[)）]")


def read_reference(
    text: str, dimensions: Sequence[Dimension], entities: Sequence[str], rules: Mapping[Key, Rule] | None = None
) -> tuple[ReferenceCell, ...]:
    """The reference cells that `text` holds, dimension by dimension; a heading for several entities gives each its cell."""
    found = find_cells(text, dimensions, entities)
    order = [(dimension.id, entity) for dimension in dimensions for entity in entities]
    known = rules or {}
    return tuple(type_cell(key, found[key], known.get(key, NO_RULE)) for key in order if key in found)


def type_cell(key: Key, cell: CellText, rule: Rule = NO_RULE) -> ReferenceCell:
    """One typed cell of a reference."""
    said = take_apart(_MARKS.sub(" ", cell.text).strip())
    agreed = _AGREEMENT.search(cell.text)
    return ReferenceCell(
        dimension=key[0],
        entity=key[1],
        type=_type(cell.text, said),
        answer=_answer(said),
        derivation=said.parts.get("derivation", "") or _formula(said.text),
        sources=_sources(cell.text, said),
        agreement=_agreement(agreed["label"] if agreed else said.parts.get("agreement", "")),
        single_source_risk=_RISK.search(cell.text) is not None,
        estimated=_ESTIMATED.search(cell.text) is not None,
        unverifiable=_UNVERIFIABLE.search(cell.text) is not None,
        rule=rule,
        text=cell.text,
    )


def _type(text: str, said: Said) -> AnswerType:
    named = re.sub(r"\W+", "_", said.parts.get("type", "").strip().lower()).strip("_")
    if named in {kind.value for kind in AnswerType}:
        return AnswerType(named)
    amounts = said.quantities()
    if not amounts and (said.abstains or _UNVERIFIABLE.search(text)):
        return AnswerType.NOT_AVAILABLE
    if len(amounts) == 1 and amounts[0].is_range:
        return AnswerType.RANGE
    return AnswerType.RANGE if amounts and "⚠" in text else AnswerType.PRECISE


def _answer(said: Said) -> str:
    """The committing text with its unit; sources and marks are not part of it."""
    text = _URL.sub(" ", said.value)
    unit = said.unit
    return " ".join(f"{text} {unit}".split()) if unit and unit not in text and not said.labelled else _joined(text, unit)


def _joined(text: str, unit: str) -> str:
    return " ".join(with_unit(text.strip(), unit).split()).strip("; ")


def _formula(text: str) -> str:
    found = _FORMULA.search(text)
    if found:
        return str(found["inside"]).strip()
    return text.strip() if re.search(r"\d[^=\n]{0,80}[×*÷/][^=\n]{0,80}=", text) else ""


def _sources(text: str, said: Said) -> tuple[Source, ...]:
    """Every address with the provenance that stands nearest to it; a label without an address is a source without one."""
    urls = list(_URL.finditer(text))
    tiers = [(match.start(), f"T{match['number']}") for match in _TIER.finditer(text)]
    lettered = _LETTERS.get(said.parts.get("tier", "").strip()[:1].upper(), "")
    if not urls:
        return tuple(Source(tier=tier) for _, tier in tiers[:1]) or ((Source(tier=lettered),) if lettered else ())  # type: ignore[arg-type]
    found = {}
    for place, url in enumerate(urls):
        before = urls[place - 1].end() if place else 0
        after = urls[place + 1].start() if place + 1 < len(urls) else len(text)
        near = sorted((abs(at - url.start()), tier) for at, tier in tiers if before <= at < after)
        only = tiers[0][1] if len(tiers) == 1 else lettered
        found[url[0].rstrip(".,;")] = near[0][1] if near else only
    return tuple(Source(url=url, tier=tier) for url, tier in found.items())  # type: ignore[arg-type]


def _agreement(label: str) -> Agreement:
    word = label.strip().lower().strip("`*. ")
    return word if word in ("consistent", "divergent", "single") else ""  # type: ignore[return-value]
