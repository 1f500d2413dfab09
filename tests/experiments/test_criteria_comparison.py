"""RACE criteria beside KIC items: traits and likeness by hand, and a run of the demo."""

from __future__ import annotations

from datetime import date

import polars as pl
import pytest

from dreambench.errors import InputError
from dreambench.metrics.race.formula import DIMENSIONS, Criteria, Criterion
from dreambench.protocols.model import Creator, KicItem, Protocol
from dreambench.reporting.finished import FinishedRun
from tests.experiments.running import files, make, study

comparison = study("criteria_comparison")


def both_sides() -> pl.DataFrame:
    lists = {name: (Criterion("Clear wording", 1.0, "Easy to read."),) for name in DIMENSIONS}
    lists["comprehensiveness"] = (Criterion("Counts of moons", 1.0, "Gives the moons of Saturn with dates."),)
    facts = [
        ("Does the report state that Saturn has 274 moons?", "Saturn has 274 moons.", "https://a.example/x", "274 moons", True),
        ("Does the report name the discoverer?", "The discoverer is named.", "", "", False),
    ]
    items = [
        KicItem(id=f"k{n}", question=question, fact=fact, url=url, quote=quote, time_sensitive=changing)
        for n, (question, fact, url, quote, changing) in enumerate(facts)
    ]
    protocol = Protocol(query="How many moons?", as_of=date(2025, 1, 1), creator=Creator.LLM, judge={"judge": "x"}, kic=items)
    table: pl.DataFrame = comparison.items_of(Criteria(dict.fromkeys(DIMENSIONS, 0.25), lists), protocol)
    return table


def test_traits_and_counterparts_by_hand() -> None:
    table = both_sides()
    assert table["side"].to_list() == ["RACE criterion"] * 4 + ["KIC item"] * 2
    moons = table.row(4, named=True)
    assert (moons["exact"], moons["on_a_page"], moons["time_sensitive"]) == (True, True, True)
    assert moons["nearest"] == "Counts of moons"
    assert table.row(5, named=True)["likeness"] < moons["likeness"]
    assert not table.filter(pl.col("side") == "RACE criterion")["on_a_page"].any()


def test_shares_are_pooled_over_queries() -> None:
    one = both_sides()
    other = one.filter((pl.col("side") != "KIC item") | pl.col("exact")).with_columns(query=pl.lit("another"))
    table = comparison.trait_table(pl.concat([one, other]))
    row = table.filter(pl.col("side") == "KIC item", pl.col("trait") == "rests on a page with a quote").row(0, named=True)
    assert row["value"] == pytest.approx(2 / 3)
    assert (row["n"], row["queries"]) == (3, 2)


def test_a_demo_run_becomes_the_table(ways_run: FinishedRun) -> None:
    run = FinishedRun(ways_run.folder, {"query": "moons of Saturn"})
    expected = files("side_by_side", "criteria_comparison", figures=["criteria_comparison"])
    assert make("criteria_comparison", run) == expected
    shown = pl.read_csv(run.output / "side_by_side.csv")
    assert shown.filter(pl.col("side") == "RACE criterion").height == 8
    assert shown.filter(pl.col("side") == "KIC item").height >= 8


def test_a_run_without_protocols_is_refused(demo_run: FinishedRun) -> None:
    with pytest.raises(InputError, match="none of the run's 0 protocols"):
        comparison.make(FinishedRun(demo_run.folder))
    with pytest.raises(InputError, match=r"study_inputs\.criteria"):
        comparison.check({"criteria": "missing.jsonl"})
