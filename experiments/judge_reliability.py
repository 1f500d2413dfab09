"""Judge reliability: would the same judge say it again, would another judge, and does it still say what it said?

Reads a finished run whose metrics were asked several times (`repeats`), by several judges, in several orders. Writes
`repeats` (ICC over repeats, sd of the data-set mean, turned items), `order` (ways that differ in order only), `panel_size`
(how near a panel of k judges comes to all of them), `canary` (stored judgments asked again past every cache) and
`canary_items`, a figure and `findings.md`.
"""

# Annotations stay real objects: studies are loaded from their file, where pydantic could not look names up.

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from pydantic import Field

from dreambench.reporting.finished import FinishedRun
from dreambench.runs.assembly import CLEAN
from dreambench.stats.repeats import icc, repeat_spread
from dreambench.studies.canary import ask_again
from dreambench.studies.findings import bounded, write_findings
from dreambench.studies.inputs import StudySettings, read_settings
from dreambench.studies.outputs import rounded, write_table
from dreambench.studies.panels import interval_panels
from dreambench.studies.rubric_variants import SAME, compare_ways
from dreambench.studies.scored_twice import judged, ranking_agreement, reads_wording


class Inputs(StudySettings):
    """`canary`: how many stored judgments are asked again, at least (whole reports are taken); 0: none."""

    canary: Annotated[int, Field(ge=0)] = 20


def check(inputs: Mapping[str, Any]) -> None:
    """Raises ConfigError for an unknown key or a number that is none."""
    read_settings(Inputs, inputs)


def make(run: FinishedRun) -> Sequence[Path]:
    """All files of the study, in the order in which they are written; asks the canary's questions first."""
    values = judged(run.report_scores)
    items = ask_again(run, read_settings(Inputs, run.inputs).canary)
    repeats, panels = repeat_table(values, run.judgments), panel_table(values)
    ways = compare_ways(values, run.judgments)
    order = ways.filter(pl.col("axis") == "order") if ways.width else ways
    canary = canary_table(items, repeats)
    folder = run.output
    tables = {"repeats": repeats, "order": order, "panel_size": panels, "canary": canary, "canary_items": items}
    written = [path for name, table in tables.items() if table.height for path in write_table(rounded(table), folder, name)]
    return [
        *written,
        *_draw(repeats, panels, folder),
        write_findings(run, "Judge reliability", _findings(tables, run)),
    ]


def repeat_table(values: pl.DataFrame, judgments: pl.DataFrame) -> pl.DataFrame:
    """One row per metric, rubric and judge that was asked more than once."""
    names = ["metric", "rubric", "judge"]
    rows = []
    for keys, part in values.group_by(names, maintain_order=True):
        repeats = part["repeat"].n_unique()
        if repeats < 2:
            continue
        wide = part.pivot(on="repeat", index="report", values="value").drop("report")
        one, mean = (icc(wide.rows(), kind="1", average=average) for average in (False, True))
        spread = repeat_spread(part)
        named = dict(zip(names, map(str, keys), strict=True))
        icc_columns = {"icc": one.value, "icc_low": one.low, "icc_high": one.high, "icc_of_mean": mean.value}
        shown = {"repeats": repeats, "reports": wide.height, **icc_columns, "sd": spread.value, "reason": one.reason}
        rows.append({**named, **shown, **turned_items(judgments, named)})
    return pl.DataFrame(rows, infer_schema_length=None)


