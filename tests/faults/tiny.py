"""A tiny whole run in this process, against a server on loopback that counts: 2 reports, 20 questions to a model.

`attempt` is one start of the command as far as the run folder can tell; what differs from a real one is the front end only.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from polars.testing import assert_frame_equal

from dreambench.commands.run import _exit_code
from dreambench.config.compose import compose
from dreambench.engine.call import CallRecord
from dreambench.engine.cell import Cell
from dreambench.engine.clock import Clock
from dreambench.engine.journal import read_lines
from dreambench.errors import InputError
from dreambench.records import Judgment
from dreambench.runs.assembly import validate
from dreambench.runs.execute import RunResult, execute
from tests.apps.command import ROOT
from tests.support.openai_stub import OpenAIStub

SLICE = ROOT / "tests" / "data" / "drb_slice"
QUESTIONS = 20
QUICK = ["engine.retry.base=0.001", "engine.retry.longest=0.01", "engine.start=4", "engine.most=4"]


class Silent:
    """Progress that keeps why a run stopped."""

    def __init__(self, **_: Any) -> None:
        self.whys: list[str] = []

    def call_recorded(self, record: CallRecord) -> None: ...

    def cell_finished(self, cell: Cell, judgments: Sequence[Judgment]) -> None: ...

    def stopping(self, why: str) -> None:
        self.whys.append(why)

    def note(self, line: str) -> None:
        self.whys.append(line)

    def close(self) -> None: ...


@dataclass
class Tiny:
    """One folder with outputs and cache, and the server that answers."""

    folder: Path
    stub: OpenAIStub
    overrides: Sequence[str] = ()
    watch: type[Silent] = Silent
    clock: Clock = field(default_factory=Clock)

    def attempt(self, *more: str) -> RunResult:
        """Starts or resumes the run. Raises what the command line would put into words."""
        composed = compose(
            [
                "dataset=drb",
                f"dataset.reports={SLICE}",
                f"dataset.queries={SLICE / 'query.jsonl'}",
                "dataset.limit=1",
                "dataset.agents=[gpt-5,gpt-4.1]",
                "judge=litellm",
                "judge.litellm.model=openai/anything",
                f"judge.litellm.api_base={self.stub.url}",
                "metric=[wq,length]",
                f"paths.outputs={self.folder / 'outputs'}",
                f"paths.cache={self.folder / 'cache'}",
                *QUICK,
                *self.overrides,
                *more,
            ]
        )
        return asyncio.run(execute(validate(composed, self.clock), "config: tiny\n", self.watch, self.clock))

    @property
    def run(self) -> Path:
        (run,) = (path for path in (self.folder / "outputs").iterdir() if path.is_dir())
        return run

    @property
    def asked(self) -> Counter[str]:
        """How often each question arrived at the server."""
        return Counter(str(body["messages"]) for body in self.stub.bodies)

    @property
    def done(self) -> list[str]:
        """Cells that the journal has as done, once per line."""
        return [line["cell"] for line in read_lines(self.run / "journal.jsonl", "cell") if not line["owed"]]


def exit_code(result: RunResult) -> int:
    """What the command line would end with."""
    return int(_exit_code(result))


def words(error: BaseException) -> str:
    """What the command line would print."""
    return "\n".join(map(str, error.problems)) if isinstance(error, InputError) else str(error)


def same_numbers(one: Path, other: Path) -> None:
    """Item table and scores of two run folders are equal, down to the last digit."""
    for table in ("judgments", "scores", "report_scores"):
        assert_frame_equal(pl.read_parquet(one / f"{table}.parquet"), pl.read_parquet(other / f"{table}.parquet"))
