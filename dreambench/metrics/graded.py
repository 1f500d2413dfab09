"""Items about one report that a judge gives one of a few labels: asked in batches, and turned into rows.

The rubric is of kind `checklist` with the labels as its `answers`. An item that comes back without an answer is asked for
once more, and no third time. The first batch goes ahead alone, so that the report is in the provider's prompt cache.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dreambench.errors import ConfigError, Problem
from dreambench.evaluators.workflow import lead_first
from dreambench.judges.judge import Judge
from dreambench.judges.kinds.checklist import answers_of
from dreambench.judges.quotes import check_quote
from dreambench.judges.rubric import Rubric
from dreambench.metrics.asking import Failed, Given, ask_keyed, failed_row
from dreambench.metrics.metric import Subject
from dreambench.records import Judgment, Status, item_id


def context_of(subject: Subject) -> dict[str, Any]:
    """What every question about a report is asked with."""
    return {"question": subject.task.query, "as_of": subject.as_of, "report": subject.report.text}


async def ask_items(
    judge: Judge, rubric: Rubric, subject: Subject, texts: Sequence[str], *, repeat: int, batch: int | None
) -> list[Given]:
    """The answers to `texts` in their order; at most `batch` of them in one call, None: all in one."""
    size = batch or len(texts) or 1
    batches = [texts[start : start + size] for start in range(0, len(texts), size)]

    async def one(part: Sequence[str]) -> list[Given]:
        wanted = {f"i{number}": text for number, text in enumerate(part, 1)}
        return list((await ask_keyed(judge, rubric, wanted, repeat=repeat, **context_of(subject))).values())

    return list(itertools.chain(*await lead_first(judge, one, batches)))


def item_row(
    subject: Subject, text: str, family: str, given: Given, values: Mapping[str, float | None], weight: float = 1.0
) -> Judgment:
    """The row of an item at the words of the report that decide it; a quote that stands nowhere in it marks the row."""
    identity = item_id(subject.task.id, f"{family} {text}")
    answer, cost = given
    if isinstance(answer, Failed):
        return replace(failed_row(identity, family, "", answer), weight=weight)
    quote = answer.quote.strip()
    place = check_quote(quote, subject.report.text) if quote else None
    return Judgment(
        identity,
        family,
        answer.answer,
        values[answer.answer],
        weight=weight,
        reason_code="quote_not_found" if quote and place is None else "",
        rationale=f"{text} ({answer.reason})",
        report_start=place.start if place else None,
        report_end=place.end if place else None,
        cost=cost,
    )


def not_applicable(subject: Subject, code: str) -> Judgment:
    """The one row of a report that cannot be scored, with the reason."""
    return Judgment(item_id(subject.task.id, code), "report", code, None, Status.NOT_APPLICABLE, reason_code=code)


def missing_run(subject: Subject, file: str) -> Judgment:
    """The one row of a report that a saved file says nothing about."""
    why = f"{file} has nothing about task {subject.task.id}"
    return Judgment(
        item_id(subject.task.id, "not_in_saved"),
        "report",
        "not_in_saved",
        None,
        Status.MISSING_RUN,
        reason_code="not_in_saved",
        rationale=why,
    )


def check_labels(where: str, values: Mapping[str, float | None], rubric: Rubric) -> None:
    """Raises ConfigError unless every label of the rubric has a value in [0, 1] or null, and no other has one."""
    labels = answers_of(rubric.settings)
    problems = [
        Problem(f"{where}.{label}", f"is missing: {rubric.id} can answer it") for label in labels if label not in values
    ]
    problems += [Problem(f"{where}.{label}", "is no label", labels) for label in values if label not in labels]
    problems += [
        Problem(f"{where}.{label}", f"{value:g} is out of range", ["0 to 1", "null"])
        for label, value in values.items()
        if value is not None and not 0 <= value <= 1
    ]
    if problems:
        raise ConfigError(*problems)