def turned_items(judgments: pl.DataFrame, keys: Mapping[str, str]) -> dict[str, Any]:
    """Of items judged in every repeat: how many there are, and the share whose value is not the same each time.

    `turned_pair` is the share of two repeats that differ: what one repeat against another, like a canary, has to expect.
    """
    own = judgments.filter(*(pl.col(name) == value for name, value in keys.items()))
    scored = own.filter(pl.col("status") == "scored", pl.col("value").is_not_null(), pl.col("perturbation") == CLEAN)
    values = pl.col("value").round(9)
    by_item = scored.group_by("report", "item").agg(n=values.len(), kinds=values.n_unique(), same=(values.value_counts()))
    full = by_item.filter(pl.col("n") == pl.col("n").max(), pl.col("n") > 1)
    if full.is_empty():
        return {"items": 0, "turned": None, "turned_pair": None}
    pairs = full.select(
        pl.col("same").list.eval(pl.element().struct.field("count").cast(pl.Float64)).alias("counts"),
        pl.col("n").cast(pl.Float64),
    ).select(1 - pl.col("counts").list.eval(pl.element() * (pl.element() - 1)).list.sum() / (pl.col("n") * (pl.col("n") - 1)))
    return {"items": full.height, "turned": (full["kinds"] > 1).mean(), "turned_pair": pairs.to_series().mean()}


def panel_table(values: pl.DataFrame) -> pl.DataFrame:
    """For panels of k = 1, 2, ... of the run's judges: distance of report scores from the mean of all, order of agents.

    `distance` and `tau` are means over all panels of that size. `reliability` is that of the mean of k judges, stepped up by
    Spearman and Brown from ICC(2,1): judges as a random sample, absolute agreement.
    """
    rows = []
    for (metric, rubric), part in values.group_by("metric", "rubric", maintain_order=True):
        judges = sorted(part["judge"].unique())
        means = part.group_by("task", "agent", "judge").agg(pl.col("value").mean())
        wide = means.pivot(on="judge", index=["task", "agent"], values="value").drop_nulls().sort("task", "agent")
        if len(judges) < 2 or wide.is_empty():
            continue
        single = icc(wide.select(judges).rows(), kind="2")
        for k in range(1, len(judges) + 1):
            sizes = [_panel(wide, panel, judges) for panel in itertools.combinations(judges, k)]
            keys = {"metric": metric, "rubric": rubric, "k": k, "panels": len(sizes), "reports": wide.height}
            rows.append({**keys, **_mean_of(sizes), "reliability": stepped(single.value, k), "icc_reason": single.reason})
    return pl.DataFrame(rows, infer_schema_length=None)


def _panel(wide: pl.DataFrame, panel: Sequence[str], judges: Sequence[str]) -> dict[str, float | None]:
    columns = {
        "task": pl.col("task"),
        "agent": pl.col("agent"),
        "one": pl.mean_horizontal(panel),
        "other": pl.mean_horizontal(judges),
    }
    pairs = wide.select(**columns)
    return {"distance": (pairs["one"] - pairs["other"]).abs().mean(), "tau": ranking_agreement(pairs)["tau"]}


