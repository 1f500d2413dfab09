"""Capability ablation: W with its p, shares and sheets by hand; protocols of two ways rated in a run."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import polars as pl
import pytest

from dreambench.errors import InputError
from dreambench.protocols.files import write_protocol
from dreambench.protocols.model import Creator, KicItem, Plan, Protocol, RqItem, Verification
from dreambench.reporting.finished import FinishedRun
from dreambench.stats.agreement import kendalls_w_test
from tests.experiments.running import files, make, run_experiment, study

ablation = study("capability_ablation")
QUERIES = ("How many moons does Saturn have?", "How many moons does Jupiter have?")


@pytest.mark.parametrize(("w", "p"), [(0.58, 0.0308), (0.78, 0.0093), (0.86, 0.0057)])
def test_the_worked_p_values_of_w(w: float, p: float) -> None:
    assert kendalls_w_test(w, 6, 3).p == pytest.approx(p, abs=5e-5)


def ratings(by_rater: dict[str, tuple[float, float, float]]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"task": task, "way": way, "item": f"{task}{way}", "aspect": "clarity", "rater": rater, "value": value}
            for rater, values in by_rater.items()
            for way, value in zip(("llm", "agent", "retrieval"), values, strict=True)
            for task in ("t1", "t2")
        ]
    )


def test_raters_who_rank_alike_have_w_1() -> None:
    (row,) = ablation.concordance(ratings({f"r{n}": (0.1 + n / 100, 0.3, 0.6) for n in range(6)})).iter_rows(named=True)
    assert (row["raters"], row["ways"], row["w"], row["chi_square"]) == (6, 3, 1.0, 12.0)
    assert row["p"] == pytest.approx(0.00247875, abs=1e-8)  # exp(-6)
    uneven = pl.concat(
        [
            ratings({f"r{n}": (0.1, 0.3, 0.6) for n in range(6)}),
            ratings({"r0": (0.9, 0, 0)}).head(1).with_columns(task=pl.lit("t3")),
        ]
    )
    assert ablation.concordance(uneven)["w"].to_list() == [1.0]  # a task that not every way has is left out
    (one,) = ablation.concordance(ratings({"r": (0.1, 0.3, 0.6)})).iter_rows(named=True)
    assert one["p"] is None and "fewer than two raters" in one["reason"]


def test_shares_and_ratings_by_hand() -> None:
    table = ablation.quality_table(ratings({"r": (0.0, 0.5, 1.0)}))
    found = {row["way"]: (row["share"], row["rating"], row["items"], row["tasks"]) for row in table.iter_rows(named=True)}
    assert found == {"llm": (0.0, 1.0, 2, 2), "agent": (0.5, 2.0, 2, 2), "retrieval": (1.0, 3.0, 2, 2)}


def protocol(query: str, way: str) -> Protocol:
    """Eight items; those with retrieval rest on a page, the others are vague."""
    retrieval = way == "retrieval"
    items = [
        KicItem(
            id=f"k{n}",
            question=f"Does the report state that {query[9:-1]} number {n}{' of 274' if retrieval else ''}?",
            fact=f"There are {n * 10} moons." if retrieval else "There are many.",
            url=f"https://a.example/{n}" if retrieval else "",
            quote="moons" if retrieval else "",
        )
        for n in range(1, 9)
    ]
    plan = Plan(extract="The chain.", verify=[Verification(what="The count", tools=["web_search"])], criteria=["It holds."])
    made_by = {"creator": Creator.AGENT_RETRIEVAL if retrieval else Creator.LLM, "judge": {"judge": "x"}}
    return Protocol(query=query, as_of=date(2025, 6, 1), kic=items, rq=[RqItem(id="r1", question="Why?", plan=plan)], **made_by)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> str:
    root: Path = tmp_path_factory.mktemp("protocols")
    for way in ("llm", "retrieval"):
        for number, query in enumerate(QUERIES):
            write_protocol(root / way / f"task{number}.json", protocol(query, way))
    return f"dataset.folders={{llm: '{root / 'llm'}', retrieval: '{root / 'retrieval'}'}}"


@pytest.fixture(scope="module")
def rated(folders: str, tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    return run_experiment("capability_ablation", tmp_path_factory.mktemp("rated"), folders)


def test_protocols_of_two_ways_become_the_table(rated: FinishedRun) -> None:
    expected = files("table2", "concordance", "differences", figures=["capability_ablation"]) | {"rating_sheet.csv"}
    assert make("capability_ablation", rated) == expected
    table = pl.read_csv(rated.output / "table2.csv")
    exact = dict(table.filter(aspect="verifiability").select("way", "rating").iter_rows())
    assert exact["retrieval"] == 3.0 and exact["llm"] < 3.0
    assert set(table["items"]) == {16} and set(table["tasks"]) == {2}
    sheet = pl.read_csv(rated.output / "rating_sheet.csv")
    assert "way" not in sheet.columns and sheet.height == 3 * 32


def test_people_are_raters_beside_the_judge(rated: FinishedRun, tmp_path: Path) -> None:
    items = ablation.rated_items(rated.judgments)
    blank = ablation.write_sheet(items, tmp_path / "sheet.csv")
    filled = tmp_path / "filled.csv"
    sheet = pl.read_csv(blank, infer_schema=False)
    sheet.with_columns(rater=pl.lit("ann"), rating=pl.lit("2")).write_csv(filled)
    inputs = {"ratings": str(filled)}
    ablation.check(inputs)
    everyone = ablation.all_ratings(items, ablation.read_ratings(ablation.read_settings(ablation.Inputs, inputs)))
    assert set(ablation.quality_table(everyone).filter(rater="ann")["rating"]) == {2.0}
    assert set(ablation.concordance(everyone)["raters"]) == {2}
    sheet.with_columns(rater=pl.lit("ann"), rating=pl.lit("2"), item=pl.lit("x")).write_csv(filled)
    with pytest.raises(InputError, match="does not have, like x"):
        ablation.all_ratings(items, ablation.read_ratings(ablation.read_settings(ablation.Inputs, inputs)))


def test_a_wrong_sheet_is_refused_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text("rater,item,aspect,rating\nann,i1,clarity,3\nann,i2,clarity,4\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"sheet\.csv:3"):
        ablation.check({"ratings": str(path)})
    path.write_text("item,aspect,rating\n", encoding="utf-8")
    with pytest.raises(InputError, match="no column rater"):
        ablation.check({"ratings": str(path)})


def test_what_the_embedded_judge_cannot_rate_is_refused_by_name(folders: str, tmp_path: Path) -> None:
    soundness = "metric.item_quality.questions=[soundness]"
    with pytest.raises(InputError, match=r"cannot answer item_quality/soundness\.default"):
        run_experiment("capability_ablation", tmp_path, folders, "dataset.part=rq", soundness)


def test_missing_protocols_are_said_before_anything_is_bought(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="protocol create --out"):
        run_experiment("capability_ablation", tmp_path, "dataset.folders=null")
