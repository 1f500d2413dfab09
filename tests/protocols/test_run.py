"""Whole runs: protocols made once, kept, replayed without a server, and the numbers that follow from the script."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from dreambench.protocols.files import read_protocol, write_protocol
from tests.apps.command import dreambench
from tests.protocols.site import judged, play, write_data
from tests.support.agents import asks, is_turn
from tests.support.openai_stub import OpenAIStub
from tests.support.protocol import protocol

METRICS = ["metric=[kic,rq]", "protocol.rq_items=2"]


def only_run(outputs: Path) -> Path:
    (run,) = (path for path in outputs.iterdir() if path.is_dir())
    return run


def macro(run: Path, metric: str) -> dict[str, float]:
    scores = pl.read_parquet(run / "scores.parquet")
    rows = scores.filter(pl.col("metric") == metric, pl.col("variant") == "mean", pl.col("aggregation") == "macro")
    return dict(rows.select("agent", "value").iter_rows())


@pytest.mark.parametrize("mode", ["native", "json"])
def test_a_run_makes_its_protocol_and_scores_by_it(mode: str, tmp_path: Path) -> None:
    line = [*write_data(tmp_path / "data"), *METRICS]
    with OpenAIStub() as stub:
        play(stub, mode)
        ran = dreambench(*line, *judged(stub, mode), cwd=tmp_path)
        assert ran.code == 0, ran.err
        made = len(stub.requests)
        kinds = [sum(asks(name)(body) for body in stub.bodies) for name in ("facts", "questions", "k1", "deductions")]
        assert kinds == [1, 1, 2, 4]
        assert sum(is_turn(body) for body in stub.bodies) == 2 * 2 + 2 * 4, "a look-up and an end for each agent's work"
        assert made == 1 + sum(kinds) + 12
        replayed = dreambench(*line, *judged(stub, mode), "cache.mode=replay", "paths.outputs=again", cwd=tmp_path)
        assert replayed.code == 0, replayed.err
        batches = dreambench(*line, *judged(stub, mode), "metric.kic.batched=false", "paths.outputs=single", cwd=tmp_path)
        assert batches.code in (0, 2), batches.err
        assert not any(asks("facts")(body) for body in stub.bodies[made:]), "the protocol is shared between runs"
    run = only_run(tmp_path / "outputs")
    assert macro(run, "kic") == {"good": pytest.approx(0.7), "bad": pytest.approx(0.1)}
    assert macro(run, "rq") == {"good": 1.0, "bad": pytest.approx(0.7)}
    (file,) = (run / "protocols").iterdir()
    made_then = read_protocol(file)
    items = pl.read_parquet(run / "judgments.parquet")
    assert set(items["protocol"]) == {made_then.content_hash()} and file.name == f"bridges-{made_then.content_hash()}.json"
    assert len(list((run / "trajectories").glob("[0-9a-f]*-r*.json"))) == 4
    assert len(list((run / "trajectories").glob("protocol-bridges-*.json"))) == 2
    calls = pl.read_parquet(run / "calls.parquet")
    assert set(calls["role"]) == {"creation", "judging", "tools"}
    assert_frame_equal(items, pl.read_parquet(only_run(tmp_path / "again") / "judgments.parquet"))


def test_protocols_made_ahead_serve_a_run_that_cannot_make_any(tmp_path: Path) -> None:
    data = write_data(tmp_path / "data")
    with OpenAIStub() as stub:
        play(stub, "native")
        line = ["protocol", "create", "--out", "mine", *data, *judged(stub, "native"), "protocol.rq_items=2"]
        made = dreambench(*line, cwd=tmp_path)
        assert made.code == 0, made.err
        asked = len(stub.requests)
        again = dreambench(*line, cwd=tmp_path)
        assert (again.out, len(stub.requests)) == (made.out, asked)
    (file,) = (tmp_path / "mine").glob("*.json")
    assert made.out == f"mine/{file.name}: 10 key facts, 2 reasoning questions, as of 2025-01-01, by agent_retrieval, " + (
        f"{read_protocol(file).content_hash()}\n"
    )
    ran = dreambench(*data, "metric=[kic]", "protocol=files", "protocol.path=mine", cwd=tmp_path)
    assert ran.code == 0, ran.err
    run = only_run(tmp_path / "outputs")
    scores = macro(run, "kic")
    assert 0 <= scores["bad"] < scores["good"] <= 1
    assert set(pl.read_parquet(run / "judgments.parquet")["protocol"]) == {read_protocol(file).content_hash()}


def test_protocols_that_a_data_set_brings_along_are_used(tmp_path: Path) -> None:
    data = write_data(tmp_path / "data")
    brought = write_protocol(tmp_path / "data" / "protocols" / "bridges.json", protocol(8))
    ran = dreambench(*data, "metric=[kic]", cwd=tmp_path)
    assert ran.code == 0, ran.err
    run = only_run(tmp_path / "outputs")
    assert set(pl.read_parquet(run / "judgments.parquet")["protocol"]) == {brought.hash}
    assert [path.name for path in (run / "protocols").iterdir()] == [f"bridges-{brought.hash}.json"]
    own = dreambench(*data, "metric=[kic]", "protocol.bundled=false", "paths.outputs=own", cwd=tmp_path)
    assert own.code == 0, own.err
    (file,) = (only_run(tmp_path / "own") / "protocols").iterdir()
    assert read_protocol(file).creator.value == "embedded"


def test_the_embedded_judge_makes_and_executes_a_protocol_of_its_own(tmp_path: Path) -> None:
    data = write_data(tmp_path / "data")
    ran = dreambench(*data, *METRICS, "protocol.creator=embedded", cwd=tmp_path)
    assert ran.code == 0, ran.err
    run = only_run(tmp_path / "outputs")
    (file,) = (run / "protocols").iterdir()
    made = read_protocol(file)
    assert (made.creator.value, len(made.rq)) == ("embedded", 2)
    rows = pl.read_parquet(run / "judgments.parquet").filter(pl.col("metric") == "rq", pl.col("family") == "question")
    assert rows.height == 4 and set(rows["reason_code"]) <= {"", "nothing_to_check"}
    assert set(rows.filter(pl.col("status") == "unanswered")["reason_code"]) <= {"nothing_to_check"}
