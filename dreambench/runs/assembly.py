"""From a composed configuration to the parts of a run: everything is checked here, before anything is spent."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException
from pydantic import ValidationError

from dreambench.config.locations import bundled
from dreambench.config.nodes import build, expand_axes, validation_problems
from dreambench.config.options import with_members
from dreambench.config.schema import RunConfig
from dreambench.config.studies import check_study
from dreambench.datasets import Dataset, Loader
from dreambench.engine.call import canonical_json
from dreambench.engine.cell import Cell, cell_id
from dreambench.engine.clock import Clock
from dreambench.engine.gateway import Gateway
from dreambench.errors import ConfigError, InputError, Problem
from dreambench.evaluators.agent_trajectory import Trajectories
from dreambench.judges.judge import Judge
from dreambench.judges.retirement import retirement_lines
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.aggregation import SCORING_VERSION
from dreambench.metrics.metric import Metric
from dreambench.perturbations import Perturbation, arms
from dreambench.protocols.source import NoProtocols
from dreambench.records import Report, Task, short_hash
from dreambench.runs.thresholds import Threshold, check_owners, threshold_problems, thresholds_of
from dreambench.tools.toolset import NoTools, UnbuiltTools

CODE = "code"
"""Stands in the `judge` column of metrics that ask nobody."""
CLEAN = "clean"
"""Stands in the `perturbation` column of reports as they are."""


def validate(composed: DictConfig, clock: Clock) -> RunConfig:
    """The configuration as models, `as_of=today` turned into a date. Raises ConfigError with every problem."""
    try:
        plain = OmegaConf.to_container(composed, resolve=True, throw_on_missing=True)
    except MissingMandatoryValue as error:
        raise ConfigError(Problem(str(error.full_key), "is required", type=f"{error.full_key}=...")) from error
    except OmegaConfBaseException as error:
        raise ConfigError(Problem(str(error.full_key or "config"), str(error.msg or error).splitlines()[0])) from error
    try:
        config = RunConfig.model_validate(plain)
    except ValidationError as error:
        raise ConfigError(*validation_problems("", error, RunConfig)) from error
    check_owners(config.metric)
    if config.as_of == "today":
        return config.model_copy(update={"as_of": clock.today()})
    return config


ANSWERING = ("a language model: it answers every kind", "what each judge answers: python -m dreambench ls kinds")
ANOTHER_JUDGE = "judge=litellm judge.litellm.model=PROVIDER/MODEL"


@dataclass(frozen=True)
class Parts:
    """The assembled run: what is judged, by whom, with what."""

    dataset: Dataset
    judges: Mapping[str, Judge]
    metrics: Mapping[str, Metric]
    arms: Mapping[str, Perturbation]
    seed: int
    name: str
    tools: NoTools = field(default_factory=NoTools)
    protocols: NoProtocols = field(default_factory=NoProtocols)
    trajectories: Trajectories = field(default_factory=Trajectories)
    thresholds: Mapping[str, Threshold] = field(default_factory=dict)
    """Least lower bounds of primary variants by metric node; no part of the run's identity."""

    @cached_property
    def _tasks(self) -> dict[str, Task]:
        return {task.id: task for task in self.dataset.tasks}

    @cached_property
    def _reports(self) -> dict[str, Report]:
        return {report.id: report for report in self.dataset.reports}

    @cached_property
    def run_id(self) -> str:
        """Content address of the run: all that can change a number, and nothing else."""
        return short_hash(
            "run",
            canonical_json(
                {
                    "scoring": SCORING_VERSION,
                    "dataset": self.dataset.fingerprint(),
                    "seed": self.seed,
                    "metrics": [_with_repeats(metric) for metric in self.metrics.values()],
                    "judges": {name: dict(judge.identity()) for name, judge in self.judges.items()},
                    **({"arms": [self._arm_identity(name) for name in self.arms]} if self.arms else {}),
                }
            ),
        )[:12]

    @cached_property
    def arm_labels(self) -> dict[str, str]:
        """What stands in the `perturbation` column of each arm: its node, and the axes in which the node's arms differ other
        than dose and seed, which have columns of their own: `outdated_cutoff[cutoff=2024-01-01]`."""
        labels = {"": CLEAN}
        for name, arm in self.arms.items():
            node = name.partition("[")[0]
            same = [other for key, other in self.arms.items() if key.partition("[")[0] == node]
            further = [axis for axis in arm.axes if axis not in ("dose", "seed")]
            split = [axis for axis in further if len({getattr(other, axis) for other in same}) > 1]
            told = ",".join(f"{axis}={getattr(arm, axis)}" for axis in split)
            labels[name] = f"{node}[{told}]" if told else node
        return labels

    def retirement_lines(self, today: date) -> list[str]:
        """What is to be said of judges whose model is gone or soon will be."""
        return retirement_lines((one for judge in self.judges.values() for one in judge.retirements()), today)

    def task(self, task_id: str) -> Task:
        """The task of that id. Raises KeyError."""
        return self._tasks[task_id]

    def report(self, report_id: str) -> Report:
        """The report of that id, in any arm. Raises KeyError."""
        return self._reports[report_id]

    @property
    def author(self) -> Judge | None:
        """The judge that writes for arms whose author is `llm`: the run's first."""
        return next(iter(self.judges.values()), None)

    def cells(self) -> Iterator[Cell]:
        """Every cell of the run, report by report and arm by arm, so that the calls about one text are neighbours."""
        for report, arm in itertools.product(self.dataset.reports, ["", *self.arms]):
            for metric in self.metrics.values():
                for judge in self.judges.values() if metric.asks else [None]:
                    for repeat in range(metric.repeats if metric.asks else 1):
                        yield self._cell(report, arm, metric, judge, repeat)

    def _arm_identity(self, name: str) -> dict[str, Any] | None:
        """All that can change the texts of an arm; None for the clean one."""
        if not name:
            return None
        arm = self.arms[name]
        writer = dict(self.author.identity()) if arm.author == "llm" and self.author else None
        return {**arm.identity(), "writer": writer}

    def _cell(self, report: Report, arm: str, metric: Metric, judge: Judge | None, repeat: int) -> Cell:
        task = self.task(report.task_id)
        as_of = task.as_of.isoformat() if task.as_of else None
        asked = {"id": task.id, "query": task.query, "as_of": as_of}
        asking = judge.identity() if judge else None
        return Cell(
            id=cell_id(metric.identity(), asking, asked, self._arm_identity(arm), report.id, repeat),
            metric=metric.name,
            judge=judge.name if judge else CODE,
            task=task.id,
            report=report.id,
            repeat=repeat,
            arm=arm,
            columns={
                "dataset": task.dataset,
                "task": task.id,
                "as_of": as_of,
                "report": report.id,
                "agent": report.agent,
                "perturbation": self.arm_labels[arm],
                "dose": self.arms[arm].dose if arm else 0.0,
                "perturbation_seed": self.arms[arm].seed if arm else None,
                "protocol": metric.protocols.hash_of(task, judge) if metric.protocols else "",
                "metric": metric.id,
                "rubric": metric.rubric_variant,
                "rubric_version": ",".join(sorted({rubric.version for rubric in metric.rubrics()})),
                "evaluator": metric.evaluator,
                "judge": judge.name if judge else CODE,
                "tools": metric.tools.name if metric.tools else NoTools.name,
                "repeat": repeat,
            },
        )


