"""The two roots of every error: fix your input, or try again.

An `InputError` is raised before anything is spent and carries every problem found at once, each with its place, what is
wrong, what is allowed and what to type. A `TransientError` is trouble at a boundary (provider, page, disk): the work it
hit stays owed and is never turned into a score. Subclasses are named after the boundary that failed.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


def nearest(name: str, allowed: Iterable[str]) -> str | None:
    """The allowed name that `name` was probably meant to be, or None."""
    found = difflib.get_close_matches(name, list(allowed), n=1, cutoff=0.6)
    return found[0] if found else None


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to fix: `where` (file:line or config path), `what` is wrong, what is `allowed`, and what to `type`."""

    where: str
    what: str
    allowed: Sequence[str] = ()
    type: str | None = None

    def __str__(self) -> str:
        lines = [f"{self.where}: {self.what}"]
        if self.allowed:
            lines.append(f"  allowed: {', '.join(self.allowed)}")
        if self.type:
            lines.append(f"  type: {self.type}")
        return "\n".join(lines)


class DreambenchError(Exception):
    """Anything that dreambench raises on purpose."""


class InputError(DreambenchError):
    """Something the user can fix; holds all the problems that were found, in order."""

    def __init__(self, *problems: Problem) -> None:
        self.problems = problems
        super().__init__("\n".join(str(problem) for problem in problems))


class ConfigError(InputError):
    """The composed configuration is not valid."""


class DatasetError(InputError):
    """A file of tasks or reports cannot be used as it is."""


class DocumentError(InputError):
    """A report's bytes are not text that can be read."""


class RubricError(InputError):
    """A rubric template is missing or its front matter is wrong."""


class UnsupportedQuestionError(InputError):
    """A judge was asked for a question kind that it cannot answer."""


class TransientError(DreambenchError):
    """Trouble at a boundary; what it hit is owed and may succeed later."""


class ProviderError(TransientError):
    """A model provider or a page server could not be reached or answered with an error.

    `code` is short and stable (`rate_limited`, `server_error`, `connection`, `timeout`, `bad_request`, `auth`,
    `not_found`, `quota`), `retry_after` is the provider's own wish in seconds. `permanent` errors are not tried again;
    `fatal` ones (key refused, no such model) would hit every other call too and stop the run.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        retry_after: float | None = None,
        permanent: bool = False,
        fatal: bool = False,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.retry_after = retry_after
        self.permanent = permanent or fatal
        self.fatal = fatal

    def copy(self) -> ProviderError:
        """The same for somebody else: an error that several raise would gather the notes and the path of all."""
        wait = self.retry_after
        return ProviderError(str(self), code=self.code, retry_after=wait, permanent=self.permanent, fatal=self.fatal)


class AnswerError(TransientError):
    """A model answered, but not with a usable typed answer; `code` is `refusal`, `length` or `unreadable`."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


class CacheMissError(TransientError):
    """`cache.mode=replay` needed an answer that is not stored."""


class AwaitedError(DreambenchError):
    """An answer is on its way and this run does not wait for it any longer: a later attempt gets it, nothing is lost."""
