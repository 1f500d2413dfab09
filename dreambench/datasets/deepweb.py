"""DeepWeb-Bench: matrix tasks from the Hub's tables or the site's export, with answers, references and released scores.

A report is the Markdown of one model's answer to one case. A model without an answer to a case that others answered is a
missing run: a report without text, which the metric excludes or counts as zero (see `dreambench.systems.deepweb.metric`).
"""

from dataclasses import dataclass
from datetime import date
from typing import ClassVar

from dreambench.datasets.dataset import Dataset, Finding
from dreambench.datasets.loader import Loader, many
from dreambench.datasets.material import Material
from dreambench.datasets.problems import Problems
from dreambench.datasets.sources import Paths, existing, sources
from dreambench.records import Report
from dreambench.systems.deepweb.dataset import UNPUBLISHED, MatrixDataset
from dreambench.systems.deepweb.importer import Release, read_answers, read_release, unmatched

SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class DeepWebDataset(Loader):
    """`path` is the folder of a release; `answers` more files like its model_answers.jsonl, instead of those it has."""

    title: ClassVar[str] = "deepweb"

    path: str | None = None
    answers: Paths = None

    _kept: ClassVar[Release]

    def load(self, as_of: date | None = None) -> MatrixDataset:
        """As every data set is loaded; with the matrices, and a report without text for each missing run."""
        loaded = super().load(as_of)
        release = self._kept
        order = {name: place for place, name in enumerate(release.tasks)}
        wanted = {task.id for task in loaded.tasks}
        missing = self._missing(loaded, release)
        reports = sorted([*loaded.reports, *missing], key=lambda report: (order[report.task_id], report.agent))
        said = [Finding("", None, "missing_run", _missing_message(agent, missing)) for agent in _agents(missing)]
        return MatrixDataset(
            loaded.tasks,
            reports,
            [*loaded.findings, *said],
            {name: task for name, task in release.tasks.items() if name in wanted},
            {key: run for key, run in release.released.items() if key[0] in wanted},
        )

    def read(self, problems: Problems) -> Material:
        release = self._release(problems)
        object.__setattr__(self, "_kept", release)  # for `load`, which calls this: a release is read once
        material = Material(self.title, listed=self.path or "")
        for name, task in release.tasks.items():
            material.add_task(name, task.question, release.places[name], domain=task.domain)
            if found := len(task.cell_keys()) - len(task.cells):
                what = f"{found} of {len(task.cell_keys())} reference cells of {name} were not found in its text"
                material.find("missing_cells", release.places[name], what, name)
            runs = [run for (case, _), run in release.released.items() if case == name]
            if strange := list(unmatched(task, runs)):
                what = f"scores of {name} name no entity of its list: {', '.join(strange[:SHOWN])}"
                material.find("unknown_entity", release.places[name], what, name)
        answered = set()
        for answer in release.answers:
            material.add_report(answer.case, answer.model, answer.text, answer.place)
            answered.add((answer.case, answer.model))
        for (case, model), run in release.released.items():  # published scores without the answer that was scored
            if (case, model) not in answered and run.tiers and self.answers is None:
                material.add_report(case, model, UNPUBLISHED, release.places.get(case, ""))
        return material

    def _release(self, problems: Problems) -> Release:
        folder = existing(self.path, "dataset.path", problems)
        if self.path is None:
            problems.add("dataset.path", None, "is required: the folder of a release", fix="dataset.path=path/to/deepweb-bench")
        release = read_release(folder, problems) if folder is not None else Release()
        if self.answers is not None:
            release.answers = []
            for source in sources(self.answers, "dataset.answers", (".jsonl", ".ndjson"), problems):
                read_answers(source.path, release, problems)
        return release

    def _missing(self, loaded: Dataset, release: Release) -> list[Report]:
        """The runs of the agents that are scored which gave nothing for a case of the run."""
        wanted = many(self.agents)
        agents = dict.fromkeys(report.agent for report in loaded.reports)
        if self.answers is None:
            agents |= dict.fromkeys(model for _, model in release.released if not wanted or model in wanted)
        there = {(report.task_id, report.agent) for report in loaded.reports}
        return [
            Report(task.id, agent, "", "missing run")
            for task in loaded.tasks
            for agent in agents
            if (task.id, agent) not in there
        ]


def _agents(missing: list[Report]) -> list[str]:
    return sorted({report.agent for report in missing})


def _missing_message(agent: str, missing: list[Report]) -> str:
    cases = [report.task_id for report in missing if report.agent == agent]
    more = f" and {len(cases) - SHOWN} more" if len(cases) > SHOWN else ""
    return f"{agent} has no run for {len(cases)} cases ({', '.join(cases[:SHOWN])}{more}): excluded, and 0 in missing_zero"
