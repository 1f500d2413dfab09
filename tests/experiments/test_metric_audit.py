"""The audit runs from its option file to matrix, ranking and heat map, also beside a held-out set."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from dreambench.commands.main import main_code
from dreambench.config.studies import load_study
from dreambench.errors import InputError
from tests.experiments.conftest import TinyRun

TINY = ["dataset.ids=[saturn-moons,marine-sulphur-cap,leap-second]", "metric=[fact,da,citations]"]
ARMS = "perturbation=[citation_strip,dead_links,neutral_padding]"


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run over three tasks whose agents are `clean` and `citation_strip`: the same reports without any link."""
    root = tmp_path_factory.mktemp("held")
    for task in ("one", "two", "three"):
        for agent, link in (("clean", " ([Page](https://a.example/p))"), ("citation_strip", "")):
            file = root / "reports" / agent / f"{task}.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            rest = "It has 3 wings." if task == "two" else ""
            file.write_text(f"# {task}\n\nThe house was built in 1990{link}. {rest}\n", encoding="utf-8")
    paths = [f"paths.outputs={root / 'out'}", f"paths.cache={root / 'cache'}"]
    arguments = ["dataset=reports", f"dataset.reports={root / 'reports'}", "dataset.query=What is known?", "metric=[citations]"]
    assert main_code([*arguments, "tools=none", *paths]) == 0
    (folder,) = (root / "out").iterdir()
    return folder


@pytest.fixture(scope="module")
def audit(tiny_run: TinyRun, held: Path) -> Path:
    doses = ["~perturbation.citation_swap", f"study_inputs.holdout={held}"]
    return tiny_run("metric_audit", *TINY, *_without_others(), *doses[1:])


def _without_others() -> list[str]:
    """The option file sets doses of flaws that this test leaves out; their nodes are taken away again."""
    gone = ["citation_swap", "contradiction", "fabricated_sources", "factual_injection", "malformed_reasoning"]
    gone += ["omission", "outdated_cutoff", "prompt_injection"]
    return [ARMS, *(f"~perturbation.{name}" for name in gone)]


def test_every_metric_meets_every_perturbation_once(audit: Path) -> None:
    cells = pl.read_csv(audit / "study" / "metric_audit.csv")
    assert cells.height == 9
    assert cells.select("metric", "perturbation").n_unique() == 9
    assert set(cells.filter(pl.col("role") == "placebo")["perturbation"]) == {"neutral_padding"}


def test_a_metric_that_loses_all_scores_is_undecided_and_says_why(audit: Path) -> None:
    row = pl.read_csv(audit / "study" / "metric_audit.csv").row(
        by_predicate=(pl.col("metric") == "fact") & (pl.col("perturbation") == "citation_strip"), named=True
    )
    assert (row["verdict"], row["why"]) == ("undecided", "3 of 3 reports lose their score")


def test_what_code_counts_costs_no_calls_and_leads_the_ranking(audit: Path) -> None:
    ranked = pl.read_csv(audit / "study" / "ranking.csv")
    assert (ranked["metric"][0], ranked["unit"][0]) == ("citations", "free")
    costs = pl.read_csv(audit / "study" / "cost.csv")
    calls = pl.read_parquet(audit / "calls.parquet").height
    assert (costs["calls"] * costs["reports"]).sum() == pytest.approx(calls, rel=1e-3)


def test_the_heat_map_and_all_tables_are_there(audit: Path) -> None:
    names = {path.name for path in (audit / "study").iterdir()}
    tables = ("metric_audit", "matrix", "ranking", "reliability", "cost", "planted", "holdout")
    assert {f"{name}.{ending}" for name in tables for ending in ("csv", "md", "tex")} <= names
    assert {"metric_audit.svg", "metric_audit.png", "findings.md"} <= names


def test_the_held_out_set_stands_beside_the_perturbers(audit: Path) -> None:
    rows = pl.read_csv(audit / "study" / "holdout.csv").to_dicts()
    (row,) = [row for row in rows if row["metric"] == "citations"]
    assert (row["perturbation"], row["n_tasks"], row["flawed"]) == ("citation_strip", 3, 0.0)
    assert row["shift"] == pytest.approx(-(1 + 1 + 0.5) / 3, abs=1e-3)
    assert row["perturber_verdict"] is not None
    assert "Second set, citations by code, citation_strip" in (audit / "study" / "findings.md").read_text()


def test_a_holdout_that_is_no_run_is_refused_before_the_run(tmp_path: Path) -> None:
    check = load_study("metric_audit").check
    check({"margin": 0.05, "holdout": None})
    with pytest.raises(InputError, match="holds no finished run"):
        check({"holdout": str(tmp_path)})
    with pytest.raises(InputError, match="is no share"):
        check({"margin": 5})
    with pytest.raises(InputError, match="is no input"):
        check({"held_out": "x"})
