"""FACT stages that DeepResearch Bench's own pipeline wrote: extracted, deduplicated, scraped and validated JSON lines.

A record's stage is seen from its fields. Verdicts are taken as they are; a fact without one is `unanswered`, because an
earlier stage has none. As in the original, a page whose validation failed counts for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.judges.kinds.verify_facts import Label
from dreambench.metrics.fact.pairs import by_page
from dreambench.metrics.fact.table import Verdict, failed_report, no_citations, verdict_row
from dreambench.metrics.race.lookup import ByTask, read_by_task
from dreambench.records import Judgment, Status, Task

LABELS = get_args(Label)
NOT_VALIDATED = "not_validated"
NO_SUCH_FACT = "no_such_fact"

Stage = tuple[Verdict, ...] | None
"""The facts of one report with what is known about them; None when extraction failed."""


def read_saved(name: str, key: str) -> ByTask[tuple[Stage]]:
    """The facts by task of a file of any stage. Raises DatasetError with every problem."""
    return read_by_task(name, key, _read_record)


def saved_rows(task: Task, saved: ByTask[tuple[Stage]], values: Mapping[str, float | None]) -> list[Judgment]:
    """One row per fact and page; one row for a report that cites nothing, failed or is not in the file."""
    found = saved.of(task)
    if found is None:
        return [failed_report(task, Status.MISSING_RUN, "not_in_saved", f"{saved.path.name} has no task {task.id}")]
    (stage,) = found
    if stage is None:
        return [failed_report(task, Status.JUDGE_ERROR, "extraction_failed", "the saved extraction failed")]
    return [verdict_row(task, verdict, values) for verdict in stage] or [no_citations(task)]


def _read_record(row: Row, problems: Problems) -> tuple[Stage] | None:
    citations = row.values.get("citations")
    if isinstance(citations, str):
        return (None,)
    pages = row.values.get("citations_deduped")
    if isinstance(pages, dict) and citations != []:
        return (tuple(verdict for url, page in pages.items() for verdict in _page(row, url, page, problems)),)
    if not isinstance(citations, list):
        problems.add(row.path, row.line, "has neither field 'citations' (a list) nor 'citations_deduped'", sorted(row.values))
        return None
    pairs = [(str(c.get("fact") or ""), str(c.get("url") or "")) for c in citations if isinstance(c, dict)]
    if strange := len(citations) - sum(bool(fact and url) for fact, url in pairs):
        problems.add(row.path, row.line, f"field 'citations': {strange} entries have no fact or no url")
    return (tuple(_pending(page.url, fact) for page in by_page(pairs) for fact in page.facts),)


def _page(row: Row, url: str, page: Any, problems: Problems) -> Iterator[Verdict]:
    facts = page.get("facts") if isinstance(page, dict) else None
    if not isinstance(facts, list) or not all(isinstance(fact, str) for fact in facts):
        problems.add(row.path, row.line, f"field 'citations_deduped': {url} has no list of facts")
        return
    if (error := page.get("validate_error")) is not None:
        for fact in facts:
            yield Verdict(url, fact, "", Status.JUDGE_ERROR, "validate_error", str(error))
        return
    results = page.get("validate_res")
    if results is None:
        yield from (_pending(url, fact) for fact in facts)
        return
    judged = set()
    for result in results:
        index, label = (result.get("idx"), result.get("result")) if isinstance(result, dict) else (None, None)
        if not isinstance(label, str) or label not in LABELS or not isinstance(index, int):
            problems.add(row.path, row.line, f"{url}: {result!r} is no verdict", LABELS)
            continue
        judged.add(index)
        known = 0 <= index < len(facts)
        fact = facts[index] if known else f"fact {index} of {len(facts)}"
        yield Verdict(url, fact, label, reason_code="" if known else NO_SUCH_FACT)
    yield from (_pending(url, fact) for index, fact in enumerate(facts) if index not in judged)


def _pending(url: str, fact: str) -> Verdict:
    return Verdict(url, fact, "", Status.UNANSWERED, NOT_VALIDATED, "no verdict was saved")
