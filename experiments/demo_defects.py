"""Demo defects: which of the defects that are planted in the demo's reports does which metric see?

Reads a finished run over the bundled demo, and the demo's notes, which say what is planted where. The notes are truth for
scoring and nothing else: no judge, metric or tool reads them. Writes `defects` (flawed agent x metric: the paired difference
of the good agent's scores and the flawed one's over tasks, and whether the metric found the flaw), `pointed` (kind of defect
x metric: how many defects lie in a sentence that a negative judgment points at), `accusations` (agent x metric: negative
judgments, and how many of them hit sound text), `demo_defects.svg/.png`, and `findings.md`.

Found: the interval of the difference lies above 0. Wrong way: below 0, the metric likes the flawed reports better. Missed:
neither. A metric that likes a fluent, well-cited report with wrong facts as much as a right one shows the Mirage of
DREAM's section 1. The embedded judge is a weak baseline and was not tuned to these reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from dreambench.datasets.demo import BUNDLED, DemoDataset
from dreambench.documents import Document, Span, parse_document
from dreambench.errors import DatasetError, Problem
from dreambench.reporting.finished import FinishedRun
from dreambench.reporting.tables import few_mark
from dreambench.runs.assembly import CLEAN
from dreambench.stats.few import FEWEST_TASKS
from dreambench.stats.paired import PairedDifference, paired_difference
from dreambench.studies.findings import write_findings
from dreambench.studies.outputs import new_figure, write_figure, write_table

NOTES = BUNDLED / "notes"
GOOD = "good"
FOUND, MISSED, WRONG_WAY, NO_VALUE = "found", "missed", "wrong way", "no value"
MIRAGE_AGENT = "fluent_wrong"
FACTS = ("factuality", "kic", "rq")
"""The metrics that look beyond the report and its own sources."""
LOW_AUTHORITY = 0.3
"""DA: sites of 3 of 10 and below are of low authority (METRICS 1.4)."""


@dataclass(frozen=True, slots=True)
class Defect:
    """One planted defect; `places` are the sentences of the report that hold it, none for an omission."""

    task: str
    agent: str
    kind: str
    places: tuple[Span, ...]

    def is_hit(self, start: int, end: int) -> bool:
        """Whether the stretch of the report touches a sentence of the defect."""
        return any(start < place.end and place.start < end for place in self.places)


def make(run: FinishedRun) -> Sequence[Path]:
    """All files of the study, in the order in which they are written. Raises DatasetError for a run on other reports."""
    planted = defects()
    scores = run.report_scores.filter(pl.col("perturbation") == CLEAN, pl.col("primary"))
    check_demo(scores)
    table = defect_table(scores)
    accused = accusations(run.judgments.filter(pl.col("perturbation") == CLEAN))
    pointed, hits = pointed_table(planted, accused), accusation_table(planted, accused)
    unplaced = sum(not defect.places for defect in planted)
    return [
        *write_table(table, run.output, "defects"),
        *write_table(pointed, run.output, "pointed"),
        *write_table(hits, run.output, "accusations"),
        *draw(table, run.output),
        write_findings(run, "Demo defects", findings(table, pointed, hits, unplaced)),
    ]


def defects(folder: Path = NOTES) -> list[Defect]:
    """Every defect of the notes, placed in its report."""
    documents = {(report.task_id, report.agent): parse_document(report.text) for report in DemoDataset().load(None).reports}
    found = []
    for path in sorted(folder.glob("*.yaml")):
        for defect in yaml.safe_load(path.read_text(encoding="utf-8"))["defects"]:
            places = _places(documents[path.stem, defect["agent"]], defect["quote"])
            found.append(Defect(path.stem, defect["agent"], defect["kind"], places))
    return found


def _places(document: Document, quote: str) -> tuple[Span, ...]:
    """The sentences that the quote touches, and the quote itself (it may stand in a heading or a list of sources)."""
    if not quote:
        return ()
    start = document.text.index(quote)
    place = Span(start, start + len(quote))
    touched = [one.span for one in document.sentences if one.span.start < place.end and place.start < one.span.end]
    return (place, *touched)


def check_demo(scores: pl.DataFrame) -> None:
    """Raises DatasetError unless the run scored the bundled demo's good agent and others."""
    agents = scores["agent"].unique().sort().to_list()
    if scores["dataset"].unique().to_list() != [DemoDataset.title] or GOOD not in agents or len(agents) < 2:
        what = "compares the demo's flawed agents with its good one, and this run has other reports"
        raise DatasetError(Problem("study=demo_defects", what, [f"dataset=demo with the agent {GOOD}"], "dataset=demo"))