def _mean_of(sizes: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    found = pl.DataFrame(sizes, schema={"distance": pl.Float64, "tau": pl.Float64})
    return {"distance": found["distance"].mean(), "tau": found["tau"].mean()}  # type: ignore[dict-item]


def stepped(value: float | None, k: int) -> float | None:
    """Reliability of the mean of k judges from that of one (Spearman 1910, Brown 1910); none for a negative one."""
    return None if value is None or value < 0 else k * value / (1 + (k - 1) * value)


def canary_table(items: pl.DataFrame, repeats: pl.DataFrame) -> pl.DataFrame:
    """Per metric, rubric and judge: stored judgments asked again, how many differ, beside what repeats differ by."""
    apart = (pl.col("value_now") - pl.col("value")).abs()
    answered = (pl.col("status") == "scored") & (pl.col("status_now") == "scored")
    numbers = pl.col("value").is_not_null() & pl.col("value_now").is_not_null()
    differs = pl.when(numbers).then(apart > SAME).otherwise(pl.col("label") != pl.col("label_now"))
    keys = ["metric", "rubric", "judge"]
    table = items.group_by(keys, maintain_order=True).agg(
        asked_again=pl.len(),
        unanswered=(~answered).sum(),
        changed=differs.filter(answered).mean(),
        moved=(pl.col("value_now") - pl.col("value")).filter(answered).mean(),
        distance=apart.filter(answered).mean(),
    )
    if not repeats.width:
        return table.with_columns(changed_between_repeats=pl.lit(None, pl.Float64))
    usual = repeats.select(*keys, pl.col("turned_pair").cast(pl.Float64).alias("changed_between_repeats"))
    return table.join(usual, on=keys, how="left")


def _draw(repeats: pl.DataFrame, panels: pl.DataFrame, folder: Path) -> list[Path]:
    """ICC over repeats, and the reliability of panels, beside each other."""
    label = pl.format("{} {}", "metric", "rubric")
    nothing = pl.lit(None, pl.Float64)
    frames = []
    if repeats.width:
        columns = {"value": "icc", "low": "icc_low", "high": "icc_high"}
        shown = [pl.col(old).cast(pl.Float64).alias(new) for new, old in columns.items()]
        frames.append(
            repeats.select(
                pl.lit("ICC over repeats").alias("panel"), label.alias("row"), pl.col("judge").alias("series"), *shown
            )
        )
    if panels.width:
        value = pl.col("reliability").cast(pl.Float64).alias("value")
        series = pl.format("{} of them", "k").alias("series")
        ends = [nothing.alias("low"), nothing.alias("high")]
        frames.append(panels.select(pl.lit("reliability of a panel").alias("panel"), label.alias("row"), series, value, *ends))
    if not frames:
        return []
    table = pl.concat(frames)
    return interval_panels(table, folder, "judge_reliability", panel="panel", row="row", series="series", label="0 to 1")


def _findings(tables: Mapping[str, pl.DataFrame], run: FinishedRun) -> list[str]:
    lines = [_repeat_line(row, run) for row in tables["repeats"].iter_rows(named=True)]
    lines += [_order_line(row, run) for row in tables["order"].iter_rows(named=True)]
    lines += [
        f"- {row['metric']} ({row['rubric']}), panels of {row['k']}: report scores lie {100 * row['distance']:.2f} points from "
        f"the mean of all judges, reliability {bounded(row['reliability'], None, None, n=None)}."
        for row in tables["panel_size"].iter_rows(named=True)
    ]
    if tables["panel_size"].is_empty():
        lines.append("- One judge only: nothing can be said about panels (judge=[a,b,c]).")
    lines += [_canary_line(row) for row in tables["canary"].iter_rows(named=True)]
    return lines


def _repeat_line(row: Mapping[str, Any], run: FinishedRun) -> str:
    who = f"- {row['metric']} ({row['rubric']}) by {row['judge']}"
    if not reads_wording(run, row["judge"]):
        return f"{who}: answers by rules, so {row['repeats']} repeats are equal by construction; that is no finding."
    value = bounded(row["icc"], row["icc_low"], row["icc_high"], n=row["reports"])
    sd = "" if row["sd"] is None else f", sd of the data-set mean {100 * row['sd']:.2f} points"
    turned = (
        "" if row["turned"] is None else f", {100 * row['turned']:.0f} % of {row['items']} items are not the same each time"
    )
    return f"{who}: ICC {value} over {row['repeats']} repeats{sd}{turned}."


def _order_line(row: Mapping[str, Any], run: FinishedRun) -> str:
    who = f"- {row['metric']} by {row['judge']}, {row['rubric']}"
    if not reads_wording(run, row["judge"]):
        return f"{who}: answers by rules and reads no order."
    low, high = (None if row[name] is None else 100 * row[name] for name in ("shift_low", "shift_high"))
    moved = None if row["shift"] is None else 100 * row["shift"]
    return (
        f"{who}: the other order shifts scores by {bounded(moved, low, high, n=row['tasks'])} points over {row['tasks']} tasks."
    )


def _canary_line(row: Mapping[str, Any]) -> str:
    usual = row["changed_between_repeats"]
    beside = "" if usual is None else f" (two repeats of the run differ in {100 * usual:.0f} %)"
    changed = "none was answered" if row["changed"] is None else f"{100 * row['changed']:.0f} % changed{beside}"
    lost = f", {row['unanswered']} without an answer" if row["unanswered"] else ""
    who = f"- Canary, {row['metric']} ({row['rubric']}) by {row['judge']}"
    return f"{who}: {row['asked_again']} judgments asked again, {changed}{lost}."
