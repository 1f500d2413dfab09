"""Lets a model answer matrix tasks: three tools, 200 calls and 30 minutes, then one typed answer for every cell.

The model sees the question, the entities and the dimensions, and what its tools give; the reference and the rubric never leave
the data set. Answers are written in the shape of the release (`model_answers.jsonl`), so that they are scored like any other,
with the typed cells (`answer_cells.jsonl`) and the whole trace (`trajectories/`) beside them. What is there is not asked again.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dreambench.errors import InputError, Problem, ProviderError, TransientError
from dreambench.evaluators.agent import AgentEvaluator, AgentLimits, Job
from dreambench.evaluators.agent_trajectory import Trajectories, Trajectory
from dreambench.judges.judge import Judge
from dreambench.judges.kinds.matrix_answer import Answer, CellAnswer
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.deepweb.model import Key, MatrixTask
from dreambench.records import Task
from dreambench.tools.toolset import NoTools

TOOLS = ("web_search", "page_visit", "pdf_fetch")
LIMITS = AgentLimits(steps=200, calls=200, seconds=1800, result=20_000)
"""The benchmark's budgets."""
ANSWERS, CELLS = "model_answers.jsonl", "answer_cells.jsonl"
AT_ONCE = 4
"""Tasks that are worked on at the same time: the time budget of each runs while it waits."""


@dataclass(frozen=True, slots=True)
class MatrixAnswer:
    """One model's answer to one task."""

    case: str
    model: str
    markdown: str
    cells: Mapping[Key, CellAnswer]
    trajectory: Trajectory


@dataclass(slots=True)
class Outcome:
    """What became of the tasks: answered now, there before, and owed with the reason."""

    answered: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    owed: dict[str, str] = field(default_factory=dict)


class MatrixAnswerer:
    """Answers tasks with one judge and one tool set. Raises InputError where either cannot."""

    def __init__(self, *, judge: Judge, tools: NoTools, shelf: RubricShelf, limits: AgentLimits = LIMITS) -> None:
        self._judge, self._tools = judge, tools
        self._agent = AgentEvaluator(tools=tools, limits=limits)
        self._opening, self._closing = shelf.load("deepweb/research.default"), shelf.load("deepweb/answer.default")
        self._offered = [name for name in TOOLS if name in tools.tools]
        problems = [
            Problem(f"judge.{judge.name}", f"cannot answer matrix tasks: {why}", type="judge=litellm judge.litellm.model=...")
            for rubric in (self._opening, self._closing)
            if (why := judge.refusal(rubric))
        ]
        if not tools.searches:
            problems.append(Problem("tools", f"tools={tools.name} cannot search", type="tools=web_serper page.contact=YOU"))
        if problems:
            raise InputError(*problems)

    async def answer(self, task: Task, matrix: MatrixTask) -> MatrixAnswer:
        """The answer to every cell. Raises TransientError when a tool or the model gave nothing usable."""
        keys = {f"{dimension}_{number}": (dimension, entity) for number, (dimension, entity) in _numbered(matrix)}
        names = {dimension.id: dimension.name for dimension in matrix.dimensions}
        items = {cell: f"{key[0]}{f' ({names[key[0]]})' if names[key[0]] else ''}: {key[1]}" for cell, key in keys.items()}
        listed = "\n".join(items.values())
        job = Job(self._opening, self._closing, matrix.question, task.as_of, {"item": listed}, {"items": items}, self._offered)
        run = await self._agent.run(self._judge, job, role="answering")
        assert isinstance(run.answer, Answer)
        cells = {keys[cell]: given for cell, given in run.answer.by_id().items()}
        return MatrixAnswer(task.id, self._judge.name, as_markdown(matrix, cells), cells, run.trajectory)


def _numbered(matrix: MatrixTask) -> list[tuple[int, Key]]:
    places = {entity: number for number, entity in enumerate(matrix.entities, 1)}
    return [(places[entity], (dimension, entity)) for dimension, entity in matrix.cell_keys()]


def as_markdown(matrix: MatrixTask, cells: Mapping[Key, CellAnswer]) -> str:
    """The answer as a report: a section per dimension, a heading per cell, labelled lines; `find_cells` reads it back."""
    lines = [f"# {matrix.title or matrix.id}"]
    for dimension in matrix.dimensions:
        lines += ["", f"## {dimension.id} {dimension.name}".rstrip()]
        for entity in matrix.entities:
            given = cells.get((dimension.id, entity))
            if given is None:
                continue
            lines += ["", f"### {dimension.id} × {entity}", f"Answer: {_flat(given.answer)}"]
            said = {"Derivation": given.derivation, "Reason": given.reason, "Sources": ", ".join(given.sources)}
            lines += [f"{label}: {_flat(text)}" for label, text in said.items() if text.strip()]
    return "\n".join(lines) + "\n"


def _flat(text: str) -> str:
    return " ".join(text.split())


async def answer_all(
    answerers: Sequence[tuple[str, MatrixAnswerer]], tasks: Sequence[Task], matrices: Mapping[str, MatrixTask], folder: Path
) -> Outcome:
    """Every model on every task, written to `folder` as they come. A task whose work failed is owed and said."""
    folder.mkdir(parents=True, exist_ok=True)
    trajectories, outcome = Trajectories(), Outcome()
    trajectories.open(folder)
    there = _there(folder / ANSWERS)
    width = asyncio.Semaphore(AT_ONCE)

    async def one(model: str, answerer: MatrixAnswerer, task: Task) -> None:
        async with width:
            try:
                found = await answerer.answer(task, matrices[task.id])
            except TransientError as error:
                if isinstance(error, ProviderError) and error.fatal:
                    raise
                outcome.owed[record_id(model, task.id)] = str(error)
                return
        trajectories.keep(f"{task.id}-{model}", found.trajectory)
        _append(folder, found)
        outcome.answered.append(record_id(model, task.id))

    work = []
    for model, answerer in answerers:
        for task in tasks:
            if record_id(model, task.id) in there:
                outcome.before.append(record_id(model, task.id))
            else:
                work.append(one(model, answerer, task))
    await asyncio.gather(*work)
    return outcome


def record_id(model: str, case: str) -> str:
    """The release's way to name a run."""
    return f"{model}::{case}"


def _there(path: Path) -> set[str]:
    """The runs that are written; a torn last line is owed again."""
    found = set()
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        try:
            found.add(str(json.loads(line)["record_id"]))
        except (ValueError, KeyError):
            continue
    return found


def _append(folder: Path, found: MatrixAnswer) -> None:
    shared = {"record_id": record_id(found.model, found.case), "case_id": found.case, "model": found.model}
    cells = [
        {**shared, "dimension": dimension, "entity": entity, **given.model_dump()}
        for (dimension, entity), given in found.cells.items()
    ]
    _write(folder / CELLS, cells)
    ended, calls = found.trajectory.ended, found.trajectory.calls
    _write(
        folder / ANSWERS,
        [{**shared, "status": "ok", "ok": True, "ended": ended, "tool_calls": calls, "answer_md": found.markdown}],
    )


def _write(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Appends whole lines; what a torn write left behind is closed first."""
    torn = path.is_file() and path.stat().st_size > 0 and not path.read_bytes().endswith(b"\n")
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    with path.open("a", encoding="utf-8", errors="surrogatepass") as stream:
        stream.write(("\n" if torn else "") + text)