def defect_table(scores: pl.DataFrame) -> pl.DataFrame:
    """One row per judge, flawed agent and metric; values x100. `scores`: primary values of clean reports."""
    values = scores.group_by("judge", "metric", "agent", "task", maintain_order=True).agg(pl.col("value").mean())
    judges, metrics = (values[name].unique(maintain_order=True).to_list() for name in ("judge", "metric"))
    flawed = sorted(set(values["agent"]) - {GOOD})
    rows = []
    for judge, agent, metric in product(judges, flawed, metrics):
        part = values.filter(pl.col("judge") == judge, pl.col("metric") == metric)
        good, bad = (part.filter(pl.col("agent") == name).select("task", "value") for name in (GOOD, agent))
        pairs = good.join(bad, on="task", how="inner").drop_nulls().sort("task")
        if part.is_empty():
            continue
        result = paired_difference(pairs["value"], pairs["value_right"], seed=0)
        rows.append(
            {
                "judge": judge,
                "agent": agent,
                "metric": metric,
                "good": _x100(pairs["value"].mean()),
                "flawed": _x100(pairs["value_right"].mean()),
                "difference": _x100(result.value),
                "low": _x100(result.low),
                "high": _x100(result.high),
                "p": None if result.p is None else round(result.p, 4),
                "tasks": result.n,
                "detectable": _x100(result.detectable),
                "result": verdict(result),
            }
        )
    return pl.DataFrame(rows)


def verdict(difference: PairedDifference) -> str:
    """What a difference good - flawed says: found, missed, wrong way; no value where no task has both scores."""
    if difference.value is None:
        return NO_VALUE
    if difference.low is None or difference.high is None:
        return MISSED
    return FOUND if difference.low > 0 else WRONG_WAY if difference.high < 0 else MISSED


def accusations(items: pl.DataFrame) -> pl.DataFrame:
    """The negative judgments that point at words of a report, each place once per judge, metric and report.

    Negative is what costs the report points: a value below a half, a deduction (RQ), a site of low authority (DA), and a
    cited page that nobody can read (CI).
    """
    value, metric, family = pl.col("value"), pl.col("metric"), pl.col("family")
    low = pl.when(metric == "da").then(value <= LOW_AUTHORITY).otherwise(value < 0.5)
    unreadable = (metric == "ci") & (family == "citation") & (pl.col("label") == "unverifiable")
    placed = pl.col("report_start").is_not_null() & (pl.col("status") == "scored")
    columns = ["judge", "metric", "task", "agent", "report_start", "report_end"]
    return items.filter(placed, low.fill_null(False) | unreadable).select(columns).unique(maintain_order=True)


def pointed_table(planted: Sequence[Defect], accused: pl.DataFrame) -> pl.DataFrame:
    """One row per judge, kind of defect and metric: defects with a place, and how many of them are pointed at."""
    rows = []
    for judge, metric in accused.select("judge", "metric").unique(maintain_order=True).iter_rows():
        spans = _spans(accused, judge, metric)
        for kind in sorted({defect.kind for defect in planted}):
            placed = [one for one in planted if one.kind == kind and one.places]
            if not placed:
                continue
            hit = sum(any(one.is_hit(*span) for span in spans.get((one.task, one.agent), ())) for one in placed)
            rows.append({"judge": judge, "kind": kind, "metric": metric, "defects": len(placed), "pointed_at": hit})
    return pl.DataFrame(rows, schema=None if rows else ["judge", "kind", "metric", "defects", "pointed_at"])


