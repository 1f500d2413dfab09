"""From everything that was read to what a run uses: valid reports only, filtered, with a finding for all that is left out.

Filters come first, so nothing is said about data that nobody asked for; then empty reports, sentinels, orphans and
duplicates are found; then tasks are sampled and limited.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from dreambench.datasets.dataset import INFORMATIVE, Dataset, Finding
from dreambench.datasets.files import assignment
from dreambench.datasets.language import language_code
from dreambench.datasets.material import Material
from dreambench.datasets.rows import identifier
from dreambench.errors import DatasetError, Problem, nearest
from dreambench.records import Report, Task

SHOWN = 20
"""Ids or names that a message spells out; the rest is counted."""


@dataclass(frozen=True)
class Selection:
    """What a run asks for; empty sequences are no filter. `sample` draws tasks by seed, `limit` keeps the first ones."""

    ids: Sequence[str] = ()
    languages: Sequence[str] = ()
    domains: Sequence[str] = ()
    agents: Sequence[str] = ()
    sample: int | None = None
    limit: int | None = None
    seed: int = 0
    tasks: Literal["reported", "all"] = "reported"
    sentinels: Sequence[str] = field(default_factory=tuple)
    strict: bool = False


def select(material: Material, selection: Selection) -> Dataset:
    """The data set that `selection` asks for.

    Raises DatasetError when a filter names something that is not there, when no report is left (unless `tasks` is
    `all`), and in strict mode when anything is wrong; each time with everything that was found.
    """
    _filter(material, selection)
    _drop_invalid(material, selection.sentinels)
    _drop_duplicates(material)
    _note_unanswered(material)
    dataset = _cut(material, selection)
    if not dataset.reports and selection.tasks == "reported":
        raise _nothing_left(dataset.findings)
    wrong = [finding for finding in dataset.findings if finding.code not in INFORMATIVE]
    if selection.strict and wrong:
        raise DatasetError(*_as_problems(wrong))
    return dataset


def _filter(material: Material, selection: Selection) -> None:
    """Leaves out what was not asked for. Raises DatasetError for names that are in the data nowhere."""
    ids = [identifier(value) for value in selection.ids]
    languages = [language_code(value) for value in selection.languages]
    _check_names(material, selection, ids, languages)

    def wanted(task: Task) -> bool:
        return (
            (not ids or task.id in ids)
            and (not languages or task.language in languages)
            and (not selection.domains or task.domain in selection.domains)
        )

    refused = {task.id for task in material.tasks.values() if not wanted(task)}
    if ids:
        refused |= {report.task_id for report in material.reports if report.task_id not in ids}
    material.tasks = {task.id: task for task in material.tasks.values() if task.id not in refused}
    material.reports = [
        report
        for report in material.reports
        if report.task_id not in refused and (not selection.agents or report.agent in selection.agents)
    ]
    material.findings = [finding for finding in material.findings if finding.task_id not in refused]


def _check_names(material: Material, selection: Selection, ids: Sequence[str], languages: Sequence[str]) -> None:
    tasks = list(material.tasks.values())
    agents = sorted({report.agent for report in material.reports})
    known_ids = [*material.tasks, *(report.task_id for report in material.reports)]
    problems = [
        *_unknown("dataset.ids", ids, known_ids, "task"),
        *_unknown("dataset.language", languages, [task.language for task in tasks], "task in language"),
        *_unknown("dataset.domain", selection.domains, [task.domain for task in tasks], "task in domain"),
        *_unknown("dataset.agents", selection.agents, agents, "agent"),
    ]
    if problems:
        raise DatasetError(*problems)


def _unknown(key: str, asked: Sequence[str], known: Iterable[str], kind: str) -> list[Problem]:
    present = list(dict.fromkeys(name for name in known if name))
    problems = []
    for name in asked:
        if name not in present:
            near = nearest(name, present)
            what = f"there is no {kind} {name!r}" + (f"; did you mean {near!r}?" if near else "")
            problems.append(Problem(key, what, _shown(present), assignment(key, near) if near else None))
    return problems


def _drop_invalid(material: Material, sentinels: Sequence[str]) -> None:
    failures = {_folded(sentinel) for sentinel in sentinels}
    orphans = _Orphans(material)
    checks: list[tuple[str, Callable[[Report], str]]] = [
        ("orphan_report", orphans.check),
        ("empty_report", lambda report: "" if report.text.strip() else "is empty"),
        ("sentinel", lambda report: f"is no report but {report.text.strip()!r}" if _folded(report.text) in failures else ""),
    ]
    kept = []
    for report in material.reports:
        wrong = next(((code, said) for code, check in checks if (said := check(report))), None)
        if wrong is None:
            kept.append(report)
        else:
            code, said = wrong
            message = f"the report of {report.agent} for task {report.task_id} {said}; left out"
            material.find(code, report.source, message, report.task_id)
    material.reports = kept


def _folded(text: str) -> str:
    """Sentinels are compared without case, outer space and a closing full stop; long texts are none and stay unfolded."""
    stripped = text.strip()
    return stripped.rstrip(".。").casefold() if len(stripped) < 200 else stripped


@dataclass
class _Orphans:
    """Finds reports without a task. The nearest id is looked for a few times only: it takes long over many tasks."""

    material: Material
    found: int = 0

    def check(self, report: Report) -> str:
        if report.task_id in self.material.tasks:
            return ""
        self.found += 1
        near = nearest(report.task_id, self.material.tasks) if self.found <= SHOWN else None
        return f"has no task in {self.material.listed}" + (f" (the nearest id is {near})" if near else "")


def _drop_duplicates(material: Material) -> None:
    first: dict[tuple[str, str], Report] = {}
    for report in material.reports:
        kept = first.setdefault((report.task_id, report.agent), report)
        if kept is not report:
            same = "the same text" if kept.text == report.text else "another text"
            message = (
                f"a second report of {report.agent} for task {report.task_id} ({same}); the first, at {kept.source}, is kept"
            )
            material.find("duplicated_report", report.source, message, report.task_id)
    material.reports = list(first.values())


def _note_unanswered(material: Material) -> None:
    """Lists the tasks that no agent answered, and those without a query."""
    if unknown := [task.id for task in material.tasks.values() if not task.query]:
        which = f"{'task' if len(unknown) == 1 else 'tasks'} {_listed(unknown)}"
        material.find(
            "unknown_query", "", f"no query is known for {which}: questions about it are left out or judged without it"
        )
    if not material.reports:
        return
    answered = {report.task_id for report in material.reports}
    if unanswered := [task for task in material.tasks if task not in answered]:
        message = f"{len(unanswered)} of {len(material.tasks)} tasks are answered by no agent: {_listed(unanswered)}"
        material.find("unanswered_task", material.listed, message)


def _cut(material: Material, selection: Selection) -> Dataset:
    answered = {report.task_id for report in material.reports}
    eligible = [task for task in material.tasks.values() if selection.tasks == "all" or task.id in answered]
    chosen = eligible
    if selection.sample is not None:
        drawn = set(
            sorted((task.id for task in eligible), key=lambda task_id: _lot(selection.seed, task_id))[: selection.sample]
        )
        chosen = [task for task in eligible if task.id in drawn]
    chosen = chosen[: selection.limit]
    order = {task.id: place for place, task in enumerate(chosen)}
    reports = [report for report in material.reports if report.task_id in order]
    reports.sort(key=lambda report: (order[report.task_id], report.agent))
    cut = {task.id for task in eligible} - set(order)
    findings = [finding for finding in material.findings if finding.task_id not in cut]
    return Dataset(chosen, reports, [*findings, *_gaps(reports)])


def _gaps(reports: Sequence[Report]) -> Iterator[Finding]:
    """For each agent the tasks that only others answered: means over different tasks are no fair comparison."""
    answered = list(dict.fromkeys(report.task_id for report in reports))
    for agent in sorted({report.agent for report in reports}):
        own = {report.task_id for report in reports if report.agent == agent}
        if missing := [task_id for task_id in answered if task_id not in own]:
            message = f"{agent} has no report for {len(missing)} of {len(answered)} answered tasks: {_listed(missing)}"
            yield Finding("", None, "missing_report", message)


def _lot(seed: int, task_id: str) -> str:
    """A task's lot depends on the seed and its own id only: a sample of 10 is part of the sample of 20."""
    return hashlib.sha256(f"{seed}:{task_id}".encode()).hexdigest()


def _nothing_left(findings: Sequence[Finding]) -> DatasetError:
    more = len(findings) - SHOWN
    rest = [Problem("dataset", f"and {more} more findings")] if more > 0 else []
    return DatasetError(Problem("dataset", "no valid report is left to score"), *_as_problems(findings[:SHOWN]), *rest)


def _as_problems(findings: Iterable[Finding]) -> list[Problem]:
    return [Problem(f"{each.file}:{each.line}" if each.line else each.file or "dataset", each.message) for each in findings]


def _shown(names: Sequence[str]) -> list[str]:
    more = len(names) - SHOWN
    return [*names[:SHOWN], f"... {more} more"] if more > 0 else list(names)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(_shown(names))
