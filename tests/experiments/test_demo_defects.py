"""The study of planted defects: differences, what is pointed at, the Mirage in words, and who may read the notes."""

from __future__ import annotations

import ast
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest
import yaml

from dreambench.config.locations import bundled
from dreambench.config.studies import load_study
from dreambench.datasets.demo import BUNDLED, DemoDataset
from dreambench.documents import Span
from dreambench.errors import DatasetError
from tests.apps.command import ROOT, dreambench


@pytest.fixture(scope="module")
def module() -> ModuleType:
    return load_study("demo_defects")


def scores(**by_agent: list[float | None]) -> pl.DataFrame:
    """Primary values of one metric by one judge, one task per value."""
    rows = [
        {"dataset": "demo", "judge": "j", "metric": "wq", "agent": agent, "task": f"t{number}", "value": value}
        for agent, values in by_agent.items()
        for number, value in enumerate(values)
    ]
    return pl.DataFrame(rows, schema_overrides={"value": pl.Float64})


@pytest.mark.parametrize(
    ("flawed", "result", "difference", "tasks"),
    [
        ([0.2, 0.3, 0.1, 0.4], "found", 50.0, 4),
        ([0.9, 1.0, 0.8, 1.0], "wrong way", -17.5, 4),
        ([0.8, 0.7, 0.8, 0.7], "missed", 0.0, 4),
        ([0.2, None, None, None], "missed", 50.0, 1),
        ([None, None, None, None], "no value", None, 0),
    ],
)
def test_a_defect_is_found_missed_or_liked(
    module: ModuleType, flawed: list[float | None], result: str, difference: float | None, tasks: int
) -> None:
    (row,) = module.defect_table(scores(good=[0.7, 0.8, 0.7, 0.8], stale=flawed)).iter_rows(named=True)
    assert (row["agent"], row["result"], row["tasks"]) == ("stale", result, tasks)
    assert row["difference"] == (None if difference is None else pytest.approx(difference))


def test_only_reports_of_the_demo_are_compared(module: ModuleType) -> None:
    module.check_demo(scores(good=[0.5], stale=[0.5]))
    for other in (scores(good=[0.5]), scores(a=[0.5], b=[0.5]), scores(good=[0.5], b=[0.5]).with_columns(dataset=pl.lit("x"))):
        with pytest.raises(DatasetError, match="has other reports"):
            module.check_demo(other)


ITEMS = pl.DataFrame(
    [
        ("ci", "bad", "attribution", "uncited", 0.0, "scored", 0, 10),
        ("ci", "bad", "claim", "supported", 1.0, "scored", 20, 30),
        ("ci", "bad", "citation", "unverifiable", None, "scored", 42, 48),
        ("ci", "good", "claim", "contradicted", 0.0, "scored", 60, 70),
        ("ci", "bad", "claim", "", None, "judge_error", 80, 90),
        ("ci", "bad", "extraction", "claims", 0.0, "scored", None, None),
        ("da", "bad", "domain", "commercial", 0.4, "scored", 42, 48),
        ("da", "bad", "domain", "social", 0.3, "scored", 0, 10),
        ("factuality", "bad", "claim", "unverifiable", None, "scored", 0, 10),
        ("rq", "bad", "deduction", "minor_gap", 0.1, "scored", 100, 110),
    ],
    schema=["metric", "agent", "family", "label", "value", "status", "report_start", "report_end"],
    orient="row",
).with_columns(judge=pl.lit("j"), task=pl.lit("t"))


def planted(module: ModuleType) -> list[Any]:
    made = module.Defect
    return [
        made("t", "bad", "uncited", (Span(5, 15),)),
        made("t", "bad", "dead_link", (Span(40, 50),)),
        made("t", "bad", "wrong_date", (Span(20, 30),)),
        made("u", "bad", "wrong_date", (Span(0, 50),)),
        made("t", "bad", "omission", ()),
    ]


