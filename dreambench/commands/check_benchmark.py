"""`python -m dreambench check_benchmark`: may these matrix tasks be part of a benchmark? Five conditions, task by task.

check_benchmark [--pages] [OVERRIDE ...]     dataset=deepweb dataset.path=... [dataset.ids=[...]] [tools=pages page.contact=YOU]

--pages opens the addresses of the references with the tools of the overrides. Exit code 100 when a task fails a condition.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dreambench.commands.exits import Exit
from dreambench.errors import ConfigError, InputError, Problem, nearest

if TYPE_CHECKING:
    from dreambench.config.schema import RunConfig
    from dreambench.systems.deepweb.audit import Audit

FLAGS = ("--pages",)
SHOWN = 5
"""Faults of a condition that are spelled out; the rest is counted."""


def check_benchmark(arguments: Sequence[str]) -> int:
    """Prints every condition of every task. Raises InputError."""
    from dreambench.commands.verbs import configure

    flags = [word for word in arguments if word in FLAGS]
    for word in arguments:
        if word.startswith("--") and word not in FLAGS and not word.startswith("--config-dir"):
            near = nearest(word, FLAGS)
            what = f"is no option of check_benchmark{f'; did you mean {near}?' if near else ''}"
            raise ConfigError(Problem(word, what, FLAGS))
    config = configure([word for word in arguments if word not in FLAGS])
    audits = asyncio.run(_audit(config, pages="--pages" in flags))
    sys.stdout.write("".join(as_text(found) for found in audits))
    admitted = [found.admitted for found in audits]
    counts = f"{admitted.count(True)} admitted, {admitted.count(False)} not, {admitted.count(None)} open"
    sys.stdout.write(f"{len(audits)} tasks: {counts}\n")
    return Exit.BELOW_THRESHOLD if False in admitted else Exit.DONE


def as_text(found: Audit) -> str:
    """One task as people read it: a line per condition, the faults below."""
    words = {True: "passed", False: "FAILED", None: "open"}
    lines = [f"{found.task}: {'admitted' if found.admitted else 'open' if found.admitted is None else 'NOT admitted'}"]
    for check in found.checks:
        lines.append(f"  {check.condition.value}: {words[check.passed]} ({check.checked} checked)")
        for mark, said in (("-", check.faults), ("?", check.undecided)):
            lines += [f"    {mark} {one}" for one in said[:SHOWN]]
            lines += [f"    {mark} and {len(said) - SHOWN} more"] if len(said) > SHOWN else []
    return "\n".join(lines) + "\n"


async def _audit(config: RunConfig, *, pages: bool) -> list[Audit]:
    from dreambench.commands.verbs import open_gateway
    from dreambench.config.nodes import build
    from dreambench.runs.assembly import build_tools
    from dreambench.systems.deepweb.audit import audit
    from dreambench.systems.deepweb.dataset import MatrixDataset
    from dreambench.tools.results import Visit

    with open_gateway(config) as gateway:
        loader = build("dataset", {**config.dataset, "tasks": "all"})
        dataset = loader.load(config.run_date)
        if not isinstance(dataset, MatrixDataset):
            raise InputError(Problem("dataset", "has no matrix tasks", type="dataset=deepweb dataset.path=..."))
        tools = build_tools(config, gateway, loader)
        if pages and "page_visit" not in tools.tools:
            raise InputError(Problem("--pages", f"tools={tools.name} opens no pages", type="tools=pages page.contact=YOU"))
        if pages and (missing := tools.needs()):
            raise InputError(*missing)
        dates = {task.id: task.as_of for task in dataset.tasks}
        try:
            found = []
            for name, matrix in dataset.matrices.items():

                async def visit(url: str, name: str = name) -> Visit:
                    return await tools.page_visit(url, dates[name])

                found.append(await audit(matrix, visit if pages else None))
            return found
        finally:
            await tools.close()
