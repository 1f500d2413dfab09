"""LiveResearchBench as a metric, in five parts that can be asked for one by one: six calls a report.

`presentation`: ten yes/no questions on form. `coverage`: the task's checklist. `consistency`, `citation_association`: faults
are listed and the ladder is computed from them. `depth`: against the report of a reference agent, in both orders. Citation
accuracy, the paper's other citation protocol, was not released and is not here (`metric=ci` and `metric=fact` open cited
pages).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from dreambench.datasets.dataset import Dataset
from dreambench.datasets.demo import demo_file
from dreambench.datasets.liveresearchbench import fill_placeholders
from dreambench.errors import ConfigError, Problem
from dreambench.evaluators.workflow import together
from dreambench.judges.judge import Judge
from dreambench.judges.kinds.issues import Answer as Issues
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.asking import Failed, ask, failed_row
from dreambench.metrics.gold import covers, no_report_by
from dreambench.metrics.graded import ask_items, context_of, item_row, missing_run, not_applicable
from dreambench.metrics.judged_metric import SavedMetric
from dreambench.metrics.liveresearchbench.files import WINNERS, Gradings, issue_text, read_checklists, read_gradings
from dreambench.metrics.liveresearchbench.table import (
    CHECKLISTS,
    DEPTH,
    LADDERS,
    PARTS,
    Part,
    ladder_rows,
    outcome,
    outcome_row,
    part_variants,
)
from dreambench.metrics.metric import MissingPolicy, Subject, Variant
from dreambench.records import Judgment, Status, item_id

YES_NO: Mapping[str, float | None] = {"yes": 1.0, "no": 0.0}
ORDERS = ("target_first", "reference_first")


class LiveResearchBench(SavedMetric[Gradings]):
    """Presentation, coverage, consistency, citation association and depth."""

    id: ClassVar[str] = "liveresearchbench"
    reads_document: ClassVar[bool] = False

    def __init__(
        self,
        *,
        name: str,
        shelf: RubricShelf,
        parts: list[Part] | None = None,
        checklists: str | None = None,
        reference_agent: str | None = None,
        rubric: str = "default",
        saved: str | None = None,
        repeats: int = 1,
        missing_policy: MissingPolicy = MissingPolicy.EXCLUDE,
    ) -> None:
        """Raises DatasetError for a file that cannot be used, ConfigError when parts lack what they need."""
        where = f"metric.{name}"
        self._parts = [part for part in PARTS if parts is None or part in parts]
        problems = [] if self._parts else [Problem(f"{where}.parts", "is an empty list", PARTS)]
        if not saved and "coverage" in self._parts and not checklists:
            fix = f"{where}.checklists=questions.jsonl"
            problems.append(Problem(f"{where}.checklists", "is required for the part coverage", ["a file"], fix))
        if not saved and DEPTH in self._parts and not reference_agent:
            fix = f"{where}.reference_agent=AGENT"
            problems.append(Problem(f"{where}.reference_agent", "is required for the part depth", ["an agent"], fix))
        if problems:
            raise ConfigError(*problems)
        asked = {part: f"liveresearchbench/{part}" for part in self._parts}
        results = read_gradings(demo_file(saved, "liveresearchbench"), f"{where}.saved") if saved else None
        super().__init__(
            name=name, shelf=shelf, asked=asked, rubric=rubric, repeats=repeats, missing_policy=missing_policy, saved=results
        )
        listed = demo_file(checklists, "liveresearchbench.jsonl") if checklists and "coverage" in self._parts else None
        self._gold = read_checklists(listed, f"{where}.checklists") if listed else None
        self._agent = reference_agent if DEPTH in self._parts else None
        self._references: dict[str, str] = {}
        self.primary = self._parts[0]  # type: ignore[misc]

    def identity(self) -> Mapping[str, Any]:
        return {
            **super().identity(),
            "parts": self._parts,
            "checklists": self._gold.sha256 if self._gold else None,
            "reference": self._agent,
            **({} if self._saved else {"rubrics": self.rubric_hashes()}),
        }

    def prepare(self, dataset: Dataset) -> list[Problem]:
        where = f"metric.{self.name}"
        if self._saved:
            if set(self._saved.models) & set(dataset.agents):
                return []
            return [Problem(f"{where}.saved", "has no grading of any agent of the data set", self._saved.models)]
        problems = covers(self._gold, dataset, f"{where}.checklists", "checklist") if self._gold else []
        self._references = {report.task_id: report.text for report in dataset.reports if report.agent == self._agent}
        if self._agent and not self._references:
            problems.append(no_report_by(self._agent, dataset, f"{where}.reference_agent"))
        return problems

    async def measure(self, subject: Subject, judge: Judge | None, repeat: int) -> list[Judgment]:
        """The rows of every part that is asked for."""
        if self._saved:
            return self._saved_rows(subject)
        assert judge is not None
        found = await together(self._ask_part(part, subject, judge, repeat) for part in self._parts)
        return [row for rows in found for row in rows]

    async def _ask_part(self, part: Part, subject: Subject, judge: Judge, repeat: int) -> list[Judgment]:
        if part in CHECKLISTS:
            return await self._check(part, subject, judge, repeat)
        if part in LADDERS:
            return await self._count(part, subject, judge, repeat)
        return await self._compare(subject, judge, repeat)

    async def _check(self, part: Part, subject: Subject, judge: Judge, repeat: int) -> list[Judgment]:
        items = self._items(part, subject)
        if not items:
            return [replace(not_applicable(subject, "no_checklist"), family=part)]
        given = await ask_items(judge, self.asked[part], subject, items, repeat=repeat, batch=None)
        return [item_row(subject, text, part, answer, YES_NO) for text, answer in zip(items, given, strict=True)]

    def _items(self, part: Part, subject: Subject) -> list[str]:
        """The questions of a part, the dates of the task's checklist filled in."""
        if part == "presentation":
            return [str(question) for question in self.asked[part].settings["questions"]]
        gold = self._gold.of(subject.task) if self._gold else []
        return [fill_placeholders(replace(subject.task, query=item.text)).query for item in gold]

    async def _count(self, part: Part, subject: Subject, judge: Judge, repeat: int) -> list[Judgment]:
        answer = await ask(judge, self.asked[part], repeat=repeat, **context_of(subject))
        if isinstance(answer, Failed):
            return [failed_row(item_id(subject.task.id, part), part, "", answer)]
        assert isinstance(answer, Issues)
        faults = [(issue.issue, issue.quote) for issue in answer.issues]
        return ladder_rows(subject, part, faults, round(answer.total), answer.score, answer.reason, answer.cost)

    async def _compare(self, subject: Subject, judge: Judge, repeat: int) -> list[Judgment]:
        reference = self._references.get(subject.task.id)
        if reference is None or subject.report.agent == self._agent:
            code = "no_reference" if reference is None else "is_the_reference"
            return [replace(not_applicable(subject, code), family=DEPTH)]
        return await together(self._one_order(subject, judge, repeat, reference, order) for order in ORDERS)

    async def _one_order(self, subject: Subject, judge: Judge, repeat: int, reference: str, order: str) -> Judgment:
        rubric, task, mine = self.asked[DEPTH], subject.task, subject.report.text
        first, second = (mine, reference) if order == ORDERS[0] else (reference, mine)
        wording = rubric.settings["criteria"]
        criteria = [{"id": name, "dimension": name, "criterion": text} for name, text in wording.items()]
        answer = await ask(
            judge,
            rubric,
            repeat=repeat,
            question=task.query,
            as_of=subject.as_of,
            first=first,
            second=second,
            criteria=criteria,
        )
        if isinstance(answer, Failed):
            return failed_row(item_id(task.id, f"{DEPTH} {order}"), DEPTH, "", answer)
        scores = answer.by_id()  # type: ignore[attr-defined]
        totals = [sum(getattr(score, side) for score in scores.values()) for side in ("first", "second")]
        own, other = totals if order == ORDERS[0] else reversed(totals)
        said = f"[{order}: {own:g} to {other:g}] " + " | ".join(f"{name}: {score.reason}" for name, score in scores.items())
        return outcome_row(task.id, order, outcome(own, other), said, answer.cost)

    def _saved_rows(self, subject: Subject) -> list[Judgment]:
        """The rows of saved gradings; items of a given checklist that were not graded are unanswered."""
        assert self._saved is not None
        task = subject.task.id
        graded = self._saved.of(task, subject.report.agent)
        rows: list[Judgment] = []
        for part in self._parts:
            result = graded.get(part)
            if result is None:
                rows.append(replace(missing_run(subject, self._saved.path.name), family=part))
            elif part in CHECKLISTS:
                for name, one in result["evaluations"].items():
                    label, said = "yes" if one["score"] else "no", str(one.get("justification") or "")
                    rows.append(
                        Judgment(item_id(task, f"{part} {name}"), part, label, YES_NO[label], rationale=f"{name} {said}")
                    )
                wanted = len(self._items(part, subject)) if part != "coverage" or self._gold else 0
                rows += [_forgotten(task, part, number) for number in range(len(result["evaluations"]) + 1, wanted + 1)]
            elif part == DEPTH:
                winners = [WINNERS[result[f"winner_comparison_{number}"]] for number in (1, 2)]
                rows += [outcome_row(task, order, won, f"[{order}]") for order, won in zip(ORDERS, winners, strict=True)]
            else:
                faults = [(issue_text(issue), "") for issue in result["specific_issues"]]
                said = str(result.get("justification") or "")
                rows += ladder_rows(subject, part, faults, int(result["total_issues"]), float(result["score"]), said, None)
        return rows

    def variants(self) -> Sequence[Variant]:
        return [variant for part in self._parts for variant in part_variants(part)]


def _forgotten(task_id: str, part: Part, number: int) -> Judgment:
    """An item that the saved grading lacks; the original counts it as failed (`missing_policy=zero`)."""
    item = item_id(task_id, f"{part} forgotten {number}")
    return Judgment(item, part, "", None, Status.UNANSWERED, reason_code="not_graded", rationale=f"item {number} has no grade")