def test_negative_judgments_that_touch_the_sentence_point_at_it(module: ModuleType) -> None:
    accused = module.accusations(ITEMS)
    assert accused.height == 5, "two claims, a dead page, a site of low authority and a deduction"
    rows = {(row["kind"], row["metric"]): row for row in module.pointed_table(planted(module), accused).iter_rows(named=True)}
    assert {key: (row["defects"], row["pointed_at"]) for key, row in rows.items() if key[1] == "ci"} == {
        ("dead_link", "ci"): (1, 1),
        ("uncited", "ci"): (1, 1),
        ("wrong_date", "ci"): (2, 0),
    }
    assert rows["uncited", "da"]["pointed_at"] == 1 and rows["dead_link", "da"]["pointed_at"] == 0


def test_accusations_of_sound_text_are_counted(module: ModuleType) -> None:
    rows = module.accusation_table(planted(module), module.accusations(ITEMS)).rows()
    assert sorted(rows) == [
        ("j", "ci", "bad", 2, 2, 0),
        ("j", "ci", "good", 1, 0, 1),
        ("j", "da", "bad", 1, 1, 0),
        ("j", "rq", "bad", 1, 0, 1),
    ]


def test_who_likes_the_fluent_and_wrong_shows_the_mirage(module: ModuleType) -> None:
    table = pl.concat(
        [
            module.defect_table(scores(good=[0.7, 0.8], fluent_wrong=[0.8, 0.7])),
            module.defect_table(scores(good=[0.7, 0.8], fluent_wrong=[0.1, 0.21]).with_columns(metric=pl.lit("kic"))),
        ]
    )
    nothing = module.accusations(ITEMS.clear())
    pointed, hits = module.pointed_table([], nothing), module.accusation_table([], nothing)
    text = "\n".join(module.findings(table, pointed, hits, 2))
    assert "The Mirage: wq (75.0 against 75.0, missed) cannot tell" in text
    assert "kic found (+59.5)" in text
    assert "2 omissions have no place" in text


def test_every_defect_of_the_notes_has_its_place(module: ModuleType) -> None:
    found = module.defects()
    texts = {(report.task_id, report.agent): report.text for report in DemoDataset().load(None).reports}
    quotes = [
        defect["quote"]
        for path in sorted((BUNDLED / "notes").glob("*.yaml"))
        for defect in yaml.safe_load(path.read_text(encoding="utf-8"))["defects"]
    ]
    assert len(found) == len(quotes) > 400
    for defect, quote in zip(found, quotes, strict=True):
        assert [place.of(texts[defect.task, defect.agent]) for place in defect.places[:1]] == ([quote] if quote else [])


def test_no_module_but_this_study_reads_the_notes() -> None:
    """The truth about the demo is for scoring what judged it, never for judging."""
    readers = []
    judging = (
        "documents",
        "language",
        "judges",
        "tools",
        "evaluators",
        "protocols",
        "metrics",
        "perturbations",
        "engine",
        "runs",
    )
    for root in (*(f"dreambench/{name}" for name in judging), "experiments", "bench"):
        for path in (ROOT / root).rglob("*.py"):
            source = path.read_text(encoding="utf-8")
            if "notes" not in source:
                continue
            texts = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
            if any(isinstance(text, str) and (text == "notes" or "/notes" in text) for text in texts):
                readers.append(path.name)
    assert readers == ["demo_defects.py"]
    for folder in ("conf", "rubrics"):
        assert not any("notes/" in path.read_text(encoding="utf-8") for path in bundled(folder).rglob("*.*"))
    loader = DemoDataset()
    assert not (BUNDLED / "notes").is_relative_to(loader.corpus) and not (BUNDLED / "notes").is_relative_to(loader.protocols)


def test_the_study_runs_on_one_task(tmp_path: Path) -> None:
    ran = dreambench("+experiment=demo_defects", "metric=[da]", "dataset.limit=1", cwd=tmp_path)
    assert ran.code == 0, ran.err
    assert "| planted | da |" in ran.out and "## Sentences that embedded points at" in ran.out
    (folder,) = tmp_path.glob("outputs/demo_defects-*/study")
    assert {path.name for path in folder.iterdir()} == {
        *(f"{name}.{end}" for name in ("defects", "pointed", "accusations") for end in ("csv", "md", "tex")),
        "demo_defects.svg",
        "demo_defects.png",
        "findings.md",
    }
