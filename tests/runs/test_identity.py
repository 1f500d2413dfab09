"""A run is named by its content: what can change a number changes its id, and nothing else does."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dreambench.config.compose import compose
from dreambench.engine.clock import Clock
from dreambench.errors import InputError
from dreambench.runs.assembly import Parts, assemble, validate
from tests.apps.command import ROOT
from tests.support.gateway import TestGateway

SLICE = ROOT / "tests" / "data" / "drb_slice"
MODEL = ["judge=openai_compatible", "judge.openai_compatible.model=openai/x"]
ADDRESS = "judge.openai_compatible.api_base=http://127.0.0.1:1/v1"


def parts(gateway: TestGateway, *overrides: str, folder: Path = SLICE, base: str = ADDRESS) -> Parts:
    data = ["dataset=drb", f"dataset.reports={folder}", f"dataset.queries={folder / 'query.jsonl'}"]
    return assemble(validate(compose([*data, *MODEL, base, *overrides]), Clock()), gateway)


@pytest.fixture
def base_id(gateway: TestGateway) -> str:
    return parts(gateway).run_id


@pytest.mark.parametrize(
    "override",
    [
        "seed=1",
        "as_of=2025-01-01",
        "metric.wq.rubric=terse",
        "metric=[wq,da]",
        "metric.wq.missing_policy=zero",
        "judge.openai_compatible.model=openai/y",
        "judge.openai_compatible.temperature=0.7",
        "judge.openai_compatible.api_base=http://127.0.0.1:2/v1",
        "dataset.limit=2",
    ],
)
def test_what_can_change_a_number_changes_the_id(gateway: TestGateway, base_id: str, override: str) -> None:
    assert parts(gateway, override).run_id != base_id


@pytest.mark.parametrize(
    "override",
    ["paths.outputs=elsewhere", "paths.cache=elsewhere", "cache.mode=replay", "engine.most=3", "engine.budget.money=1"],
)
def test_what_changes_no_number_keeps_the_id(gateway: TestGateway, base_id: str, override: str) -> None:
    assert parts(gateway, override).run_id == base_id


def test_the_place_of_the_data_does_not_matter(gateway: TestGateway, base_id: str, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(SLICE, moved)
    assert parts(gateway, folder=moved).run_id == base_id


def test_a_changed_report_does(gateway: TestGateway, base_id: str, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(SLICE, moved)
    file = moved / "gpt-5.jsonl"
    file.write_text(file.read_text(encoding="utf-8").replace("# ", "# The ", 1), encoding="utf-8")
    assert parts(gateway, folder=moved).run_id != base_id


def test_cells_are_distinct_and_stable(gateway: TestGateway) -> None:
    first = [cell.id for cell in parts(gateway, "metric.wq.rubric=[default,terse]", "metric.wq.repeats=2").cells()]
    again = [cell.id for cell in parts(gateway, "metric.wq.rubric=[default,terse]", "metric.wq.repeats=2").cells()]
    assert first == again
    assert len(set(first)) == len(first) == 12 * (2 * 2 + 3)


def test_a_cell_is_the_same_in_a_larger_run(gateway: TestGateway) -> None:
    small = {cell.id for cell in parts(gateway, "dataset.agents=gpt-5").cells()}
    assert small < {cell.id for cell in parts(gateway).cells()}


def test_metrics_that_the_table_could_not_tell_apart_are_refused(gateway: TestGateway) -> None:
    with pytest.raises(InputError, match=r"metric\.again: cannot be told from metric\.wq"):
        parts(gateway, "+metric@metric.again=wq")


def test_problems_of_all_groups_are_said_at_once(gateway: TestGateway) -> None:
    with pytest.raises(InputError) as caught:
        parts(gateway, "metric.wq.rubric=ters", "study=nothing", folder=SLICE / "missing")
    text = str(caught.value)
    assert "wq/main_idea_clarity.ters" in text
    assert "study=nothing" in text
    assert "missing" in text


def test_the_run_date_goes_to_tasks_without_one(gateway: TestGateway) -> None:
    assert {task.as_of for task in parts(gateway).dataset.tasks} == {None}
    assert {str(task.as_of) for task in parts(gateway, "as_of=2025-01-01").dataset.tasks} == {"2025-01-01"}
    today = Clock().today()
    assert {task.as_of for task in parts(gateway, "as_of=today").dataset.tasks} == {today}


def test_how_often_a_metric_is_asked_names_the_run(gateway: TestGateway, base_id: str) -> None:
    """A run of one repeat must not take in the repeats of another, so they do not share a folder."""
    assert parts(gateway, "metric.wq.repeats=1").run_id == base_id
    assert len({base_id, *(parts(gateway, f"metric.wq.repeats={count}").run_id for count in (2, 3))}) == 3
