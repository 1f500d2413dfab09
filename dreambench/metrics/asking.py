"""One question for one item: the answer, or the status and reason that go into the row instead of a value.

Only trouble at a boundary becomes a row. A budget that is reached, a run that is interrupted and an input error leave the
cell as a whole: it stays owed, or the run stops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dreambench.errors import AnswerError, CacheMissError, ProviderError, TransientError
from dreambench.judges.judge import Judge
from dreambench.judges.kinds import Answer
from dreambench.judges.rubric import Rubric
from dreambench.records import Status


@dataclass(frozen=True, slots=True)
class Failed:
    """Why an item has no value. The item is owed on resume and never enters a score."""

    status: Status
    reason_code: str
    message: str


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
