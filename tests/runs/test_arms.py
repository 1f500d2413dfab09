"""Perturbation arms in a run: the clean arm is always there, texts and logs are kept, code metrics move as they must."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from dreambench.perturbations.edits import EditLog
from tests.apps.command import ROOT, dreambench

SLICE = ROOT / "tests" / "data" / "drb_slice"
DATA = ["dataset=drb", f"dataset.reports={SLICE}", f"dataset.queries={SLICE / 'query.jsonl'}", "dataset.agents=gpt-5"]
ARMS = ["perturbation=[citation_strip,omission]", "perturbation.citation_strip.dose=[0,0.5,1]"]


def run(folder: Path, *more: str) -> Path:
    folder.mkdir(exist_ok=True)
    ran = dreambench(*DATA, "metric=[citations,length]", *more, cwd=folder)
    assert ran.code == 0, ran.err
    (found,) = (folder / "outputs").iterdir()
    return found


def test_arms_stand_beside_the_clean_arm(tmp_path: Path) -> None:
    folder = run(tmp_path, *ARMS)
    scores = pl.read_parquet(folder / "scores.parquet").filter(aggregation="macro", metric="citations", variant="attribution")
    found = {(row["perturbation"], row["dose"]): row["value"] for row in scores.iter_rows(named=True)}
    assert set(found) == {("clean", 0.0), *(("citation_strip", dose) for dose in (0.0, 0.5, 1.0)), ("omission", 1.0)}
    assert found["citation_strip", 0.0] == found["clean", 0.0]
    clean, half, full = (found["citation_strip", dose] for dose in (0.0, 0.5, 1.0))
    assert clean > half > full
    assert full < 0.1 * clean, "what is left stands where stripping a citation would break the text"


def test_every_changed_text_is_kept_with_its_log(tmp_path: Path) -> None:
    folder = run(tmp_path, *ARMS)
    texts = sorted(folder.glob("perturbed/*/*.md"))
    assert len(texts) == 4 * 3
    for text in texts:
        log = json.loads(text.with_suffix(".json").read_text(encoding="utf-8"))
        assert set(log) == set(EditLog.__dataclass_fields__)
        changed = text.read_text(encoding="utf-8")
        assert all(changed[edit["after_start"] : edit["after_end"]] == edit["after"] for edit in log["edits"])


def test_the_table_names_the_arm_of_every_line(tmp_path: Path) -> None:
    ran = dreambench(*DATA, "metric=[length]", *ARMS, cwd=tmp_path)
    assert "gpt-5 · citation_strip 0.5 seed 0" in ran.out
    assert "gpt-5 · omission 1.0 seed 0" in ran.out


def test_clean_cells_are_the_same_with_and_without_arms(tmp_path: Path) -> None:
    with_arms = pl.read_parquet(run(tmp_path / "a", *ARMS) / "judgments.parquet")
    without = pl.read_parquet(run(tmp_path / "b") / "judgments.parquet")
    clean = with_arms.filter(perturbation="clean")
    assert set(clean["cell"]) == set(without["cell"])
    assert clean.drop("run").equals(without.drop("run"))


def test_arms_that_differ_in_another_axis_stay_apart(tmp_path: Path) -> None:
    arm = ["perturbation=[outdated_cutoff]", "perturbation.outdated_cutoff.cutoff=[2023-01-01,2024-06-30]"]
    folder = run(tmp_path, *arm)
    found = set(pl.read_parquet(folder / "judgments.parquet")["perturbation"])
    labels = {"outdated_cutoff[cutoff=2023-01-01]", "outdated_cutoff[cutoff=2024-06-30]"}
    assert found == {"clean", *labels}
    assert set(pl.read_parquet(folder / "reports.parquet")["perturbation"]) == found


def test_saved_results_are_never_given_to_changed_reports(tmp_path: Path) -> None:
    saved = tmp_path / "raw_results.jsonl"
    scores = dict.fromkeys(("comprehensiveness", "insight", "instruction_following", "readability", "overall_score"), 0.5)
    queries = [json.loads(line) for line in (SLICE / "query.jsonl").read_text(encoding="utf-8").splitlines()]
    lines = [{"id": query["id"], "prompt": query["prompt"], **scores} for query in queries]
    saved.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    given = [*DATA, "metric=[race,length]", f"metric.race.saved={saved}"]
    ran = dreambench(*given, "perturbation=[omission]", cwd=tmp_path)
    assert ran.code == 1
    assert "metric.race.saved: holds results of the reports as they are, and this run changes them: omission" in ran.err
    assert "type: metric.race.saved=null" in ran.err
    assert not (tmp_path / "outputs").exists()
    assert dreambench(*given, cwd=tmp_path).code == 0
