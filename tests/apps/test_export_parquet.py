"""Runs as sharded Parquet on fsspec's file systems: written in parts, read back, aggregated part by part to the same scores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import fsspec
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from dreambench.errors import ConfigError
from dreambench.metrics.aggregation import columns_of, dataset_scores
from dreambench.reporting.finished import FinishedRun, open_run
from dreambench.reporting.live.board import page_of
from dreambench.reporting.live.server import ViewServer
from dreambench.reporting.rebuild import rebuild_metrics
from dreambench.reporting.shards import file_system, parts, read_parts, values_of_parts, write_run
from tests.apps.conftest import JudgedRuns, command


@pytest.fixture(params=["memory://bucket/run", "file://{}/run", "{}/run"], ids=["memory", "file", "path"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    yield request.param.format(tmp_path)
    memory = fsspec.filesystem("memory")
    if memory.exists("/bucket"):
        memory.rm("/bucket", recursive=True)


def test_parts_hold_whole_cells_and_together_the_whole_table(runs: JudgedRuns) -> None:
    run = open_run(str(runs.first))
    found = list(parts(run.folder.journal, run.summary["run"], rows=40))
    assert len(found) > 2 and all(part.height >= 40 for part in found[:-1])
    cells = [set(part["cell"]) for part in found]
    assert sum(map(len, cells)) == len(set.union(*cells))
    keys = run.judgments.columns
    assert_frame_equal(pl.concat(found).sort(keys[:-3]), run.judgments.sort(keys[:-3]))


def test_a_run_comes_back_from_where_it_was_exported(
    runs: JudgedRuns, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = command("export", str(runs.first), "--to", "parquet", "--out", where)
    assert ran.code == 0, ran.err
    run = open_run(str(runs.first))
    assert f"to {where}, judgments in " in ran.out
    assert sum(part.height for part in read_parts(where, ["value"])) == run.judgments.height
    monkeypatch.chdir(tmp_path)
    back = open_run(where)
    for name in ("judgments", "scores", "report_scores", "calls"):
        assert_frame_equal(getattr(back, name), getattr(run, name))
    assert back.summary == run.summary
    compared = command("compare", str(runs.first), where)
    assert compared.code == 0, compared.err
    assert command("report", where).code == 0
    checked = command("check", where)
    assert checked.code == 0 and ": complete, 24 cells done, 0 failed, 0 not begun" in checked.out


def test_scores_of_parts_are_the_runs_scores(runs: JudgedRuns, where: str) -> None:
    run: FinishedRun = open_run(str(runs.first))
    write_run(run.folder, run.summary["run"], where, rows=40)
    metrics = rebuild_metrics(run).values()
    values = values_of_parts(read_parts(where, columns_of(metrics)), metrics)
    scores = dataset_scores(values, seed=0)
    order = ["metric", "rubric", "agent", "judge", "perturbation", "dose", "variant", "aggregation"]
    assert_frame_equal(scores.sort(order), run.scores.sort(order))


def test_what_lies_there_is_never_mixed_with_another_run(runs: JudgedRuns, where: str) -> None:
    run = open_run(str(runs.first))
    write_run(run.folder, run.summary["run"], where)
    with pytest.raises(ConfigError, match="holds something already"):
        write_run(run.folder, run.summary["run"], where)
    before = pl.concat(read_parts(where))
    write_run(run.folder, run.summary["run"], where, rows=40, replace=True)
    assert_frame_equal(pl.concat(read_parts(where)).sort("cell", "item"), before.sort("cell", "item"))
    system, root = file_system(where)
    system.pipe_file(f"{root}/notes.txt", b"mine")
    with pytest.raises(ConfigError, match="holds something already"):
        write_run(run.folder, run.summary["run"], where, replace=True)
    assert system.cat_file(f"{root}/notes.txt") == b"mine" and len(list(read_parts(where))) > 1


def test_bad_places_are_said(runs: JudgedRuns, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file system"):
        file_system("nosuch://bucket/run")
    with pytest.raises(ConfigError, match=r"is no exported run \(config.yaml, summary.json not there\)"):
        open_run("memory://nothing/here")
    with pytest.raises(ConfigError, match="holds no judgments/part"):
        next(read_parts(str(tmp_path)))
    assert "--to parquet" in command("export", str(runs.first), "--to", "inspect", "--out", "memory://x/y").err


def test_an_exported_run_is_viewed(runs: JudgedRuns, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert command("export", str(runs.first), "--to", "parquet", "--out", "copies/one").code == 0
    seen: list[str] = []

    def look(server: ViewServer) -> None:
        (name,) = server.board.names()
        page = page_of(server.board.names()[name])
        assert page is not None
        seen.extend([server.board.runs()[0].state, page.read_text(encoding="utf-8")])
        server.server_close()

    monkeypatch.setattr("dreambench.reporting.live.server.serve", look)
    ran = command("view", "copies/one")
    assert ran.code == 0, ran.err
    assert seen[0] == "complete" and runs.first.name.rpartition("-")[2] in seen[1]
    assert command("view", "copies").err == (
        "error: copies: holds no run folder but 1 exported run: name one\n"
        "  allowed: one\n  type: python -m dreambench view copies/one\n"
    )
    Path("empty").mkdir()
    monkeypatch.setattr("dreambench.reporting.live.server.serve", lambda server: server.server_close())
    assert "no run lies there yet: runs appear as they begin" in command("view", "empty").out


def test_a_copy_is_not_exported_again(runs: JudgedRuns, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    address = f"file://{tmp_path}/run"
    assert command("export", str(runs.first), "--to", "parquet", "--out", address).code == 0
    assert "has no journal" in command("export", address, "--to", "parquet").err