def assemble(config: RunConfig, gateway: Gateway) -> Parts:
    """Builds data set, judges and metrics. Raises one InputError that holds every problem found."""
    problems: list[Problem] = []
    _collect(problems, lambda: check_study(config.study, config.study_inputs))
    loader = _collect(problems, lambda: build("dataset", config.dataset))
    tools = _collect(problems, lambda: build_tools(config, gateway, loader)) or UnbuiltTools()
    shelf = RubricShelf([*config.paths.rubrics, bundled("rubrics")])
    trajectories = Trajectories()
    protocols = _collect(problems, lambda: build_protocols(config, loader, shelf, tools, trajectories)) or NoProtocols()
    supplied = {"shelf": shelf, "tools": tools, "protocols": protocols, "trajectories": trajectories}
    metrics = _collect(problems, lambda: build_metrics(config, **supplied)) or {}
    thresholds = _collect(problems, lambda: thresholds_of(config.metric)) if metrics else {}
    problems.extend(threshold_problems(metrics, thresholds))
    asked = {name: node for name, node in config.judge.items() if any(metric.asks for metric in metrics.values())}
    judges = _collect(problems, lambda: build_judges(asked, gateway)) or {}
    perturbations = _collect(problems, lambda: arms(config.perturbation, shelf)) or []
    problems.extend(_authors(perturbations, judges))
    problems.extend(_saved_for_arms(metrics, perturbations))
    dataset = _collect(problems, lambda: _load(loader, config)) if loader else None
    if dataset is not None:
        problems.extend(problem for metric in metrics.values() for problem in metric.prepare(dataset))
    if any(metric.tools for metric in metrics.values()) and not gateway.replays:
        problems.extend(tools.needs())
    for judge in judges.values():
        problems.extend(judge.needs())
        if judge.batched and config.engine.kind != "local":
            what = "batches are looked after by one process"
            problems.append(Problem(f"judge.{judge.name}.delivery", what, ["now", "batch with engine=local"], "engine=local"))
        problems.extend(_refusals(judge, list(metrics.values())))
    tasks = dataset.tasks if dataset else ()
    if tasks and judges and protocols.parts:
        _collect(problems, lambda: protocols.assign(judges))
        protocols.expect(tasks)
        problems.extend(protocols.problems(tasks))
    problems.extend(_twins(metrics))
    if problems or dataset is None:
        raise InputError(*problems)
    return Parts(
        dataset=dataset,
        judges=judges,
        metrics=metrics,
        arms={arm.name: arm for arm in perturbations},
        seed=config.seed,
        name=config.study or _dataset_name(config),
        tools=tools,
        protocols=protocols,
        trajectories=trajectories,
        thresholds=thresholds,
    )


