"""Adversarial claims: score against the rate of false claims whose own sources back them (DREAM's adversarial test).

The sample is the claims, not the reports: every claim is judged as true and as false variant, so intervals are over claims.
Reads a finished run. Writes `adversarial_claims` (a row per metric and judge: slope on the rate, straightness, change from
r = 0 to r = 1 with TOST), `by_rate` (mean, smallest and largest of the draws per rate), `by_claim` (label of each claim,
true and false), the figure and `findings.md`.
"""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from dreambench.perturbations.edits import Edit, EditLog, revert
from dreambench.reporting.finished import FinishedRun
from dreambench.runs.assembly import CLEAN
from dreambench.stats.dose import dose_response
from dreambench.stats.equivalence import equivalent_paired
from dreambench.stats.ranks import correlation
from dreambench.studies.dose_figures import draw_doses
from dreambench.studies.dose_study import points
from dreambench.studies.dose_tables import labelled
from dreambench.studies.findings import bounded, write_findings
from dreambench.studies.outputs import rounded, write_table

MARGIN = 0.1
"""How far a score may move from r = 0 to r = 1 and still count as flat."""
_HEADING = re.compile(r"^##\s+(.+)$", re.MULTILINE)


def make(run: FinishedRun) -> Sequence[Path]:
    """All files of the study, in the order in which they are written."""
    claims = claim_table(run)
    rates = rate_table(run.report_scores)
    found = response_table(claims, rates)
    folder = run.output
    points = rates.rename({"rate": "dose"}).with_columns(perturbation=pl.lit("adversarial claims"))
    return [
        *write_table(rounded(found), folder, "adversarial_claims"),
        *write_table(rounded(rates), folder, "by_rate"),
        *write_table(label_table(claims), folder, "by_claim"),
        *draw_doses(points, folder, "adversarial_claims", x="rate of false claims", y="score x100, range of draws"),
        write_findings(run, "Adversarial claims", [_line(row) for row in found.iter_rows(named=True)]),
    ]


def rate_table(report_scores: pl.DataFrame) -> pl.DataFrame:
    """Mean over the draws at every rate with the smallest and largest draw as `low` and `high`: spread, not an interval."""
    values = labelled(report_scores.filter(pl.col("primary"))).rename({"dose": "rate"})
    return (
        values.group_by("metric", "judge", "rate", maintain_order=True)
        .agg(pl.col("value").mean(), low=pl.col("value").min(), high=pl.col("value").max(), draws=pl.col("value").count())
        .sort("metric", "judge", "rate")
    )


def claim_table(run: FinishedRun) -> pl.DataFrame:
    """One row per judged claim: metric, judge, rate, draw, topic, false (which variant was judged), label, value.

    A claim belongs to the topic whose heading it stands under.
    """
    layouts = read_layouts(run.folder.perturbed)
    items = run.judgments.filter(pl.col("family").is_in(["claim", "fact"]), pl.col("report_start").is_not_null())
    rows = []
    for item in items.iter_rows(named=True):
        name, clean = f"{item['task']}--{item['agent']}", item["perturbation"] == CLEAN
        layout = layouts.get((name, 0.0, None) if clean else (name, item["dose"], item["perturbation_seed"]))
        place = bisect.bisect_right(layout.starts, item["report_start"]) - 1 if layout else -1
        if layout is None or place < 0:
            continue
        known = {"metric": item["metric"], "judge": item["judge"], "rate": item["dose"], "draw": item["perturbation_seed"]}
        judged = {"topic": layout.topics[place], "false": place in layout.swapped}
        rows.append({**known, **judged, "label": item["label"], "value": item["value"]})
    schema = {"metric": pl.String, "judge": pl.String, "rate": pl.Float64, "draw": pl.Int64, "topic": pl.String}
    return pl.DataFrame(rows, schema={**schema, "false": pl.Boolean, "label": pl.String, "value": pl.Float64})


class Layout(NamedTuple):
    """Where the topics of one text begin, and which of them state a false variant."""

    topics: list[str]
    starts: list[int]
    swapped: frozenset[int]


