"""RACE criteria beside KIC items: what do two ways of scoring coverage ask for? (DREAM's Figure 4 and Table 5.)

Reads a finished run with KIC, whose protocols lie in its folder, and a file of RACE criteria for the same queries. Writes
`side_by_side` (one query: every criterion and key fact with its nearest counterpart), `criteria_comparison` (all queries: how
many items of each side name an amount or a date, rest on a page, change with time, and have a counterpart), a figure and
`findings.md`. Likeness is the cosine of TF-IDF vectors: shared words, not shared meaning.
"""

# Annotations stay real objects: studies are loaded from their file, where pydantic could not look names up.

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.datasets.criteria import DEMO_CRITERIA
from dreambench.errors import InputError, Problem
from dreambench.language.dates import find_dates
from dreambench.language.quantities import find_quantities
from dreambench.metrics.race.criteria import read_criteria
from dreambench.metrics.race.formula import Criteria
from dreambench.metrics.race.lookup import ByTask
from dreambench.protocols.files import protocol_files, read_protocol
from dreambench.protocols.model import Creator, Protocol
from dreambench.reporting.finished import FinishedRun
from dreambench.stats.intervals import ratio_interval
from dreambench.studies.findings import bounded, write_findings
from dreambench.studies.inputs import WHERE, StudySettings, read_settings
from dreambench.studies.outputs import rounded, write_table
from dreambench.studies.panels import interval_panels
from dreambench.studies.similarity import vectors

RACE, KIC = "RACE criterion", "KIC item"
MANY = {RACE: "RACE criteria", KIC: "KIC items"}
ALIKE = 0.3
"""Likeness from which on two items count as counterparts."""
TRAITS = {
    "exact": "names an amount or a date",
    "on_a_page": "rests on a page with a quote",
    "time_sensitive": "is marked as changing with time",
    "has_counterpart": "has a counterpart on the other side",
}


class Inputs(StudySettings):
    """`criteria`: a criteria.jsonl, null for the demo's own; `query`: part of the query shown side by side, null: the first."""

    criteria: Path | None = None
    query: str | None = None


def check(inputs: Mapping[str, Any]) -> None:
    """Raises InputError for a file of criteria that cannot be used."""
    _criteria(read_settings(Inputs, inputs))


def _criteria(given: Inputs) -> ByTask[Criteria]:
    return read_criteria(str(given.criteria or DEMO_CRITERIA), f"{WHERE}.criteria")


def make(run: FinishedRun) -> Sequence[Path]:
    """All files of the study. Raises InputError when no protocol of the run has criteria for its query."""
    given = read_settings(Inputs, run.inputs)
    folder = run.folder.root / "protocols"
    protocols = [read_protocol(file) for file in (protocol_files(folder) if folder.is_dir() else [])]
    criteria = _criteria(given).by_query
    both = {one.query: items_of(criteria[one.query], one) for one in protocols if one.kic and one.query in criteria}
    if not both:
        what = f"none of the run's {len(protocols)} protocols asks a query that the criteria are for"
        raise InputError(Problem(f"{WHERE}.criteria", what, ["criteria for the run's queries"], "metric=[kic]"))
    by_rules = sum(one.creator is Creator.EMBEDDED for one in protocols if one.query in both)
    shown = next((query for query in both if given.query and given.query in query), next(iter(both)))
    table = trait_table(pl.concat(both.values()))
    return [
        *write_table(rounded(both[shown].drop("query")), run.output, "side_by_side"),
        *write_table(rounded(table), run.output, "criteria_comparison"),
        *interval_panels(
            table, run.output, "criteria_comparison", panel="items", row="trait", series="side", label="% of items", scale=100
        ),
        write_findings(run, "RACE criteria beside KIC items", _findings(table, both[shown], shown, by_rules)),
    ]


def items_of(criteria: Criteria, protocol: Protocol) -> pl.DataFrame:
    """Both sides of one query: side, part, text, the traits, and the likest item of the other side with its likeness."""
    rows = [
        {
            "side": RACE,
            "part": dimension,
            "text": one.text,
            "whole": f"{one.text}\n{one.explanation}",
            "on_a_page": False,
            "time_sensitive": False,
        }
        for dimension, one in criteria.by_id().values()
    ]
    rows += [
        {
            "side": KIC,
            "part": "time_sensitive" if item.time_sensitive else "lasting",
            "text": item.question,
            "whole": f"{item.question}\n{item.fact}",
            "on_a_page": bool(item.url and item.quote),
            "time_sensitive": item.time_sensitive,
        }
        for item in protocol.kic
    ]
    texts = [str(row["whole"]) for row in rows]
    directions = vectors(texts)
    likeness = directions @ directions.T
    for place, row in enumerate(rows):
        others = [other for other, one in enumerate(rows) if one["side"] != row["side"]]
        nearest = max(others, key=lambda other: float(likeness[place, other]))
        row |= {"nearest": rows[nearest]["text"], "likeness": float(likeness[place, nearest])}
    table = pl.DataFrame(rows).rename({"time_sensitive": "time_sensitive"})
    exact = [bool(find_quantities(text) or find_dates(text)) for text in texts]
    return table.drop("whole").with_columns(
        exact=pl.Series(exact), has_counterpart=pl.col("likeness") >= ALIKE, query=pl.lit(protocol.query)
    )


def trait_table(items: pl.DataFrame) -> pl.DataFrame:
    """One row per side and trait: share of items with its interval over queries, and how many items there are."""
    rows = []
    for (side,), part in items.group_by("side", maintain_order=True):
        for trait, wording in TRAITS.items():
            queries = part.group_by("query", maintain_order=True).agg(pl.col(trait).sum(), n=pl.len())
            share = ratio_interval(queries[trait].cast(pl.Float64), queries["n"].cast(pl.Float64), seed=0, bounds=(0.0, 1.0))
            shown = {"value": share.value, "low": share.low, "high": share.high, "interval": share.method}
            rows.append(
                {"items": "all queries", "side": side, "trait": wording, **shown, "n": part.height, "queries": queries.height}
            )
    return pl.DataFrame(rows, infer_schema_length=None)


def _findings(table: pl.DataFrame, shown: pl.DataFrame, query: str, by_rules: int) -> list[str]:
    lines = [
        f"- {_percent(row)} % of {row['n']} {MANY[row['side']]} over {row['queries']} queries: the item {row['trait']}."
        for row in table.iter_rows(named=True)
    ]
    counts = {side: shown.filter(pl.col("side") == side).height for side in (RACE, KIC)}
    lines.append(f'- Side by side: {counts[RACE]} {MANY[RACE]} and {counts[KIC]} {MANY[KIC]} of the query "{query[:120]}".')
    lines.append(f"- Two items count as counterparts from a likeness of {ALIKE} on (shared words, not shared meaning).")
    if by_rules:
        lines.append(
            f"- The KIC items of {by_rules} queries were made by rules, which take sentences with amounts or dates from pages: "
            "that they name one and rest on a page is no finding."
        )
    return lines


def _percent(row: Mapping[str, Any]) -> str:
    value, low, high = (None if row[name] is None else 100 * row[name] for name in ("value", "low", "high"))
    return bounded(value, low, high, digits=0, n=row["queries"])
