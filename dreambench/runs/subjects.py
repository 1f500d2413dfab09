"""What a cell judges: its report, as it is or as its arm changed it, read off the event loop and once for its neighbours."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from dreambench.documents import Span
from dreambench.documents.hostile import Judged, Passage, read_hostile
from dreambench.engine.cell import Cell
from dreambench.engine.compute import compute
from dreambench.judges.judge import Judge
from dreambench.judges.untrusted import Hostile
from dreambench.metrics.metric import Subject
from dreambench.perturbations import Perturbation, Perturbed
from dreambench.records import Judgment, Report, Task
from dreambench.runs.assembly import Parts
from dreambench.runs.folder import write_text
from dreambench.tools.corpus import Corpus

KEPT = 8
"""Subjects in memory beside those that open cells hold: cells of one text are neighbours, so a few are enough."""


@dataclass(frozen=True)
class JudgedSubject(Subject):
    """A subject whose text is the judged text of a report: without hidden text and passages addressed to the judge."""

    judged: Judged
    given: Report = field(kw_only=True)
    """The report as it was handed in."""

    def placed(self, judgments: Iterable[Judgment]) -> list[Judgment]:
        """The judgments with their places in the text that was handed in."""
        return [self._placed(judgment) for judgment in judgments]

    def _placed(self, judgment: Judgment) -> Judgment:
        if judgment.report_start is None or judgment.report_end is None or not self.judged.passages:
            return judgment
        place = self.judged.original(Span(judgment.report_start, judgment.report_end))
        return replace(judgment, report_start=place.start, report_end=place.end)


def judge_subject(task: Task, report: Report, hostile: Hostile = "cut") -> JudgedSubject:
    """What is judged of a report. With `show` visible passages stay in."""
    judged = read_hostile(report.text, visible=hostile == "cut")
    shown = replace(report, text=judged.text) if judged.passages else report
    return JudgedSubject(task, shown, judged, given=report)


class Subjects:
    """`await subjects.get(cell)`; cells that want the same report of the same arm at the same time share the work.

    A changed report and its edit log are written below `folder` (`<arm>/<task>--<agent>.md` and `.json`), so that a study can
    check what was planted and whether it was found.
    """

    def __init__(self, parts: Parts, folder: Path, keep: int = KEPT) -> None:
        self._parts = parts
        self._folder = folder
        self._keep = keep
        self.passages: dict[str, tuple[Passage, ...]] = {}
        """Hostile passages of the reports as they were handed in, by report, where they were looked for."""
        self._made: OrderedDict[tuple[str, str, Hostile], asyncio.Task[JudgedSubject]] = OrderedDict()

    async def get(self, cell: Cell) -> JudgedSubject:
        """The cell's subject. Raises TransientError where an author model fails."""
        judge = self._parts.judges.get(cell.judge)
        subject = await self._shared(cell.report, cell.arm, judge.hostile if judge else "cut")
        if self._parts.metrics[cell.metric].reads_document:
            await _take_apart(subject)
        return subject

    async def _shared(self, report_id: str, arm: str, hostile: Hostile) -> JudgedSubject:
        key = (report_id, arm, hostile)
        task = self._made.get(key)
        if task is None or (task.done() and task.exception() is not None):
            task = self._made[key] = asyncio.create_task(self._make(report_id, arm, hostile))
            if len(self._made) > self._keep:
                self._made.popitem(last=False)
        self._made.move_to_end(key)
        return await asyncio.shield(task)

    async def _make(self, report_id: str, arm: str, hostile: Hostile) -> JudgedSubject:
        report = self._parts.report(report_id)
        task = self._parts.task(report.task_id)
        if not arm:
            made = await compute(judge_subject, task, report, hostile)
            if hostile == "cut":
                self.passages[report.id] = made.judged.passages
            return made
        clean: Subject = await self._shared(report_id, "", hostile)
        if clean.report is not report:
            clean = Subject(task, report)
        await _take_apart(clean)
        changed = await _apply(self._parts.arms[arm], clean, self._parts.tools.corpus, self._parts.author)
        await asyncio.to_thread(self._write, arm, clean, changed)
        return await compute(judge_subject, task, changed.report, hostile)

    def _write(self, arm: str, clean: Subject, changed: Perturbed) -> None:
        path = changed_path(self._folder, arm, clean.task.id, clean.report.agent)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, changed.report.text)
        write_text(path.with_suffix(".json"), json.dumps(asdict(changed.log), ensure_ascii=False, indent=1))


async def _take_apart(subject: Subject) -> None:
    if not subject.is_parsed:
        await compute(lambda: subject.document)


async def _apply(arm: Perturbation, clean: Subject, corpus: Corpus | None, author: Judge | None) -> Perturbed:
    """Rules are work for a thread; a model as author is asked through the gateway, on this loop."""
    wanted = arm.apply(clean.task, clean.report, clean.document, corpus, author)
    return await wanted if arm.author == "llm" else await asyncio.to_thread(asyncio.run, wanted)


def changed_path(folder: Path, arm: str, task: str, agent: str) -> Path:
    """Where the changed text of a report lies below `folder`; its edit log is beside it, as `.json`."""
    return folder / _file_name(arm) / f"{_file_name(f'{task}--{agent}')}.md"


def _file_name(text: str) -> str:
    """`text` with what file systems dislike replaced."""
    return "".join(char if char.isalnum() or char in "-_.[]," else "_" for char in text)
