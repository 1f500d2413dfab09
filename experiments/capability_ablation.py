"""Capability ablation: what does a protocol gain from tools and retrieval? (DREAM's Table 2.)

Reads a finished run of `metric=item_quality` over `dataset=protocol_items`, where the "agents" are ways of making protocols,
and, with `study_inputs.ratings`, people's ratings. Every rater is a judge of the run or a person. Writes `table2` (way x
aspect x rater: mean rating 1-3 and its share (x-1)/2), `concordance` (Kendall's W over the raters' rankings of ways, with its
chi-square p), `differences` (pairs of ways, paired by task, Holm), `rating_sheet.csv` (the items in random order without
their way, to be filled in by people), a figure and `findings.md`.
"""

# Annotations stay real objects: studies are loaded from their file, where pydantic could not look names up.

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.errors import InputError, Problem
from dreambench.records import short_hash
from dreambench.reporting.finished import FinishedRun
from dreambench.stats.agreement import kendalls_w
from dreambench.stats.intervals import mean_intervals
from dreambench.stats.paired import compare_pairs
from dreambench.studies.findings import bounded, write_findings
from dreambench.studies.inputs import WHERE, StudySettings, existing_file, read_settings
from dreambench.studies.outputs import rounded, write_table
from dreambench.studies.panels import interval_panels

COLUMNS = ("rater", "item", "aspect", "rating")
RATINGS = ("1", "2", "3")


class Inputs(StudySettings):
    """`ratings`: a filled rating_sheet.csv (or several raters' sheets in one), with a column `rater`."""

    ratings: Path | None = None


def check(inputs: Mapping[str, Any]) -> None:
    """Raises InputError for a sheet that cannot be used, with every wrong line."""
    read_ratings(read_settings(Inputs, inputs))


def read_ratings(given: Inputs) -> pl.DataFrame:
    """People's ratings: rater, item, aspect, value = (rating - 1) / 2. Rows without a rating are left out."""
    schema = {"rater": pl.String, "item": pl.String, "aspect": pl.String, "value": pl.Float64}
    if given.ratings is None:
        return pl.DataFrame(schema=schema)
    path = existing_file(given.ratings, "ratings")
    sheet = pl.read_csv(path, infer_schema=False)
    if missing := [name for name in COLUMNS if name not in sheet.columns]:
        raise InputError(*(Problem(f"{WHERE}.ratings", f"{path} has no column {name}", COLUMNS) for name in missing))
    filled = sheet.with_row_index("line", offset=2).filter(pl.col("rating").fill_null("") != "")
    wrong = filled.filter(~pl.col("rating").is_in(RATINGS) | (pl.col("rater").fill_null("") == ""))
    if wrong.height:
        what = "needs a rater and a rating"
        raise InputError(*(Problem(f"{path}:{line}", what, RATINGS) for line in wrong["line"].to_list()[:20]))
    return filled.select(*COLUMNS[:3], value=(pl.col("rating").cast(pl.Float64) - 1) / 2)


def make(run: FinishedRun) -> Sequence[Path]:
    """All files of the study. Raises InputError for a run without rated items."""
    items = rated_items(run.judgments)
    if items.is_empty():
        fix = "dataset=protocol_items metric=[item_quality]"
        raise InputError(Problem("metric", "the study capability_ablation reads the metric item_quality", type=fix))
    ratings = all_ratings(items, read_ratings(read_settings(Inputs, run.inputs)))
    table, agreement, differences = quality_table(ratings), concordance(ratings), way_differences(ratings)
    folder = run.output
    return [
        *write_table(rounded(table), folder, "table2"),
        *write_table(rounded(agreement), folder, "concordance"),
        *write_table(rounded(differences), folder, "differences"),
        write_sheet(items, folder / "rating_sheet.csv"),
        *interval_panels(
            table.with_columns(value="share"),
            folder,
            "capability_ablation",
            panel="aspect",
            row="way",
            series="rater",
            label="(rating - 1) / 2, x100",
            scale=100,
        ),
        write_findings(run, "Capability ablation", _findings(table, agreement, differences)),
    ]


def rated_items(judgments: pl.DataFrame) -> pl.DataFrame:
    """The judges' ratings: task, way, item, aspect, rater, value (0 to 1, mean over repeats), heading."""
    rows = judgments.filter(pl.col("metric") == "item_quality", pl.col("status") == "scored")
    return (
        rows.group_by("task", "agent", "item", "family", "judge", maintain_order=True)
        .agg(pl.col("value").mean(), heading=pl.col("rationale").str.split("\n").list.first().first())
        .rename({"agent": "way", "family": "aspect", "judge": "rater"})
    )


