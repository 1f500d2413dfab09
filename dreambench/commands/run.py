"""`python -m dreambench ...`: compose, check, run or resume, show the table, make the study's figure."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from omegaconf import DictConfig, OmegaConf

from dreambench.commands.exits import Exit
from dreambench.commands.verbs import PLAIN_WIDTH
from dreambench.config.compose import run_command_line
from dreambench.config.explain import bad_choices, unknown_flags
from dreambench.errors import ConfigError, DreambenchError, InputError

if TYPE_CHECKING:
    from rich.console import Console

    from dreambench.config.schema import RunConfig
    from dreambench.engine.engine import Outcome
    from dreambench.runs.execute import RunResult

SHOWN_OWED = 12
SHOWN_CAUSES = 3


def run(arguments: Sequence[str]) -> int:
    """Runs the command line; returns the worst exit code of its jobs. Raises InputError and what Hydra raises."""
    if problems := [*unknown_flags(arguments), *bad_choices(arguments)]:
        raise ConfigError(*problems)
    codes: list[int] = []
    errors: list[Exception] = []
    here = os.getpid()

    def job(composed: DictConfig) -> None:
        """Keeps an error from Hydra, which would print it before we can explain it; later jobs of a sweep are not begun."""
        if os.getpid() != here:
            _elsewhere(composed)
            return
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


def _elsewhere(composed: DictConfig) -> None:
    """A job that a launcher (submitit) runs in a process of its own. Raises DreambenchError for any end but done."""
    try:
        code = run_composed(composed)
    except InputError:
        raise
    except Exception as error:  # a bug too: only a class of ours, made of a text, crosses to another process as it is
        raise DreambenchError(f"{type(error).__name__}: {error}") from None
    if code != Exit.DONE:
        what = "the output of this job beside the launcher's files says why; the same command goes on"
        raise DreambenchError(f"a job of the sweep ended with exit code {int(code)}: {what}")


def run_composed(composed: DictConfig) -> int:
    """One job: a composed configuration from validation to figure."""
    from dreambench.engine.clock import Clock
    from dreambench.reporting.progress import RunProgress
    from dreambench.runs.assembly import validate
    from dreambench.runs.execute import execute

    clock = Clock()
    config = validate(composed, clock)
    text = OmegaConf.to_yaml(composed, resolve=True)
    gc.freeze()  # what modules hold stays to the end: collections need not look at them again
    result = asyncio.run(execute(config, text, RunProgress, clock))
    _show(result, config)
    return _exit_code(result)


def _show(result: RunResult, config: RunConfig) -> None:
    from rich.console import Console

    from dreambench.reporting.tables import print_run
    from dreambench.runs.execute import run_path

    console = Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH)
    notes = [f"{name}: {judge.note}" for name, judge in result.parts.judges.items() if judge.note]
    print_run(
        console, result.tables["scores"], result.tables["report_scores"], [*_owed_lines(result), *notes, *result.findings]
    )
    try:
        if config.study and result.outcome.complete:
            from dreambench.studies.findings import FINDINGS
            from dreambench.studies.study import make_study

            say = partial(console.print, highlight=False, markup=False, soft_wrap=True)
            written = make_study(config.study, result.folder, config.study_inputs)
            for path in written:
                if path.name == FINDINGS:
                    say(f"\n{path.read_text(encoding='utf-8')}")
            say(f"study: {len(written)} files in {run_path(result.folder.study)}")
    finally:  # what the run gave is said even where its study lacks an input
        _show_end(console, result)


def _show_end(console: Console, result: RunResult) -> None:
    from dreambench.reporting.page import write_page
    from dreambench.reporting.tables import ledger_lines
    from dreambench.runs.execute import run_path

    console.print(f"page: {run_path(write_page(result.folder))}", highlight=False, soft_wrap=True)
    for line in _threshold_lines(result):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    for line in ledger_lines(result.tables["calls"]):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    outcome = result.outcome
    console.print(
        f"{outcome.finished} cells judged, {outcome.before} from before, {outcome.owed} owed" + _going_on(outcome),
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
    console.print(f"written to {run_path(result.folder.root)}", highlight=False, soft_wrap=True)


def _owed_lines(result: RunResult) -> list[str]:
    """What the tables above do not cover, by agent, metric and judge."""
    if not result.owed:
        return []
    counts = Counter((cell.columns["agent"], cell.columns["metric"], cell.judge) for cell in result.owed)
    lines = [f"  {agent} / {metric} / {judge}: {count}" for (agent, metric, judge), count in sorted(counts.items())]
    more = [f"  ... {len(lines) - SHOWN_OWED} more"] if len(lines) > SHOWN_OWED else []
    return [
        "INCOMPLETE: these reports are owed, the tables cover the others only",
        *lines[:SHOWN_OWED],
        *more,
        *_causes(result),
    ]


def _causes(result: RunResult) -> list[str]:
    """What failed items say, alike ones once."""
    import polars as pl

    from dreambench.reporting.standing import OWED_STATUSES

    failed = result.tables["judgments"].filter(pl.col("status").is_in(OWED_STATUSES), pl.col("rationale") != "")
    said = failed.select(pl.format("  {}: {}", "reason_code", "rationale")).to_series().unique(maintain_order=True).to_list()
    more = [f"  ... {len(said) - SHOWN_CAUSES} more"] if len(said) > SHOWN_CAUSES else []
    return [*said[:SHOWN_CAUSES], *more]


def _threshold_lines(result: RunResult) -> list[str]:
    """What became of the run's thresholds; they are not looked at before the run is complete."""
    if result.parts.thresholds and not result.outcome.complete:
        return ["thresholds: not checked, the run is incomplete"]
    return [f"threshold {'reached' if one.passed else 'FAILED'}: {one}" for one in result.thresholds]


def _going_on(outcome: Outcome) -> str:
    """How an incomplete run is completed."""
    from dreambench.errors import CacheMissError

    if isinstance(outcome.stop_error, CacheMissError):
        return "; answers are missing: run once without cache.mode=replay to get them"
    if outcome.owed:
        return f"; {outcome.stopped or 'some answers failed'}; the same command again goes on"
    return ""


def _exit_code(result: RunResult) -> int:
    from dreambench.engine.budget import BudgetReached
    from dreambench.errors import ProviderError

    outcome = result.outcome
    if outcome.stopped == "interrupted":
        return Exit.INTERRUPTED
    if isinstance(outcome.stop_error, BudgetReached):
        return Exit.BUDGET
    if isinstance(outcome.stop_error, ProviderError):
        return Exit.USER_ERROR
    if not outcome.complete:
        return Exit.INCOMPLETE
    return Exit.DONE if all(one.passed for one in result.thresholds) else Exit.BELOW_THRESHOLD