def accusation_table(planted: Sequence[Defect], accused: pl.DataFrame) -> pl.DataFrame:
    """One row per judge, metric and agent: places accused, and how many of them hold no planted defect."""
    rows = []
    for judge, metric, agent in accused.select("judge", "metric", "agent").unique(maintain_order=True).iter_rows():
        hit = count = 0
        for (task, name), spans in _spans(accused, judge, metric).items():
            own = [one for one in planted if (one.task, one.agent) == (task, name)]
            count += len(spans) if name == agent else 0
            hit += sum(any(one.is_hit(*span) for one in own) for span in spans) if name == agent else 0
        rows.append(
            {"judge": judge, "metric": metric, "agent": agent, "accused": count, "on_a_defect": hit, "sound": count - hit}
        )
    return pl.DataFrame(rows, schema=None if rows else ["judge", "metric", "agent", "accused", "on_a_defect", "sound"])


def _spans(accused: pl.DataFrame, judge: str, metric: str) -> dict[tuple[str, str], list[tuple[int, int]]]:
    """The accused stretches by task and agent."""
    spans: dict[tuple[str, str], list[tuple[int, int]]] = {}
    part = accused.filter(pl.col("judge") == judge, pl.col("metric") == metric)
    for task, agent, start, end in part.select("task", "agent", "report_start", "report_end").iter_rows():
        spans.setdefault((task, agent), []).append((start, end))
    return spans


def findings(table: pl.DataFrame, pointed: pl.DataFrame, hits: pl.DataFrame, unplaced: int) -> list[str]:
    """The study in words, every number from the tables."""
    how = "Difference: mean over tasks of good minus flawed, x100, primary variant of each report, with its 95 % interval."
    lines = [how]
    for judge in table["judge"].unique(maintain_order=True):
        part = table.filter(pl.col("judge") == judge)
        lines += ["", f"## Planted defects by {judge}", ""]
        lines += _grid(part)
        lines += ["", *_mirage(part, judge), ""]
        lines += [f"## Sentences that {judge} points at", "", *_pointed(pointed.filter(pl.col("judge") == judge)), ""]
        lines += [f"{unplaced} omissions have no place in a report and cannot be pointed at.", ""] if unplaced else []
        lines += _sound(hits.filter(pl.col("judge") == judge))
    return lines


def _grid(part: pl.DataFrame) -> list[str]:
    metrics = part["metric"].unique(maintain_order=True).to_list()
    lines = [f"| planted | {' | '.join(metrics)} |", "|" + " --- |" * (len(metrics) + 1)]
    for agent in part["agent"].unique(maintain_order=True):
        rows = {row["metric"]: row for row in part.filter(pl.col("agent") == agent).iter_rows(named=True)}
        lines.append(f"| {agent} | {' | '.join(_cell(rows.get(metric)) for metric in metrics)} |")
    return lines


def _cell(row: dict[str, Any] | None) -> str:
    if row is None or row["difference"] is None:
        return NO_VALUE
    shown = row["low"] is not None and row["tasks"] >= FEWEST_TASKS
    interval = f" [{row['low']:.1f}, {row['high']:.1f}]" if shown else ""
    return f"{row['result']} {row['difference']:+.1f}{interval} n={row['tasks']}{few_mark(row['tasks'])}"


