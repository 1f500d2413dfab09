"""Items about one report that a judge gives one of a few labels: asked in batches, and turned into rows.

The rubric is of kind `checklist` with the labels as its `answers`. An item that comes back without an answer is asked for
once more, and no third time. The first batch goes ahead alone, so that the report is in the provider's prompt cache.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dreambench.errors import ConfigError, Problem
from dreambench.evaluators.workflow import ask_each
from dreambench.judges.judge import Judge
from dreambench.judges.kinds.checklist import Answer, Item, answers_of
from dreambench.judges.quotes import check_quote
from dreambench.judges.rubric import Rubric
from dreambench.metrics.asking import Failed, ask, failed_row
from dreambench.metrics.metric import Subject
from dreambench.records import Judgment, Status, item_id

LEFT_OUT = Failed(Status.JUDGE_ERROR, "missing_answer", "the judge left this item out twice")


@dataclass(frozen=True, slots=True)
class Given:
    """An item's answer, or why there is none, and its share of the call's price in US dollars."""

    answer: Item | Failed
    cost: float | None = None


def context_of(subject: Subject) -> dict[str, str | None]:
    """What every question about a report is asked with."""
    as_of = subject.task.as_of.isoformat() if subject.task.as_of else None
    return {"question": subject.task.query, "as_of": as_of, "report": subject.report.text}


async def ask_items(
    judge: Judge, rubric: Rubric, subject: Subject, texts: Sequence[str], *, repeat: int, batch: int | None
) -> list[Given]:
    """The answers to `texts` in their order; at most `batch` of them in one call, None: all in one."""
    size = batch or len(texts) or 1
    batches = [texts[start : start + size] for start in range(0, len(texts), size)]

    async def one(part: Sequence[str]) -> list[Given]:
        return await _ask_batch(judge, rubric, subject, {f"i{number}": text for number, text in enumerate(part, 1)}, repeat)

    return list(itertools.chain(*await ask_each(judge, one, batches)))


async def _ask_batch(judge: Judge, rubric: Rubric, subject: Subject, wanted: dict[str, str], repeat: int) -> list[Given]:
    given: dict[str, Given] = {}
    for _ in range(2):
        missing = {name: text for name, text in wanted.items() if name not in given}
        if not missing:
            break
        answer = await ask(judge, rubric, repeat=repeat, **context_of(subject), items=missing)
        if isinstance(answer, Failed):
            return [given.get(name, Given(answer)) for name in wanted]
        assert isinstance(answer, Answer)
        found = answer.by_id()
        share = None if answer.cost is None else answer.cost / (len(found) or 1)
        given |= {name: Given(item, share) for name, item in found.items()}
    return [given.get(name, Given(LEFT_OUT)) for name in wanted]


def item_row(
    subject: Subject, text: str, family: str, given: Given, values: Mapping[str, float | None], weight: float = 1.0
) -> Judgment:
    """The row of an item at the words of the report that decide it; a quote that stands nowhere in it marks the row."""
    identity = item_id(subject.task.id, f"{family} {text}")
    if isinstance(given.answer, Failed):
        return replace(failed_row(identity, family, "", given.answer), weight=weight)
    quote = given.answer.quote.strip()
    place = check_quote(quote, subject.report.text) if quote else None
    return Judgment(
        identity,
        family,
        given.answer.answer,
        values[given.answer.answer],
        weight=weight,
        reason_code="quote_not_found" if quote and place is None else "",
        rationale=f"{text} ({given.answer.reason})",
        report_start=place.start if place else None,
        report_end=place.end if place else None,
        cost=given.cost,
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