def read_layouts(folder: Path) -> dict[tuple[str, float, int | None], Layout]:
    """Layouts by (report, rate, draw), from the texts and edit logs of a run; the clean text of a report at (0.0, None)."""
    found = {}
    for path in sorted(folder.glob("*/*.json")):
        log = json.loads(path.read_text(encoding="utf-8"))
        edits = tuple(Edit(**edit) for edit in log["edits"])
        text = path.with_suffix(".md").read_text(encoding="utf-8")
        clean = _layout(revert(text, EditLog(**{**log, "edits": edits, "steps": ()})), frozenset())
        swapped = frozenset(bisect.bisect_right(clean.starts, edit.before_start) - 1 for edit in edits)
        found[path.stem, log["dose"], log["seed"]] = _layout(text, swapped)
        found[path.stem, 0.0, None] = clean
    return found


def _layout(text: str, swapped: frozenset[int]) -> Layout:
    headings = list(_HEADING.finditer(text))
    return Layout([heading[1].strip() for heading in headings], [heading.start() for heading in headings], swapped)


def response_table(claims: pl.DataFrame, rates: pl.DataFrame) -> pl.DataFrame:
    """One row per metric and judge: F at r = 0 and 1 and their difference over claims, the slope on r, how straight it is."""
    rows = []
    for (metric, judge), part in claims.group_by("metric", "judge", maintain_order=True):
        variants = part.group_by("topic", "false").agg(pl.col("value").mean()).pivot(on="false", index="topic", values="value")
        known = {name: variants[name] if name in variants.columns else pl.Series([]) for name in ("true", "false")}
        change = equivalent_paired(known["true"], known["false"], margin=MARGIN)
        slope = dose_response(part, dose="rate", report="topic", task="topic")
        curve = rates.filter(pl.col("metric").str.replace(r"\[.*", "") == metric, pl.col("judge") == judge)
        straight = correlation(curve["rate"], curve["value"], kind="pearson").effect
        rows.append(
            {
                "metric": metric,
                "judge": judge,
                "claims": variants.height,
                "true": known["false"].mean(),
                "false": known["true"].mean(),
                "change": change.value,
                "low": change.low,
                "high": change.high,
                "flat": change.equivalent,
                "slope": slope.slope,
                "slope_low": slope.low,
                "slope_high": slope.high,
                "p": slope.p,
                "r_squared": None if straight is None else straight**2,
                "undecided": int(part["value"].is_null().sum()),
                "reason": slope.reason or change.reason,
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def label_table(claims: pl.DataFrame) -> pl.DataFrame:
    """The label of every claim as true and as false variant: metric, judge, topic, true, false; several are joined."""
    labels = claims.group_by("metric", "judge", "topic", "false", maintain_order=True).agg(
        pl.col("label").unique().sort().str.join(", ")
    )
    named = labels.with_columns(variant=pl.when("false").then(pl.lit("false_variant")).otherwise(pl.lit("true_claim")))
    return named.pivot(on="variant", index=["metric", "judge", "topic"], values="label")


def _line(row: dict[str, Any]) -> str:
    what = f"- {row['metric']} by {row['judge']}: "
    if row["change"] is None:
        return f"{what}nothing can be said: {row['reason']}."
    told = points(row, "change", "low", "high")
    ends = f"{100 * row['true']:.1f} on the true claims and {100 * row['false']:.1f} on their false variants"
    ends += f", {told} apart (90 % interval)"
    slope = f"; slope on the rate {bounded(row['slope'], row['slope_low'], row['slope_high'], n=row['claims'])}"
    falls = row["slope_high"] is not None and row["slope_high"] < 0
    verdict = "it falls" if falls else "it stays flat" if row["flat"] else "no fall is shown"
    straight = "" if row["r_squared"] is None else f", R2 of the mean over draws with the rate {row['r_squared']:.2f}"
    left = f"; {row['undecided']} judgments undecided" if row["undecided"] else ""
    return f"{what}{ends}{slope} over {row['claims']} claims{straight}{left}: {verdict}."
