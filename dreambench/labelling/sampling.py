"""Items of a finished run for people to label: which can be labelled, and a stratified sample with known probabilities.

A unit is one judged item of one report, whoever judged it: a claim, a domain, a question about the report. Strata are taken
from one judge's rows (its labels are what makes a rare label findable); within a stratum units are drawn at random without
replacement, so that every unit of the run has a known chance of being in the sample and weights of 1 / probability undo the
stratification.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import polars as pl

from dreambench.datasets import Dataset
from dreambench.errors import ConfigError, Problem
from dreambench.judges.kinds.classify_domain import Category
from dreambench.judges.rubric import Rubric
from dreambench.metrics.metric import Metric
from dreambench.metrics.rubric_metric import RubricMetric
from dreambench.records import Report, Status, Task, item_id, short_hash
from dreambench.reporting.finished import FinishedRun
from dreambench.runs.assembly import CLEAN, CODE

STRATA = ("metric", "label", "family", "agent", "task", "rubric")
"""Columns that a sample can be stratified by."""
UNIT = ["metric", "rubric", "family", "report", "item", "occurrence"]
"""What names a unit, whatever the judge."""
SCORE = ["0-100"]
"""Answers of a unit that gets a number."""
SEE_REPORT = "(see the report)"


@dataclass(frozen=True, slots=True)
class Unit:
    """One item for people: what is asked about which report, and the row that it stands for (never shown when blind)."""

    id: str
    row: Mapping[str, Any]
    task: Task
    report: Report
    text: str
    answers: Sequence[str]
    stratum: str = ""
    probability: float = 1.0

    @property
    def is_score(self) -> bool:
        """Whether a number is asked for, not one of some labels."""
        return list(self.answers) == SCORE

    @property
    def span(self) -> tuple[int, int] | None:
        """Where the item stands in the report; None where it is about the whole, or the judge's own pick would show."""
        start, end = self.row["report_start"], self.row["report_end"]
        return None if self.row["metric"] == "kic" or start is None else (start, end)


@dataclass(frozen=True, slots=True)
class Sample:
    """The drawn units in the order in which they are shown, the strata, and what could not be offered."""

    units: Sequence[Unit]
    strata: Mapping[str, tuple[int, int]]
    """Stratum -> units in the run, units drawn."""
    judge: str
    by: Sequence[str]
    seed: int
    left_out: Mapping[str, int] = field(default_factory=dict)


def draw(
    run: FinishedRun,
    dataset: Dataset,
    metrics: Mapping[str, Metric],
    *,
    n: int,
    by: Sequence[str],
    judge: str | None,
    seed: int,
) -> Sample:
    """A sample of at most `n` units, as evenly over the strata as their sizes allow.

    Raises ConfigError: a run without judged items, an unknown judge, fewer units wanted than there are strata.
    """
    judged = run.judgments.filter(pl.col("judge") != CODE, pl.col("perturbation") == CLEAN, pl.col("repeat") == 0)
    judge = _chosen_judge(judge, judged["judge"].unique().sort().to_list())
    rows = with_occurrence(judged.filter(pl.col("judge") == judge, pl.col("status") == Status.SCORED.value))
    texts = _Texts(run, dataset, metrics)
    units = [unit for row in rows.iter_rows(named=True) if (unit := texts.unit(row))]
    by_stratum: dict[str, list[Unit]] = {}
    for unit in units:
        by_stratum.setdefault(" / ".join(str(unit.row[column]) for column in by), []).append(unit)
    taken = allocate({name: len(members) for name, members in by_stratum.items()}, n)
    drawn: list[Unit] = []
    for name, members in sorted(by_stratum.items()):
        chosen = random.Random(f"{seed}/{name}").sample(sorted(members, key=lambda unit: unit.id), taken[name])
        share = taken[name] / len(members)
        drawn += [Unit(unit.id, unit.row, unit.task, unit.report, unit.text, unit.answers, name, share) for unit in chosen]
    random.Random(f"{seed}/order").shuffle(drawn)
    strata = {name: (len(members), taken[name]) for name, members in sorted(by_stratum.items())}
    return Sample(drawn, strata, judge, list(by), seed, texts.left_out)