def all_ratings(items: pl.DataFrame, people: pl.DataFrame) -> pl.DataFrame:
    """Judges' and people's ratings in one table. Raises InputError for a rating of an item that the run does not have."""
    known = items.select("item", "task", "way").unique(maintain_order=True)
    unknown = people.join(known, on="item", how="anti")
    if unknown.height:
        what = f"{unknown.height} ratings are of items that this run does not have, like {unknown['item'][0]}"
        raise InputError(Problem(f"{WHERE}.ratings", what, ["items of this run's rating_sheet.csv"]))
    columns = ["task", "way", "item", "aspect", "rater", "value"]
    return pl.concat([items.select(columns), people.join(known, on="item", how="inner").select(columns)])


def quality_table(ratings: pl.DataFrame) -> pl.DataFrame:
    """One row per aspect, rater and way: share with its interval over tasks, the same on the scale 1-3, items and tasks."""
    keys = ["aspect", "rater", "way"]
    tasks = ratings.group_by([*keys, "task"]).agg(pl.col("value").mean())
    found = mean_intervals(tasks, keys, seed=0, bounds=(0.0, 1.0))
    counts = ratings.group_by(keys).agg(items=pl.len())
    renamed = found.rename({"value": "share", "n": "tasks", "method": "interval"}).with_columns(rating=1 + 2 * pl.col("share"))
    return renamed.join(counts, on=keys, how="left", maintain_order="left")


def concordance(ratings: pl.DataFrame) -> pl.DataFrame:
    """Kendall's W per aspect: do raters rank the ways alike? By a rater's means per way over tasks that have all ways."""
    rows = []
    for (aspect,), part in ratings.sort("aspect").group_by("aspect", maintain_order=True):
        ways = sorted(part["way"].unique())
        complete = part.filter(pl.col("way").n_unique().over("rater", "task") == len(ways))
        means = complete.group_by("rater", "way").agg(pl.col("value").mean()).sort("rater", "way")
        wide = (
            means.pivot(on="way", index="rater", values="value") if means.height else pl.DataFrame(schema=dict.fromkeys(ways))
        )
        found = kendalls_w(wide.select(ways).rows())
        shown = {"raters": wide.height, "ways": len(ways), "w": found.effect, "chi_square": found.statistic, "p": found.p}
        rows.append({"aspect": aspect, **shown, "reason": found.reason})
    return pl.DataFrame(rows, infer_schema_length=None)


def way_differences(ratings: pl.DataFrame) -> pl.DataFrame:
    """All pairs of ways per aspect, paired by task over all raters, Holm-adjusted within the aspect."""
    frames = []
    for (aspect,), part in ratings.sort("aspect").group_by("aspect", maintain_order=True):
        means = part.group_by("task", "way").agg(pl.col("value").mean()).sort("task", "way")
        table = means.pivot(on="way", index="task", values="value")
        frames.append(
            compare_pairs(table, sorted(part["way"].unique()), seed=0).select(pl.lit(aspect).alias("aspect"), pl.all())
        )
    return pl.concat(frames)


def write_sheet(items: pl.DataFrame, path: Path) -> Path:
    """Every item and aspect once, in an order that hides the way, with empty columns for rater and rating."""
    sheet = items.select("task", "item", "heading", "aspect").unique(["item", "aspect"])
    lot = pl.col("item").map_elements(lambda name: short_hash("sheet", name), pl.String)
    empty = pl.lit("")
    sheet.sort("aspect", lot).with_columns(rater=empty, rating=empty).select(
        "rater", "task", "item", "heading", "aspect", "rating"
    ).write_csv(path)
    return path


def _findings(table: pl.DataFrame, agreement: pl.DataFrame, differences: pl.DataFrame) -> list[str]:
    lines = []
    for (aspect, rater), part in table.group_by("aspect", "rater", maintain_order=True):
        ranked = part.drop_nulls("share").sort("share", descending=True)
        order = " > ".join(f"{row['way']} {bounded(row['rating'], None, None, n=None)}" for row in ranked.iter_rows(named=True))
        lines.append(f"- {aspect} (1-3) by {rater}: {order}.")
    for row in agreement.iter_rows(named=True):
        said = f"W {row['w']:.2f}, p {row['p']:.4f}" if row["p"] is not None else f"no W ({row['reason']})"
        lines.append(f"- {row['aspect']}: {row['raters']} rater(s), {row['ways']} ways: {said}.")
    clear = differences.filter(pl.col("p_adjusted") < 0.05).height
    lines.append(f"- {clear} of {differences.height} differences between two ways are significant (paired t, Holm, 5 %).")
    return lines
