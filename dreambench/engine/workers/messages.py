"""What crosses a channel, as JSON: calls without their bodies, cells, judgments, and errors by what is decided on them.

Nothing is pickled. An error that only says something arrives as the class that the engine and the gateway look at.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

from dreambench.engine.budget import BudgetReached
from dreambench.engine.call import Call
from dreambench.engine.cell import Cell
from dreambench.engine.gateway import RunEndedError
from dreambench.engine.workers.channel import Message
from dreambench.errors import AnswerError, CacheMissError, InputError, Problem, ProviderError, TransientError
from dreambench.records import Evidence, Judgment, Status

_CALL = ("provider", "account", "model", "role", "repeat", "metered")
_SAID: Mapping[str, Callable[[str], Exception]] = {
    "CacheMissError": CacheMissError,
    "BudgetReached": BudgetReached,
    "RunEndedError": RunEndedError,
}
"""Errors that hold their message and nothing else."""


class WorkerError(TransientError):
    """Trouble that hit a cell in a worker; `code` is what the same error would have had in this process."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class LeasedCall(Call):
    """A call whose body stays with the worker: the driver knows its key."""

    given: str = ""

    @cached_property
    def key(self) -> str:
        return self.given


def call_to_json(call: Call) -> Message:
    """A call without its body: the body stays with the worker."""
    return {"key": call.key, **{name: getattr(call, name) for name in _CALL}}


def call_from_json(data: Mapping[str, Any]) -> LeasedCall:
    """The call as the driver sees it, under the key that the worker gave it."""
    return LeasedCall(body={}, given=data["key"], **{name: data[name] for name in _CALL})


def cell_to_json(cell: Cell) -> Message:
    """Every field of a cell; all of them are plain JSON."""
    return {field.name: getattr(cell, field.name) for field in fields(Cell)}


def judgments_to_json(judgments: Sequence[Judgment]) -> list[Message]:
    """Item rows in their order, evidence as lists of objects."""
    return [asdict(judgment) for judgment in judgments]


def judgments_from_json(rows: Sequence[Mapping[str, Any]]) -> list[Judgment]:
    """The rows that `judgments_to_json` wrote."""
    return [
        Judgment(
            **{**row, "status": Status(row["status"]), "evidence": tuple(Evidence(**evidence) for evidence in row["evidence"])}
        )
        for row in rows
    ]


def error_to_json(error: Exception) -> Message:
    """An error as what engine and gateway decide on: its kind, code and whether waiting helps; a bug with its traceback."""
    name, message = type(error).__name__, str(error)
    if isinstance(error, ProviderError):
        told = {"code": error.code, "retry_after": error.retry_after, "permanent": error.permanent, "fatal": error.fatal}
        return {"is": "ProviderError", "message": message, **told}
    if isinstance(error, AnswerError):
        return {"is": "AnswerError", "message": message, "code": error.code}
    if name in _SAID:
        return {"is": name, "message": message}
    if isinstance(error, TransientError):
        return {"is": "TransientError", "message": message, "code": getattr(error, "code", name)}
    if isinstance(error, InputError):
        return {"is": "InputError", "problems": [asdict(problem) for problem in error.problems]}
    if isinstance(error, OSError) and error.errno is not None:
        return {"is": "OSError", "args": [error.errno, error.strerror, str(error.filename or "")]}
    return {"is": "bug", "message": f"{name}: {message}", "trace": "".join(traceback.format_exception(error))}


def error_from_json(data: Mapping[str, Any]) -> Exception:
    """The error that `error_to_json` wrote, of a class that is decided on in the same way."""
    kind = data["is"]
    if kind == "ProviderError":
        told = {name: data[name] for name in ("code", "retry_after", "permanent", "fatal")}
        return ProviderError(data["message"], **told)
    if kind == "AnswerError":
        return AnswerError(data["message"], code=data["code"])
    if kind in _SAID:
        return _SAID[kind](data["message"])
    if kind == "TransientError":
        return WorkerError(data["message"], code=data["code"])
    if kind == "InputError":
        return InputError(*(Problem(**problem) for problem in data["problems"]))
    if kind == "OSError":
        return OSError(*data["args"])
    bug = RuntimeError(data["message"])
    bug.add_note(f"in a worker:\n{data['trace']}")
    return bug