def build_tools(config: RunConfig, gateway: Gateway, loader: Loader | None) -> NoTools:
    """The tool set of the run; a data set that brings a corpus along is asked for it."""
    built: NoTools = build("tools", config.tools, gateway=gateway, corpus=getattr(loader, "corpus", None))
    return built


def build_protocols(
    config: RunConfig, loader: Loader | None, shelf: RubricShelf, tools: NoTools, trajectories: Trajectories
) -> NoProtocols:
    """The run's source of protocols; a data set that brings protocols along (`protocols`, a folder) is asked for them."""
    brought = getattr(loader, "protocols", None)
    supplied = {"shelf": shelf, "tools": tools, "trajectories": trajectories, "protocols": brought}
    built: NoProtocols = build("protocol", config.protocol, **supplied)
    return built


def _collect(problems: list[Problem], make: Any) -> Any:
    try:
        return make()
    except InputError as error:
        problems.extend(error.problems)
        return None


def _build_group(group: str, nodes: Mapping[str, Mapping[str, Any]], **supplied: Any) -> dict[str, Any]:
    return {name: build(f"{group}.{name}", node, name=name, **supplied) for name, node in expand_axes(group, nodes).items()}


def _with_repeats(metric: Metric) -> dict[str, Any]:
    """A metric's identity in a run: how often it is asked changes the run's numbers, though not those of one cell."""
    return dict(metric.identity()) | ({"repeats": metric.repeats} if metric.repeats != 1 else {})


