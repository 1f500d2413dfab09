"""answer [--out FOLDER] [--calls N] [--seconds N] [OVERRIDE ...]: lets models answer the matrix tasks of a data set.

    answer dataset=deepweb dataset.path=... judge=litellm judge.litellm.model=... tools=web_serper page.contact=YOU

The models are those of `judge`, the tools web_search, page_visit and pdf_fetch as far as `tools` has them; nothing of the
reference is shown. The same command again asks for what is owed only. Score what it wrote:

    dataset=deepweb dataset.path=... dataset.answers=FOLDER/model_answers.jsonl metric=deepweb
"""

from __future__ import annotations

import asyncio
import sys
from argparse import ArgumentTypeError
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dreambench.commands.exits import Exit
from dreambench.commands.verbs import VerbParser, configure, open_gateway, say, split_overrides
from dreambench.errors import InputError, Problem

if TYPE_CHECKING:
    from dreambench.config.schema import RunConfig
    from dreambench.evaluators.agent import AgentLimits
    from dreambench.metrics.deepweb.answering import Outcome


def answer(arguments: Sequence[str]) -> int:
    """Answers what is not answered yet; exit code 2 when some of it is owed. Raises InputError."""
    from dreambench.metrics.deepweb.answering import ANSWERS, LIMITS

    overrides, others = split_overrides(arguments)
    parser = VerbParser("answer", __doc__)
    parser.add_argument("--out", type=Path, default=Path("answers"), help="the folder that is written to (default: answers)")
    parser.add_argument("--calls", default=LIMITS.calls, type=_count, help="tool calls per task (default: 200)")
    parser.add_argument("--seconds", default=LIMITS.seconds, type=_count, help="seconds per task (default: 1800)")
    given = parser.parse_args(others)
    limits = LIMITS.model_copy(update={"calls": given.calls, "seconds": given.seconds})
    outcome = asyncio.run(_answer(configure(overrides), given.out, limits))
    done = f"{len(outcome.answered)} answered, {len(outcome.before)} from before"
    say(f"{given.out / ANSWERS}: {done}, {len(outcome.owed)} owed")
    for name, why in outcome.owed.items():
        sys.stderr.write(f"owed: {name}: {why}\n")
    return Exit.INCOMPLETE if outcome.owed else Exit.DONE


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is no whole number from 1")
    return int(text)


async def _answer(config: RunConfig, folder: Path, limits: AgentLimits) -> Outcome:
    from dreambench.config.locations import bundled
    from dreambench.config.nodes import build
    from dreambench.judges.rubric import RubricShelf
    from dreambench.metrics.deepweb.answering import MatrixAnswerer, answer_all
    from dreambench.metrics.deepweb.dataset import MatrixDataset
    from dreambench.runs.assembly import build_judges, build_tools

    with open_gateway(config) as gateway:
        loader = build("dataset", {**config.dataset, "tasks": "all"})
        dataset = loader.load(config.run_date)
        if not isinstance(dataset, MatrixDataset):
            raise InputError(Problem("dataset", "has no matrix tasks to answer", type="dataset=deepweb dataset.path=..."))
        tools, judges = build_tools(config, gateway, loader), build_judges(config.judge, gateway)
        missing = [*tools.needs(), *(problem for judge in judges.values() for problem in judge.needs())]
        if missing:
            raise InputError(*missing)
        shelf = RubricShelf([*config.paths.rubrics, bundled("rubrics")])
        try:
            answerers = [
                (name, MatrixAnswerer(judge=judge, tools=tools, shelf=shelf, limits=limits)) for name, judge in judges.items()
            ]
            await tools.open()
            return await answer_all(answerers, dataset.tasks, dataset.matrices, folder)
        finally:
            await tools.close()
            for judge in judges.values():
                await judge.close()
