"""Both public shapes load, with what is odd in them found and said, and missing runs as reports without text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dreambench.datasets.deepweb import DeepWebDataset
from dreambench.errors import DatasetError
from dreambench.metrics.deepweb.dataset import UNPUBLISHED
from dreambench.metrics.deepweb.importer import released_tiers
from dreambench.metrics.deepweb.model import AnswerType
from tests.metrics.deepweb.release import ANSWERS, TIERS, write_hub, write_site


def test_the_hub_tables(tmp_path: Path) -> None:
    data = DeepWebDataset(path=str(write_hub(tmp_path / "hub")), without_text="keep").load()
    assert [task.id for task in data.tasks] == ["2_ferries", "10_lakes", "100_dianche"], "by number, not as texts"
    assert [task.language for task in data.tasks] == ["en", "en", "zh"]
    texts = {(report.task_id, report.agent): report.text for report in data.reports}
    assert texts == {**ANSWERS, ("10_lakes", "bad-model"): ""}
    assert [len(data.matrices[task.id].cells) for task in data.tasks] == [16, 4, 2]
    assert data.matrices["10_lakes"].entities == ("Aare Lake", "Blue Lake"), "an empty list is filled from the scores' keys"
    run = data.released["10_lakes", "good-model"]
    assert (run.searches, run.visits, run.overall_pct) == (9, 4, 43.75)
    tiers = released_tiers(data.matrices["10_lakes"], run)
    assert tiers["Q1", "Blue Lake"] == TIERS["Q1"]["Blue"]
    assert sum(tier or 0 for tier in tiers.values()) / 4 == 0.4375
    assert [finding.message for finding in data.findings if finding.code == "missing_run"] == [
        "bad-model has no run for 1 case (10_lakes): excluded, and 0 in the variant missing_zero"
    ]


def test_the_site_export(tmp_path: Path) -> None:
    data = DeepWebDataset(path=str(write_site(tmp_path / "site")), without_text="keep").load()
    (task,) = data.tasks
    assert (task.id, task.domain) == ("10_lakes", "Geography")
    assert [(report.agent, bool(report.text)) for report in data.reports] == [("good", True), ("silent", False)]
    assert data.released["10_lakes", "good"].seconds == 61.5
    assert data.released["10_lakes", "good"].rationales["Q1"] == "about Q1"
    assert [cell.type for cell in data.matrices["10_lakes"].cells][-1] is AnswerType.RANGE


def test_scores_without_their_answer_are_kept_apart_from_missing_runs(tmp_path: Path) -> None:
    folder = write_hub(tmp_path)
    path = folder / "data" / "model_answers.jsonl"
    others = [line for line in path.read_text().splitlines() if "good-model::10_lakes" not in line]
    path.write_text("\n".join(others))
    kept = DeepWebDataset(path=str(folder), without_text="keep").load()
    texts = {(report.task_id, report.agent): report.text for report in kept.reports}
    assert (texts["10_lakes", "good-model"], texts["10_lakes", "bad-model"], kept.whole) == (UNPUBLISHED, "", True)


def test_runs_without_a_text_are_left_out_and_said_unless_they_are_wanted(tmp_path: Path) -> None:
    folder = write_hub(tmp_path)
    data = DeepWebDataset(path=str(folder)).load()
    assert all(report.text.strip() for report in data.reports) and not data.whole
    (folder / "data" / "model_answers.jsonl").unlink()
    with pytest.raises(DatasetError, match="good-model has scores for 10_lakes and no answer; left out"):
        DeepWebDataset(path=str(folder)).load()


def test_typed_cells_win_over_the_markdown(tmp_path: Path) -> None:
    folder = write_hub(tmp_path)
    cell = {
        "case_id": "10_lakes",
        "dimension": "Q1",
        "entity": "Blue",
        "type": "range",
        "answer": "70-90 m",
        "agreement": "single",
    }
    (folder / "cells.jsonl").write_text(json.dumps(cell))
    found = DeepWebDataset(path=str(folder)).load().matrices["10_lakes"].by_key()["Q1", "Blue Lake"]
    assert (found.type, found.answer, found.agreement) == (AnswerType.RANGE, "70-90 m", "single")
    (folder / "cells.jsonl").write_text(json.dumps({**cell, "type": "exact", "dimension": "Q2"}))
    with pytest.raises(DatasetError, match=r"cells.jsonl:1: type: .*'exact'"):
        DeepWebDataset(path=str(folder)).load()
    (folder / "cells.jsonl").write_text(json.dumps({**cell, "entity": "Red Sea"}))
    with pytest.raises(DatasetError, match="is no cell of its case's matrix"):
        DeepWebDataset(path=str(folder)).load()


def test_other_answers_take_the_place_of_the_releases_own(tmp_path: Path) -> None:
    folder = write_hub(tmp_path / "hub")
    own = tmp_path / "own.jsonl"
    own.write_text(
        json.dumps({"case_id": "10_lakes", "model": "mine", "answer_md": "| Lake | Q1 |\n|---|---|\n| Blue | 80 m |"})
    )
    data = DeepWebDataset(path=str(folder), answers=str(own)).load()
    assert [(report.task_id, report.agent) for report in data.reports] == [("10_lakes", "mine")]


def test_the_fingerprint_covers_references_and_scores(tmp_path: Path) -> None:
    folder = write_hub(tmp_path)
    seen = {DeepWebDataset(path=str(folder)).load().fingerprint() for _ in range(2)}
    for name, old, new in (("cases", "4.2 million", "4.4 million"), ("score_details", '"Blue Lake": 0', '"Blue Lake": 1')):
        path = folder / "data" / f"{name}.jsonl"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
        seen.add(DeepWebDataset(path=str(folder)).load().fingerprint())
    assert len(seen) == 3


@pytest.mark.parametrize(
    ("path", "problem"), [(None, "dataset.path: is required"), (".", "is no release"), ("nowhere", "does not exist")]
)
def test_a_wrong_path_is_said(path: str | None, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DatasetError, match=problem):
        DeepWebDataset(path=path).load()


def test_filters_hold_for_missing_runs_too(tmp_path: Path) -> None:
    folder = str(write_hub(tmp_path))
    data = DeepWebDataset(
        path=folder, agents="bad-model", ids=["2_ferries", "10_lakes"], tasks="all", without_text="keep"
    ).load()
    assert [(report.task_id, report.agent) for report in data.reports] == [
        ("2_ferries", "bad-model"),
        ("10_lakes", "bad-model"),
    ]
    assert set(data.matrices) == {"2_ferries", "10_lakes"}