def _mirage(part: pl.DataFrame, judge: str) -> list[str]:
    """Who is taken in by reports that read well, cite well and are wrong."""
    rows = list(part.filter(pl.col("agent") == MIRAGE_AGENT).iter_rows(named=True))
    if not rows:
        return []
    outside, inside = ([row for row in rows if (row["metric"] in FACTS) is beyond] for beyond in (True, False))
    fooled = [row for row in inside if row["result"] != FOUND]
    lines = []
    if fooled:
        said = ", ".join(f"{row['metric']} ({row['flawed']:.1f} against {row['good']:.1f}, {row['result']})" for row in fooled)
        lines.append(f"The Mirage: {said} cannot tell the fluent and wrong reports from the good ones.")
    if seen := [row["metric"] for row in inside if row["result"] == FOUND]:
        lines.append(f"Not taken in, though it never leaves the report and its own sources: {', '.join(seen)}.")
    if outside:
        said = ", ".join(f"{row['metric']} {row['result']} ({_signed(row['difference'])})" for row in outside)
        lines.append(f"The metrics that check the content itself, by {judge}: {said}.")
    return lines


def _pointed(pointed: pl.DataFrame) -> list[str]:
    metrics = pointed["metric"].unique(maintain_order=True).to_list()
    if not metrics:
        return ["No negative judgment points at words of a report."]
    lines = [f"| kind | defects | {' | '.join(metrics)} |", "|" + " --- |" * (len(metrics) + 2)]
    for kind in pointed["kind"].unique(maintain_order=True):
        rows = pointed.filter(pl.col("kind") == kind)
        counts = dict(rows.select("metric", "pointed_at").iter_rows())
        cells = [str(rows["defects"][0]), *(str(counts.get(metric, 0)) for metric in metrics)]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    return lines


def _sound(hits: pl.DataFrame) -> list[str]:
    """How often each metric accuses text in which nothing is planted."""
    lines = []
    for metric in hits["metric"].unique(maintain_order=True):
        part = hits.filter(pl.col("metric") == metric)
        accused, sound = int(part["accused"].sum()), int(part["sound"].sum())
        good = int(part.filter(pl.col("agent") == GOOD)["accused"].sum())
        what = "places (uncited claims among them)" if metric == "ci" else "places"
        lines.append(f"- {metric} accuses {accused} {what}, {sound} of them sound text ({good} in {GOOD} reports).")
    return lines


def draw(table: pl.DataFrame, folder: Path) -> list[Path]:
    """One panel per judge: metrics across, flawed agents down, the difference in colour and words."""
    judges = table["judge"].unique(maintain_order=True).to_list()
    metrics = table["metric"].unique(maintain_order=True).to_list()
    agents = table["agent"].unique(maintain_order=True).to_list()
    size = (1.5 + 1.25 * len(metrics), 1.0 + 0.75 * len(agents) * len(judges))
    figure = new_figure(len(judges), 1, width=size[0], height=size[1])
    for axes, judge in zip(figure.axes, judges, strict=True):
        for row in table.filter(pl.col("judge") == judge).iter_rows(named=True):
            x, y = metrics.index(row["metric"]), agents.index(row["agent"])
            colour = {FOUND: "#9ecae1", MISSED: "#eeeeee", WRONG_WAY: "#fdae6b"}.get(row["result"], "white")
            axes.barh(y, 0.96, left=x - 0.48, height=0.92, color=colour)
            axes.text(x, y, f"{_signed(row['difference'])}\n{row['result']}", ha="center", va="center", fontsize="small")
        axes.set_xlim(-0.5, len(metrics) - 0.5)
        axes.set_xticks(range(len(metrics)), metrics)
        axes.set_yticks(range(len(agents)), agents)
        axes.invert_yaxis()
        axes.set_title(f"good minus flawed, x100, by {judge}")
    return write_figure(figure, folder, "demo_defects")


def _x100(value: Any) -> float | None:
    return None if value is None else round(100 * float(value), 4)


def _signed(value: float | None) -> str:
    return "none" if value is None else f"{value:+.1f}"
