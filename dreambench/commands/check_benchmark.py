"""check-benchmark [--pages] [OVERRIDE ...]: may these matrix tasks be part of a benchmark? Five conditions, task by task.

    check-benchmark --pages dataset=deepweb dataset.path=... [dataset.ids=[...]] tools=pages page.contact=YOU

Addresses of the references are reachable (--pages opens them with the tools of the overrides), every cell has a reference,
derivations give the stated values, the capabilities are split as they should be, and the question gives nothing away.
Ends with 100 when a task fails a condition.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dreambench.commands.exits import Exit
from dreambench.commands.verbs import VerbParser, configure, open_gateway, print_json, say, split_overrides
from dreambench.errors import InputError, Problem

if TYPE_CHECKING:
    from dreambench.config.schema import RunConfig
    from dreambench.metrics.deepweb.audit import Audit

SHOWN = 5
"""Faults of a condition that are spelled out; the rest is counted."""


def check_benchmark(arguments: Sequence[str]) -> int:
    """Prints every condition of every task. Raises InputError."""
    overrides, others = split_overrides(arguments)
    parser = VerbParser("check-benchmark", __doc__)
    parser.add_argument("--pages", action="store_true", help="open the addresses of the references")
    parser.add_json()
    given = parser.parse_args(others)
    audits = asyncio.run(_audit(configure(overrides), pages=given.pages))
    admitted = [found.admitted for found in audits]
    counts = f"{admitted.count(True)} admitted, {admitted.count(False)} not, {admitted.count(None)} open"
    if given.json:
        print_json([as_json(found) for found in audits])
    else:
        say(*(as_text(found) for found in audits), f"{len(audits)} task{'s' * (len(audits) != 1)}: {counts}")
    return Exit.BELOW_THRESHOLD if False in admitted else Exit.DONE


def as_json(found: Audit) -> dict[str, Any]:
    """One task with all faults; `admitted` and `passed` are null where something could not be decided."""
    checks = [{**asdict(check), "passed": check.passed} for check in found.checks]
    return {"task": found.task, "admitted": found.admitted, "checks": checks}


def as_text(found: Audit) -> str:
    """One task as people read it: a line per condition, the faults below."""
    words = {True: "passed", False: "FAILED", None: "open"}
    lines = [f"{found.task}: {'admitted' if found.admitted else 'open' if found.admitted is None else 'NOT admitted'}"]
    for check in found.checks:
        lines.append(f"  {check.condition.value}: {words[check.passed]} ({check.checked} checked)")
        for mark, said in (("-", check.faults), ("?", check.undecided)):
            lines += [f"    {mark} {one}" for one in said[:SHOWN]]
            lines += [f"    {mark} and {len(said) - SHOWN} more"] if len(said) > SHOWN else []
    return "\n".join(lines)


async def _audit(config: RunConfig, *, pages: bool) -> list[Audit]:
    from dreambench.config.nodes import build
    from dreambench.metrics.deepweb.audit import audit
    from dreambench.metrics.deepweb.dataset import MatrixDataset
    from dreambench.runs.assembly import build_tools
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
