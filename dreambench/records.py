"""The rows that flow through a run: tasks and reports go in, judgments come out.

Everything else (arms, cells, scores) refers to these by id. They are plain frozen dataclasses: they are hashed for a
run's identity, written to the journal and turned into polars tables.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import date
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Task:
    """One query, asked as of a date (None: unknown), in a language (`en`, `zh`) and a domain."""

    id: str
    query: str
    dataset: str
    as_of: date | None = None
    domain: str = ""
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Report:
    """One agent's answer to a task. `source` says where it was read (`file:line`), for error messages only."""

    task_id: str
    agent: str
    text: str
    source: str = ""

    @property
    def id(self) -> str:
        """Content address of the report: same task, agent and text, same id."""
        return short_hash("report", self.task_id, self.agent, self.text)


class Status(StrEnum):
    """What became of an item. Only `scored` rows carry a value that enters a score."""

    SCORED = "scored"
    NOT_APPLICABLE = "not_applicable"
    UNANSWERED = "unanswered"
    MISSING_RUN = "missing_run"
    JUDGE_ERROR = "judge_error"
    TOOL_ERROR = "tool_error"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a judgment rests on: a page (with its stored snapshot and date) and the quoted words."""

    url: str = ""
    snapshot: str = ""
    published: str = ""
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Judgment:
    """One judged item of one report: a claim's verdict, a checklist answer, a sub-dimension score.

    `value` is in [0, 1] or None; `weight` is the item's share inside its family. `report_start` and `report_end` are
    character offsets into the report's text, None when the item concerns the whole report. `item` is stable between
    runs (see `item_id`), so two runs can be matched row by row.
    """

    item: str
    family: str
    label: str
    value: float | None
    status: Status = Status.SCORED
    weight: float = 1.0
    reason_code: str = ""
    rationale: str = ""
    report_start: int | None = None
    report_end: int | None = None
    evidence: tuple[Evidence, ...] = ()
    cost: float | None = None


def short_hash(*parts: str) -> str:
    """First 16 hex digits of SHA-256 over the parts; parts are length-prefixed, so no two lists collide by joining."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()[:16]


def item_id(task_id: str, text: str, start: int | None = None, end: int | None = None) -> str:
    """Identity of a judged item: task, span and case- and space-folded text."""
    folded = " ".join(text.casefold().split())
    return short_hash("item", task_id, str(start), str(end), folded)
