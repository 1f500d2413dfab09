"""DeepWeb-Bench: matrix tasks from the Hub's tables or the site's export, with answers, references and released scores.

A report is the Markdown of one model's answer to one case. A model without an answer to a case that others answered is a
missing run. With `without_text=keep` it is a report without text, which the metric `deepweb` excludes in one variant and counts
as zero in another, and which no other metric should be given.
"""

from dataclasses import dataclass
from datetime import date
from typing import ClassVar, Literal

from dreambench.datasets.dataset import Dataset, Finding
from dreambench.datasets.demo import demo_file
from dreambench.datasets.loader import Loader, many
from dreambench.datasets.material import Material
from dreambench.datasets.problems import Problems
from dreambench.datasets.sources import Paths, existing, sources
from dreambench.metrics.deepweb.dataset import UNPUBLISHED, MatrixDataset
from dreambench.metrics.deepweb.importer import Release, read_answers, read_release, unmatched
from dreambench.records import Report

SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class DeepWebDataset(Loader):
    """`path` is the folder of a release, or `demo`; `answers` files like its model_answers.jsonl, instead of those it has.

    `without_text`: what becomes of runs that have no text, missing ones and those whose scores are all that is published.
    """

    title: ClassVar[str] = "deepweb"

    path: str | None = None
    answers: Paths = None
    without_text: Literal["leave_out", "keep"] = "leave_out"

    _kept: ClassVar[Release]

    def load(self, as_of: date | None = None) -> MatrixDataset:
        """As every data set is loaded; with the matrices, and where wanted a report without text for each missing run."""
        loaded = super().load(as_of)
        release = self._kept
        order = {name: place for place, name in enumerate(release.tasks)}
        wanted = {task.id for task in loaded.tasks}
        missing = self._missing(loaded, release)
        kept = missing if self.without_text == "keep" else []
        reports = sorted([*loaded.reports, *kept], key=lambda report: (order[report.task_id], report.agent))
        said = [Finding("", None, "missing_run", self._said(agent, missing)) for agent in _agents(missing)]
        return MatrixDataset(
            loaded.tasks,
            reports,
            [*loaded.findings, *said],
            {name: task for name, task in release.tasks.items() if name in wanted},
            {key: run for key, run in release.released.items() if key[0] in wanted},
            whole=len(kept) == len(missing),
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
        for answer in release.answers:
            material.add_report(answer.case, answer.model, answer.text, answer.place)
        if self.answers is None:
            self._scores_only(release, material)
        return material

    def _scores_only(self, release: Release, material: Material) -> None:
        """Published scores without the answer that was scored."""
        answered = {(answer.case, answer.model) for answer in release.answers}
        for (case, model), run in release.released.items():
            if (case, model) in answered or not run.tiers:
                continue
            if self.without_text == "keep":
                material.add_report(case, model, UNPUBLISHED, release.places.get(case, ""))
            else:
                what = f"{model} has scores for {case} and no answer; left out (dataset.without_text=keep keeps them)"
                material.find("scores_only", release.places.get(case, ""), what, case)

    def _release(self, problems: Problems) -> Release:
        folder = existing(str(demo_file(self.path, "deepweb")), "dataset.path", problems) if self.path else None
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

    def _said(self, agent: str, missing: list[Report]) -> str:
        cases = [report.task_id for report in missing if report.agent == agent]
        more = f" and {len(cases) - SHOWN} more" if len(cases) > SHOWN else ""
        what = f"{agent} has no run for {len(cases)} case{'s' * (len(cases) > 1)} ({', '.join(cases[:SHOWN])}{more})"
        if self.without_text == "keep":
            return f"{what}: excluded, and 0 in the variant missing_zero"
        return f"{what}: left out (dataset.without_text=keep lets metric=deepweb count them)"


def _agents(missing: list[Report]) -> list[str]:
    return sorted({report.agent for report in missing})
