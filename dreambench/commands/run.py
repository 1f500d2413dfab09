"""`python -m dreambench ...`: compose, check, run or resume, show the table, make the study's figure."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from omegaconf import DictConfig, OmegaConf

from dreambench.commands.exits import Exit
from dreambench.config.compose import run_command_line
from dreambench.config.explain import duplicated_choices
from dreambench.errors import ConfigError

if TYPE_CHECKING:
    from dreambench.runs.execute import RunResult

PLAIN_WIDTH = 200
"""Columns of a table that is not printed to a terminal."""


def run(arguments: Sequence[str]) -> int:
    """Runs the command line; returns the worst exit code of its jobs. Raises InputError and what Hydra raises."""
    if problems := duplicated_choices(arguments):
        raise ConfigError(*problems)
    codes: list[int] = []
    errors: list[Exception] = []

    def job(composed: DictConfig) -> None:
        """Keeps an error from Hydra, which would print it before we can explain it; later jobs of a sweep are not begun."""
        if errors:
            return
        try:
            codes.append(run_composed(composed))
        except Exception as error:  # raised again below, unchanged
            errors.append(error)

    run_command_line(arguments, job)
    if errors:
        raise errors[0]
    return max(codes, default=Exit.DONE)


def run_composed(composed: DictConfig) -> int:
    """One job: a composed configuration from validation to figure."""
    from dreambench.engine.clock import Clock
    from dreambench.reporting.progress import RunProgress
    from dreambench.runs.assembly import validate
    from dreambench.runs.execute import execute

    clock = Clock()
    config = validate(composed, clock)
    text = OmegaConf.to_yaml(composed, resolve=True)
    result = asyncio.run(execute(config, text, RunProgress, clock))
    _show(result, config.study)
    return _exit_code(result)


def _show(result: RunResult, study: str | None) -> None:
    from rich.console import Console

    from dreambench.reporting.tables import print_run
    from dreambench.runs.execute import run_path

    console = Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH)
    notes = [f"{name}: {judge.note}" for name, judge in result.parts.judges.items() if judge.note]
    print_run(console, result.tables["scores"], [*notes, *result.findings])
    if study and result.outcome.complete:
        from dreambench.reporting.study import make_study

        for path in make_study(study, result.folder):
            console.print(f"study: {run_path(path)}", highlight=False, soft_wrap=True)
    outcome = result.outcome
    console.print(
        f"{outcome.finished} cells judged, {outcome.before} from before, {outcome.owed} owed"
        + (f" ({outcome.stopped}; the same command again goes on)" if outcome.stopped else ""),
        highlight=False,
    )
    console.print(f"written to {run_path(result.folder.root)}", highlight=False, soft_wrap=True)


def _exit_code(result: RunResult) -> int:
    from dreambench.engine.budget import BudgetReached
    from dreambench.errors import CacheMissError, ProviderError

    outcome = result.outcome
    if outcome.stopped == "interrupted":
        return Exit.INTERRUPTED
    if isinstance(outcome.stop_error, BudgetReached):
        return Exit.BUDGET
    if isinstance(outcome.stop_error, ProviderError | CacheMissError):
        return Exit.USER_ERROR
    return Exit.DONE if outcome.complete else Exit.INCOMPLETE