def with_occurrence(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with `occurrence`: 0, 1, ... for equal items of one report by one judge and repeat."""
    return rows.with_columns(occurrence=pl.int_range(pl.len()).over([*UNIT[:-1], "judge", "repeat"]))


def allocate(sizes: Mapping[str, int], n: int) -> dict[str, int]:
    """How many units of each stratum: as equal as the sizes allow, `n` in all where there are as many.

    Raises ConfigError when some stratum would get none: no weight can make up for what cannot be drawn.
    """
    if not sizes:
        raise ConfigError(Problem("sample", "the run has no judged item that people could label"))
    if n < len(sizes):
        what = f"{n} units cannot cover {len(sizes)} strata: what cannot be drawn cannot be weighted"
        raise ConfigError(Problem(f"--n {n}", what, [f"{len(sizes)} or more", "fewer columns in --by"], f"--n {len(sizes)}"))
    taken = dict.fromkeys(sizes, 0)
    left = min(n, sum(sizes.values()))
    while left:
        open_strata = sorted(name for name in sizes if taken[name] < sizes[name])
        each = max(1, left // len(open_strata))
        for name in open_strata:
            more = min(each, sizes[name] - taken[name], left)
            taken[name] += more
            left -= more
    return taken


def _chosen_judge(judge: str | None, judges: Sequence[str]) -> str:
    if judge is None and len(judges) == 1:
        return judges[0]
    if judge is None and judges:
        raise ConfigError(Problem("--judge", "the run has several; strata come from one", judges, f"--judge {judges[0]}"))
    if judge is None or judge not in judges:
        raise ConfigError(Problem(f"--judge {judge or ''}".strip(), "judged nothing in this run", judges))
    return judge


class _Texts:
    """What people read of an item. Items whose wording is nowhere on disk are left out and counted by metric and family."""

    def __init__(self, run: FinishedRun, dataset: Dataset, metrics: Mapping[str, Metric]) -> None:
        self._tasks = {task.id: task for task in dataset.tasks}
        self._reports = {report.id: report for report in dataset.reports}
        self._metrics = {(metric.id, metric.rubric_variant): metric for metric in metrics.values()}
        self._questions = dict(_protocol_questions(run.folder.root / "protocols", self._tasks))
        self.left_out: dict[str, int] = {}

    def unit(self, row: Mapping[str, Any]) -> Unit | None:
        """The row as a unit, or None where people cannot be asked about it."""
        report = self._reports.get(row["report"])
        if row["family"] == "report":
            return None
        found = self._text_and_answers(row, report) if report and row["weight"] else None
        if found is None or report is None:
            name = f"{row['metric']} {row['family']}"
            self.left_out[name] = self.left_out.get(name, 0) + 1
            return None
        identity = short_hash("unit", *(str(row[column]) for column in UNIT))
        return Unit(identity, row, self._tasks[row["task"]], report, *found)

    def _text_and_answers(self, row: Mapping[str, Any], report: Report) -> tuple[str, Sequence[str]] | None:
        metric = self._metrics.get((row["metric"], row["rubric"]))
        if isinstance(metric, RubricMetric):
            rubric = next(one for one in metric.rubrics() if one.name == row["label"])
            return _wording(rubric, self._tasks[row["task"]]), SCORE
        if question := self._questions.get(row["item"]):
            return question, SCORE if row["metric"] == "rq" else ["yes", "no"]
        domain = str(row["rationale"]).partition(":")[0]
        if row["family"] == "domain" and item_id(row["task"], domain) == row["item"]:
            return domain, get_args(Category)
        values = dict(metric.identity().get("values") or {}) if metric else {}
        if row["label"] in values and row["report_start"] is not None:
            return report.text[row["report_start"] : row["report_end"]], list(values)
        return None


def _wording(rubric: Rubric, task: Task) -> str:
    """The rubric's question as a judge is asked it, without the report."""
    about: dict[str, Any] = {"question": task.query, "as_of": task.as_of and task.as_of.isoformat(), "report": SEE_REPORT}
    if rubric.kind.name == "yes_no":
        about["item"] = rubric.settings["item"]
    asked = rubric.render(rubric.kind.context(**about))[-1]["content"]
    return asked.rpartition(SEE_REPORT)[2].partition("\n\n")[2].strip() or asked


def _protocol_questions(folder: Path, tasks: Mapping[str, Task]) -> Iterator[tuple[str, str]]:
    """Item ids of the run's protocol questions, with their wording."""
    from dreambench.protocols.files import protocol_files, read_protocol

    if not folder.is_dir() or not any(folder.iterdir()):
        return
    for file in protocol_files(folder):
        protocol = read_protocol(file, accept_edits=True)
        questions = [*(item.question for item in protocol.kic), *(item.question for item in protocol.rq)]
        yield from ((item_id(task, question), question) for task in tasks for question in questions)
