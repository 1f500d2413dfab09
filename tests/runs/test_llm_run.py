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
    assert ran.code == 1
    assert "cache.mode=replay" in ran.err + ran.out
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
