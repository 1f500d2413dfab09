"""plan [OVERRIDE ...] [--json]: what a run would do and cost, without buying anything. Same overrides as the run.

Rehearses the run: cells, calls, tokens and cost (low, expected, high) by role and model. Answers in the cache and cells in
the run's journal are free; unknown prices stay unknown. Needs no key and makes no call over the network.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from dreambench.commands.exits import Exit
from dreambench.commands.verbs import VerbParser, configure, print_json, print_table, say, split_overrides

if TYPE_CHECKING:
    from dreambench.config.schema import RunConfig
    from dreambench.reporting.plan import PlanLine
    from dreambench.runs.assembly import Parts
    from dreambench.runs.rehearsal import Rehearsal


def plan(arguments: Sequence[str]) -> int:
    """Prints the plan. Raises InputError for everything that would keep the run from starting, keys apart."""
    overrides, others = split_overrides(arguments)
    parser = VerbParser("plan", __doc__)
    parser.add_argument("overrides", metavar="OVERRIDE", nargs="*", help="what the run would be started with")
    parser.add_json()
    given = parser.parse_args(others)
    config = configure([*overrides, *given.overrides])
    from dreambench.engine.clock import Clock
    from dreambench.reporting.plan import plan_lines, totals

    parts, rehearsal = asyncio.run(_rehearse(config))
    lines = plan_lines(rehearsal.asked, parts.judges.values())
    warnings = parts.retirement_lines(Clock().today())
    total = totals(lines)
    if given.json:
        print_json({**_plain(parts, rehearsal, lines, total), "warnings": warnings})
        return Exit.DONE
    _show(config, parts, rehearsal, lines, total)
    say(*warnings)
    return Exit.DONE


async def _rehearse(config: RunConfig) -> tuple[Parts, Rehearsal]:
    from dreambench.engine.journal import read_lines
    from dreambench.engine.store import AnswerStore, CacheMode
    from dreambench.runs.assembly import assemble
    from dreambench.runs.folder import RunFolder
    from dreambench.runs.rehearsal import PlanningGateway, rehearse
    from dreambench.runs.subjects import Subjects

    store = AnswerStore(CacheMode.REPLAY)
    gateway = PlanningGateway(store)
    parts = assemble(config, gateway)
    folder = RunFolder(config.paths.outputs / f"{parts.name}-{parts.run_id}")
    own = config.cache.mode in (CacheMode.OFF, CacheMode.REFRESH)
    done = {line["cell"]: not line["owed"] for line in read_lines(folder.journal, "cell")}
    with TemporaryDirectory() as temporary:
        shared = folder.answers if own else config.paths.cache
        store.open(shared=shared, run_local=folder.answers)
        parts.protocols.open(Path(temporary) / "protocols", config.paths.cache / "protocols", config.cache.mode)
        parts.trajectories.open(Path(temporary))
        try:
            if parts.tools.corpus is not None:
                await parts.tools.open()
            subjects = Subjects(parts, Path(temporary) / "perturbed")
            return parts, await rehearse(parts, gateway, subjects, lambda cell: done.get(cell.id, False))
        finally:
            await parts.protocols.close()
            await parts.tools.close()
            store.close()


def _show(config: RunConfig, parts: Parts, rehearsal: Rehearsal, lines: Sequence[PlanLine], total: PlanLine) -> None:
    import polars as pl

    from dreambench.reporting.plan import batch_lines, rounded, totals

    cells = ", ".join(f"{name} {count:,}" for name, count in rehearsal.cells.items())
    say(f"run {parts.name}-{parts.run_id}: {sum(rehearsal.cells.values()):,} cells to judge ({cells or 'none'})")
    say(f"{rehearsal.done:,} cells are done already")
    shown = [rounded(line) for line in lines]
    rows = [_row(line) for line in [*shown, totals(shown)]]
    print_table(pl.DataFrame(rows), "calls that would be bought: low – expected – high")
    say("prompt tokens: characters / 4 of the prompts as they are rendered, a CJK character one")
    say("answer tokens: a usual number per question kind, half to twice as many")
    if any(one.follows for one in rehearsal.asked):
        say("calls that follow an answer which is not there yet are estimated from stand-ins, half to twice as many")
    for metric, count in rehearsal.cut_short.items():
        say(f"{metric}: {count} cells wait for something that has to be made first; what they ask after that is not counted")
    say(*batch_lines(rehearsal.asked, parts.judges.values()))
    unknown = sorted({line.model for line in lines if line.cost is None})
    say(*(f"price unknown: {model}; give it: judge.<name>.price={{input:1.0,output:2.0}} ($ per million)" for model in unknown))
    budget = config.engine.budget.money
    if budget is not None and total.cost is not None:
        inside = "is inside" if total.cost["high"] <= budget else "may not be enough for"
        say(f"engine.budget.money={budget:g} {inside} this run")


def _row(line: PlanLine) -> dict[str, str]:
    return {
        "role": line.role,
        "model": line.model,
        "calls": _range(line.calls),
        "cached": f"{line.cached:,}",
        "in process": f"{line.local:,}",
        "prompt tokens": _range(line.prompt),
        "answer tokens": _range(line.answer),
        "cost": "unknown"
        if line.cost is None
        else " – ".join(f"${line.cost[side]:,.2f}" for side in ("low", "expected", "high")),
    }


def _range(sides: Any) -> str:
    low, expected, high = (f"{sides[side]:,.0f}" for side in ("low", "expected", "high"))
    return expected if low == expected == high else f"{low} – {expected} – {high}"


def _plain(parts: Parts, rehearsal: Rehearsal, lines: Sequence[PlanLine], total: PlanLine) -> dict[str, Any]:
    """The plan as JSON has it; costs in US dollars, null when unknown."""
    return {
        "run": parts.run_id,
        "cells": dict(rehearsal.cells),
        "cells_done": rehearsal.done,
        "cells_cut_short": dict(rehearsal.cut_short),
        "lines": [asdict(line) for line in lines],
        "total": asdict(total),
    }
