"""What a matrix task is made of: entities, dimensions, and one reference cell for each pair, with its rule.

Everything is a frozen pydantic model, so a task has one canonical JSON (`digest`) that names it in a run's identity.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

TIERS = (1.0, 0.5, 0.25, 0.0)
Tier = Literal["", "T1", "T2", "T3", "T4"]
Agreement = Literal["", "consistent", "divergent", "single"]
Action = Literal["cap", "deduct", "zero"]
Condition = Literal["no_citation", "no_method", "no_derivation", "no_reason", "precise_value", "abstained", "other"]
Key = tuple[str, str]
"""(dimension id, entity name) of a cell."""


class Model(BaseModel):
    """A record of a matrix task's files: unknown fields are errors, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class AnswerType(StrEnum):
    """What kind of answer the reference holds."""

    PRECISE = "precise"
    RANGE = "range"
    NOT_AVAILABLE = "not_available"


class Family(StrEnum):
    """The capability that a dimension asks for."""

    RETRIEVAL = "retrieval"
    DERIVATION = "derivation"
    CALIBRATION = "calibration"
    REASONING = "reasoning"


class Source(Model):
    """A page that a reference rests on; `tier` T1 (primary) to T4 (informal), empty where none is given."""

    url: str = ""
    tier: Tier = ""


class Band(Model):
    """How far from the reference a value may lie: a share of it, percentage points, or an amount in its own unit."""

    relative: float | None = None
    points: float | None = None
    absolute: str = ""


class Modifier(Model):
    """A cap, a deduction or an automatic zero, applied in order; `other` conditions are beyond code."""

    action: Action
    when: Condition
    amount: float = 0.0
    text: str = ""


class Rule(Model):
    """What a rubric says of a cell beyond the defaults. `text` is its wording, `parts` > 1 says that parts count apart."""

    full: Band | None = None
    half: Band | None = None
    accepted: tuple[str, ...] = ()
    modifiers: tuple[Modifier, ...] = ()
    parts: int = 1
    text: str = ""


class ReferenceCell(Model):
    """The reference of one cell. `answer` is the value or interval as text with its unit; empty where none was found.

    `text` is all that the reference says of the cell. `estimated` and `unverifiable` are the glyphs of the public files.
    """

    dimension: str
    entity: str
    type: AnswerType
    answer: str = ""
    derivation: str = ""
    sources: tuple[Source, ...] = ()
    agreement: Agreement = ""
    single_source_risk: bool = False
    estimated: bool = False
    unverifiable: bool = False
    rule: Rule = Rule()
    text: str = ""

    @property
    def key(self) -> Key:
        """What tells the cells of a task apart: dimension and entity."""
        return (self.dimension, self.entity)


class Dimension(Model):
    """One column: `id` such as Q2, its name, and its family where the file says it."""

    id: str
    name: str = ""
    family: Family | None = None


class MatrixTask(Model):
    """One case: the question, the matrix, and the reference cells that were found (missing ones are not made up)."""

    id: str
    number: int = 0
    title: str = ""
    domain: str = ""
    question: str
    entities: tuple[str, ...]
    dimensions: tuple[Dimension, ...]
    cells: tuple[ReferenceCell, ...] = ()
    reference_md: str = ""
    rubric_md: str = ""

    def by_key(self) -> dict[Key, ReferenceCell]:
        """The reference cells by dimension and entity."""
        return {cell.key: cell for cell in self.cells}

    def cell_keys(self) -> list[Key]:
        """Every (dimension, entity) of the matrix, dimension by dimension."""
        return [(dimension.id, entity) for dimension in self.dimensions for entity in self.entities]

    def digest(self) -> str:
        """SHA-256 (64 hex digits) of the task."""
        return hashlib.sha256(self.model_dump_json().encode("utf-8", "surrogatepass")).hexdigest()


class ReleasedRun(Model):
    """What the public files say of one model's run on one case; tiers are keyed by dimension, then entity."""

    status: str = ""
    overall_pct: float | None = None
    verdict: str = ""
    searches: int | None = None
    visits: int | None = None
    seconds: float | None = None
    tiers: Mapping[str, Mapping[str, float | None]] = Field(default_factory=dict)
    rationales: Mapping[str, str] = Field(default_factory=dict)


DEFAULT_FAMILIES: Mapping[str, Family] = {
    "Q1": Family.RETRIEVAL,
    "Q2": Family.DERIVATION,
    "Q3": Family.DERIVATION,
    "Q4": Family.DERIVATION,
    "Q5": Family.DERIVATION,
    "Q6": Family.CALIBRATION,
    "Q7": Family.REASONING,
    "Q8": Family.REASONING,
}
"""The benchmark's convention by position (1 / 4 / 1 / 2)."""

FAMILY_WEIGHTS: Mapping[Family, float] = {
    Family.RETRIEVAL: 1,
    Family.DERIVATION: 4,
    Family.CALIBRATION: 1,
    Family.REASONING: 2,
}


def overall(families: Mapping[Family, float]) -> float:
    """(R + 4 D + C + 2 Re) / 8, in the unit of the families' scores."""
    return sum(weight * families[family] for family, weight in FAMILY_WEIGHTS.items()) / sum(FAMILY_WEIGHTS.values())


def verdict(percent: float) -> str:
    """too_easy above 35, pass from 20 to 35, too_hard below 20; `percent` is the task's score x100."""
    return "too_easy" if percent > 35 else "pass" if percent >= 20 else "too_hard"


def family_of(dimension: Dimension, order: int, families: Mapping[str, Family]) -> Family:
    """The family of the dimension at `order` (from 0): the file's own, else by id or position; the rest reasons."""
    found = dimension.family or families.get(dimension.id) or families.get(f"Q{order + 1}")
    return found or Family.REASONING
