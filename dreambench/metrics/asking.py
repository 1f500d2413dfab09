"""Questions about items: the answer, or the status and reason that go into the row instead of a value.

Only trouble at a boundary becomes a row. A budget that is reached, a run that is interrupted and an input error leave the
cell as a whole: it stays owed, or the run stops.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from dreambench.errors import AnswerError, CacheMissError, ProviderError, TransientError
from dreambench.judges.judge import Judge
from dreambench.judges.kinds import Answer
from dreambench.judges.kinds.checklist import Answer as Checklist
from dreambench.judges.kinds.checklist import Item
from dreambench.judges.rubric import Rubric
from dreambench.records import Judgment, Status

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Failed:
    """Why an item has no value. The item is owed on resume and never enters a score."""

    status: Status
    reason_code: str
    message: str


LEFT_OUT = Failed(Status.JUDGE_ERROR, "missing_answer", "the judge left this item out twice")
ASKS = 2
"""How often items are asked for: once, and once more for what the first answer lacks."""
Given = tuple[Item | Failed, float | None]
"""An item's answer, or why there is none, and its share of the call's price in US dollars."""


def failed_row(
    item: str, family: str, label: str, failed: Failed, start: int | None = None, end: int | None = None
) -> Judgment:
    """The row of an item that could not be judged: no value, the status and the reason."""
    return Judgment(
        item,
        family,
        label,
        None,
        failed.status,
        reason_code=failed.reason_code,
        rationale=failed.message,
        report_start=start,
        report_end=end,
    )


async def reach(look_up: Awaitable[T]) -> T | Failed:
    """What a tool found, or our own trouble in reaching it (a dead page is an answer, a timeout is trouble)."""
    try:
        return await look_up
    except CacheMissError:
        raise
    except TransientError as error:
        if isinstance(error, ProviderError) and error.fatal:
            raise
        code = error.code if isinstance(error, ProviderError) else type(error).__name__
        return Failed(Status.TOOL_ERROR, code, str(error))


async def ask(judge: Judge, rubric: Rubric, *, repeat: int, **context: Any) -> Answer | Failed:
    """The judge's typed answer, or what went wrong, for one item."""
    try:
        return await judge.ask(rubric, repeat=repeat, **context)
    except CacheMissError:
        raise
    except TransientError as error:
        if isinstance(error, ProviderError) and error.fatal:
            raise
        code = error.code if isinstance(error, ProviderError | AnswerError) else type(error).__name__
        return Failed(Status.JUDGE_ERROR, code, str(error))


async def ask_keyed(
    judge: Judge, rubric: Rubric, wanted: Mapping[str, str], *, repeat: int, left_out: Failed = LEFT_OUT, **context: Any
) -> dict[str, Given]:
    """An answer to each of `wanted` (id to text), all in one call, or why there is none; in the order of `wanted`.

    `rubric` is of a kind whose answers have a key per item. What comes back without an answer is asked for once more, alone,
    and no third time: it is then `left_out`.
    """
    given: dict[str, Given] = {}
    for _ in range(ASKS):
        missing = {name: text for name, text in wanted.items() if name not in given}
        if not missing:
            break
        answer = await ask(judge, rubric, repeat=repeat, **context, items=missing)
        if isinstance(answer, Failed):
            return {name: given.get(name, (answer, None)) for name in wanted}
        assert isinstance(answer, Checklist)
        found = answer.by_id()
        share = None if answer.cost is None else answer.cost / (len(found) or 1)
        given |= {name: (item, share) for name, item in found.items()}
    return {name: given.get(name, (left_out, None)) for name in wanted}
