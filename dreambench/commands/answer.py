"""`python -m dreambench answer`: lets models answer the matrix tasks of a data set, with tools and within the budgets.

answer [--out FOLDER] [--calls N] [--seconds N] [OVERRIDE ...]
    dataset=deepweb dataset.path=... judge=litellm judge.litellm.model=... tools=web_serper page.contact=YOU

Score what it wrote:
    dataset=deepweb dataset.path=... dataset.answers=FOLDER/model_answers.jsonl metric=deepweb
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dreambench.commands.exits import Exit
from dreambench.errors import ConfigError, InputError, Problem, nearest

if TYPE_CHECKING:
    from dreambench.config.schema import RunConfig
    from dreambench.evaluators.agent import AgentLimits
    from dreambench.systems.deepweb.answering import Outcome

OPTIONS = ("--out", "--calls", "--seconds")


def answer(arguments: Sequence[str]) -> int:
    """Answers what is not answered yet; exit code 2 when some of it is owed. Raises InputError."""
    from dreambench.commands.verbs import configure
    from dreambench.systems.deepweb.answering import ANSWERS, LIMITS

    values, overrides = _take_apart(arguments)
    changed = {name: _number(f"--{name}", values[f"--{name}"]) for name in ("calls", "seconds") if f"--{name}" in values}
    limits = LIMITS.model_copy(update=changed)
    folder = Path(values.get("--out", "answers"))
    outcome = asyncio.run(_answer(configure(overrides), folder, limits))
    done = f"{len(outcome.answered)} answered, {len(outcome.before)} from before"
    sys.stdout.write(f"{folder / ANSWERS}: {done}, {len(outcome.owed)} owed\n")
    for name, why in outcome.owed.items():
        sys.stderr.write(f"owed: {name}: {why}\n")
    return Exit.INCOMPLETE if outcome.owed else Exit.DONE


def _take_apart(arguments: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The verb's own options by name, and the overrides."""
    words, values, overrides = list(arguments), dict[str, str](), list[str]()
    while words:
        word = words.pop(0)
        name, equals, text = word.partition("=")
        if name in OPTIONS:
            if not equals and not words:
                raise ConfigError(Problem(word, "has no value", type=f"{word} VALUE"))
            values[name] = text if equals else words.pop(0)
        elif name in ("--config-dir", "-cd"):
            overrides += [word] if equals else [word, *words[:1]]
            words = words if equals else words[1:]
        elif word.startswith("--"):
            near = nearest(name, OPTIONS)
            raise ConfigError(Problem(word, f"is no option of answer{f'; did you mean {near}?' if near else ''}", OPTIONS))
        else:
            overrides.append(word)
    return values, overrides


def _number(name: str, text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise ConfigError(Problem(name, f"is {text!r}, a whole number from 1 is needed", type=f"{name} 200"))
    return int(text)


async def _answer(config: RunConfig, folder: Path, limits: AgentLimits) -> Outcome:
    from dreambench.commands.verbs import open_gateway
    from dreambench.config.locations import bundled
    from dreambench.config.nodes import build
    from dreambench.judges.rubric import RubricShelf
    from dreambench.runs.assembly import build_judges, build_tools
    from dreambench.systems.deepweb.answering import MatrixAnswerer, answer_all
    from dreambench.systems.deepweb.dataset import MatrixDataset

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
