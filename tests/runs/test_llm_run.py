"""A whole run with an LLM judge against a server on loopback: scored, replayed without the server, resumed after a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
from polars.testing import assert_frame_equal

from dreambench.engine.journal import read_lines
from tests.apps.command import ROOT, dreambench
from tests.support.openai_stub import OpenAIStub

SLICE = ROOT / "tests" / "data" / "drb_slice"
DATA = ["dataset=drb", f"dataset.reports={SLICE}", f"dataset.queries={SLICE / 'query.jsonl'}"]


def judged(stub: OpenAIStub, *more: str) -> list[str]:
    model = ["judge=litellm", "judge.litellm.model=openai/anything", f"judge.litellm.api_base={stub.url}"]
    return [*DATA, *model, "metric=[wq,da,citations,length]", *more]


def only_run(outputs: Path) -> Path:
    (run,) = (path for path in outputs.iterdir() if path.is_dir())
    return run


def same_numbers(one: Path, other: Path) -> None:
    for table in ("judgments", "scores", "report_scores"):
        assert_frame_equal(pl.read_parquet(one / f"{table}.parquet"), pl.read_parquet(other / f"{table}.parquet"))


def test_a_run_replays_without_the_server(tmp_path: Path) -> None:
    with OpenAIStub() as stub:
        first = dreambench(*judged(stub), cwd=tmp_path)
        assert first.code == 0, first.err
        asked = len(stub.requests)
    run = only_run(tmp_path / "outputs")
    judgments = pl.read_parquet(run / "judgments.parquet")
    wq = judgments.filter(pl.col("metric") == "wq")
    assert wq.height == 12 * 10
    assert set(wq["status"]) == {"scored"}
    calls = pl.read_parquet(run / "calls.parquet")
    assert calls.filter(pl.col("source") == "provider", pl.col("role") == "judging").height == asked
    replayed = dreambench(*judged(stub, "cache.mode=replay", "paths.outputs=again"), cwd=tmp_path)
    assert replayed.code == 0, replayed.err
    same_numbers(run, only_run(tmp_path / "again"))
    again = pl.read_parquet(only_run(tmp_path / "again") / "calls.parquet")
    assert again.filter(pl.col("source") == "provider", pl.col("role") == "judging").is_empty()


def test_replay_without_stored_answers_stops_and_scores_nothing(tmp_path: Path) -> None:
    with OpenAIStub() as stub:
        ran = dreambench(*judged(stub, "cache.mode=replay"), cwd=tmp_path)
        assert len(stub.requests) == 0
    assert ran.code == 2
    assert "cache.mode=replay, but" in ran.err
    assert "answers are missing: run once without cache.mode=replay" in ran.out
    assert "INCOMPLETE: these reports are owed" in ran.out
    assert "Traceback" not in ran.err


def test_a_killed_run_ends_with_the_same_numbers(tmp_path: Path) -> None:
    with OpenAIStub(latency=0.05) as stub:
        whole = tmp_path / "whole"
        whole.mkdir()
        assert dreambench(*judged(stub), cwd=whole).code == 0
        killed = tmp_path / "killed"
        killed.mkdir()
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(
            [sys.executable, "-m", "dreambench", *judged(stub)],
            cwd=killed,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while process.poll() is None and _finished(killed) < 3:
            time.sleep(0.02)
        assert process.poll() is None, "it ended before it could be killed"
        process.send_signal(signal.SIGKILL)
        process.wait()
        before = len(stub.requests)
        resumed = dreambench(*judged(stub), cwd=killed)
        assert resumed.code == 0, resumed.err
        assert len(stub.requests) > before
    one, other = only_run(whole / "outputs"), only_run(killed / "outputs")
    same_numbers(one, other)
    cells = [line["cell"] for line in read_lines(other / "journal.jsonl", "cell")]
    assert len(cells) == len(set(cells))


def _finished(folder: Path) -> int:
    journals = list(folder.glob("outputs/*/journal.jsonl"))
    return sum(1 for _ in read_lines(journals[0], "cell")) if journals else 0


def test_a_budget_ends_a_run_cleanly_and_the_same_command_goes_on(tmp_path: Path) -> None:
    with OpenAIStub() as stub:
        stopped = dreambench(*judged(stub, "engine.budget.calls=30"), cwd=tmp_path)
        assert stopped.code == 3, stopped.err
        assert "engine.budget.calls=30 reached" in stopped.err
        assert 30 <= len(stub.requests) <= 30 + 8, "calls in flight are finished, none is begun"
        finished = dreambench(*judged(stub), cwd=tmp_path)
        assert finished.code == 0, finished.err
        keys = [request.body["messages"] for request in stub.requests]
        assert len({str(key) for key in keys}) == len(keys), "no question is bought twice"


def test_an_interrupt_drains_and_ends_with_130(tmp_path: Path) -> None:
    with OpenAIStub(latency=0.05) as stub:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(
            [sys.executable, "-m", "dreambench", *judged(stub)],
            cwd=tmp_path,
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        while process.poll() is None and len(stub.requests) < 20:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130, err
        assert "stopping: interrupted" in err
        assert "Traceback" not in err
        resumed = dreambench(*judged(stub), cwd=tmp_path)
        assert resumed.code == 0, resumed.err
    calls = pl.read_parquet(only_run(tmp_path / "outputs") / "calls.parquet")
    bought = calls.filter(pl.col("source") == "provider", pl.col("role") == "judging")
    assert bought["key"].n_unique() == bought.height


def test_no_key_reaches_any_file_of_a_run(tmp_path: Path) -> None:
    secret = "sk-planted-0123456789abcdef"
    with OpenAIStub() as stub:
        ran = dreambench(*judged(stub, "dataset.limit=1"), cwd=tmp_path, env={"OPENAI_API_KEY": secret})
        assert ran.code == 0, ran.err
        assert any(secret in request.headers.get("authorization", "") for request in stub.requests)
    assert secret not in ran.out + ran.err
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path