def build_metrics(config: RunConfig, **supplied: Any) -> dict[str, Metric]:
    """Metrics by node name, with what the assembly supplies. Raises InputError."""
    metrics: dict[str, Metric] = _build_group("metric", config.metric, **supplied)
    for name, node in expand_axes("metric", config.metric).items():
        if node.get("id"):  # another than its class's: a second node of the class has a column of its own
            metrics[name].id = str(node["id"])  # type: ignore[misc]
    what = "a whole number from 1 is needed, got {}"
    never = [(f"metric.{name}.repeats", metric.repeats) for name, metric in metrics.items() if metric.repeats < 1]
    if never:
        raise InputError(*(Problem(key, what.format(repeats), type=f"{key}=1") for key, repeats in never))
    return metrics


def build_judges(nodes: Mapping[str, Mapping[str, Any]], gateway: Gateway) -> dict[str, Judge]:
    """Judges by node name; the members of a panel are built with it and judge nothing on their own."""
    judges: dict[str, Judge] = {}
    for name, node in expand_axes("judge", nodes).items():
        path = f"judge.{name}"
        members = with_members("judge", nodes, path, node["members"]) if isinstance(node.get("members"), list) else {}
        built = _build_group("judge", members, gateway=gateway) if members else {}
        keys = {**node, "members": list(built.values())} if members else node
        judges[name] = build(path, keys, name=name, gateway=gateway)
    return judges


def _load(loader: Loader, config: RunConfig) -> Dataset:
    loaded = loader.load(config.run_date)
    if not loaded.reports:
        raise InputError(Problem("dataset", "no reports are left to score; see the findings and filters of the data set"))
    return loaded


def _authors(perturbations: Sequence[Perturbation], judges: Mapping[str, Judge]) -> list[Problem]:
    """Arms that a model is to write, in a run whose metrics ask no judge."""
    return [
        Problem(f"perturbation.{arm.name}.author", "llm needs a judge to write with", type="metric=[wq] judge=litellm")
        for arm in perturbations
        if arm.author == "llm" and not judges
    ]


def _saved_for_arms(metrics: Mapping[str, Metric], perturbations: Sequence[Perturbation]) -> list[Problem]:
    """Metrics that read saved results, in a run that changes the reports: what was saved is about the reports as they are."""
    what = "holds results of the reports as they are, and this run changes them: {} would get the unchanged reports' scores"
    arms = (
        perturbations[0].name + (f" and {len(perturbations) - 1} more arms" if len(perturbations) > 1 else "")
        if perturbations
        else ""
    )
    return [
        Problem(
            f"metric.{name}.saved", what.format(arms), ["saved results without a perturbation"], f"metric.{name}.saved=null"
        )
        for name, metric in metrics.items()
        if arms and metric.identity().get("saved")
    ]


def _twins(metrics: Mapping[str, Metric]) -> list[Problem]:
    """Nodes that the item table could not tell apart: the same metric id with the same rubric variant."""
    seen: dict[tuple[str, str], str] = {}
    problems = []
    for name, metric in metrics.items():
        first = seen.setdefault((metric.id, metric.rubric_variant), name)
        if first != name:
            problems.append(
                Problem(f"metric.{name}", f"cannot be told from metric.{first}", type=f"metric.{name}.id=another_id")
            )
    return problems


def _refusals(judge: Judge, metrics: Sequence[Metric]) -> list[Problem]:
    """What the judge cannot answer of what the metrics ask, one problem per metric."""
    problems = []
    for metric in metrics:
        refused = [(rubric, why) for rubric in metric.rubrics() if (why := judge.refusal(rubric))]
        if refused:
            rubric, why = refused[0]
            more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
            asked = f"{rubric.id} of metric.{metric.name}{more}, a question of kind {rubric.kind.name}"
            problems.append(Problem(f"judge.{judge.name}", f"cannot answer {asked}: {why}", ANSWERING, ANOTHER_JUDGE))
    return problems


def _dataset_name(config: RunConfig) -> str:
    return str(config.dataset.get("label") or "") or str(config.dataset["_target_"]).split(".")[-2]
