"""Processes that are killed at any moment, and two at once on one run folder and on one cache."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dreambench.engine.journal import read_lines
from dreambench.engine.pending import Pending
from dreambench.runs.folder import RunFolder, RunInUseError
from tests.apps.command import ROOT
from tests.faults.killable import CALLS, CELLS, WIDTH
from tests.faults.tiny import QUESTIONS, Tiny, exit_code, same_numbers, words
from tests.support.openai_stub import OpenAIStub


def start(folder: Path, stub: OpenAIStub) -> subprocess.Popen[str]:
    folder.mkdir(exist_ok=True)
    port = stub.url.split(":")[2].removesuffix("/v1")
    command = [sys.executable, "-m", "tests.faults.killable", str(folder), port]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> None:
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err


def judged(folder: Path) -> dict[str, Any]:
    return {line["cell"]: line["judgments"] for line in read_lines(folder / "journal.jsonl", "cell")}


def test_kills_at_random_moments_repeat_only_what_was_in_flight(tmp_path: Path) -> None:
    moments = random.Random(20)
    with OpenAIStub() as stub:
        finish(start(tmp_path / "whole", stub))
        assert len(stub.requests) == CELLS * CALLS
    with OpenAIStub(latency=0.01, sigma=0.8) as stub:
        folder, killed, in_flight = tmp_path / "killed", 0, 0
        for _ in range(3):
            process = start(folder, stub)
            assert process.stdout is not None and process.stdout.readline() == "attempt\n"
            until = len(stub.requests) + moments.randrange(2, 16)
            while process.poll() is None and len(stub.requests) < until:
                time.sleep(0.001)
            time.sleep(moments.random() * 0.01)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            killed += process.returncode == -signal.SIGKILL
            left = int.from_bytes((folder / ".pending").read_bytes(), "little")
            assert left <= WIDTH
            in_flight += left
        assert killed == 3
        finish(start(folder, stub))
        asked = Counter(str(body["messages"]) for body in stub.bodies)
    assert len(asked) == CELLS * CALLS
    repeats = sum(asked.values()) - len(asked)
    lost = sum(line["calls"] for line in read_lines(folder / "journal.jsonl", "lost"))
    assert repeats <= lost == in_flight <= killed * WIDTH
    assert judged(folder) == judged(tmp_path / "whole")
    cells = [line["cell"] for line in read_lines(folder / "journal.jsonl", "cell")]
    assert len(cells) == len(set(cells)) == CELLS


def test_two_processes_on_one_cache_both_finish(tmp_path: Path) -> None:
    with OpenAIStub(latency=0.005) as stub:
        shared = tmp_path / "cache"
        shared.mkdir()
        both = []
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "cache").symlink_to(shared)
            both.append(start(tmp_path / name, stub))
        for process in both:
            finish(process)
        asked = Counter(str(body["messages"]) for body in stub.bodies)
    assert judged(tmp_path / "one") == judged(tmp_path / "two")
    assert len(asked) == CELLS * CALLS and max(asked.values()) <= 2
    assert len(list(read_lines(tmp_path / "one" / "journal.jsonl", "call"))) == CELLS * CALLS


def test_a_second_process_on_a_run_is_told_so_and_buys_nothing(tiny: Tiny, undisturbed: Tiny) -> None:
    tiny.attempt("engine.budget.calls=5")
    bought = len(tiny.stub.requests)
    holder = "import sys, filelock\nwith filelock.FileLock(sys.argv[1]):\n print('held', flush=True)\n sys.stdin.read()"
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", holder, str(tiny.run / ".lock")], **pipes) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        with pytest.raises(RunInUseError) as caught:
            tiny.attempt()
        assert "another process is working on this run; wait for it, or stop it first" in words(caught.value)
        other.communicate("")
    assert len(tiny.stub.requests) == bought
    assert exit_code(tiny.attempt()) == 0
    assert len(tiny.stub.requests) == QUESTIONS
    same_numbers(tiny.run, undisturbed.run)


def test_calls_in_flight_at_a_kill_are_in_the_summary(tiny: Tiny) -> None:
    tiny.attempt("engine.budget.calls=5")
    folder = RunFolder(tiny.run)
    assert json.loads(folder.summary.read_text(encoding="utf-8"))["spent"]["lost_in_flight"] == 0
    folder.pending.write_bytes((3).to_bytes(4, "little"))  # as a killed process leaves it
    for _ in range(2):
        result = tiny.attempt()
        assert json.loads(folder.summary.read_text(encoding="utf-8"))["spent"]["lost_in_flight"] == 3, "told once"
        assert any("in flight when an attempt was killed: 3" in finding for finding in result.findings)
    assert folder.pending.read_bytes() == bytes(4)


def test_what_was_left_is_not_forgotten_before_it_is_written_down(tmp_path: Path) -> None:
    path = tmp_path / ".pending"
    Pending().open(path, lambda calls: None)
    assert path.stat().st_mode & 0o077 == 0
    path.write_bytes((2).to_bytes(4, "little"))

    def full(calls: int) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        Pending().open(path, full)
    told: list[int] = []
    again = Pending()
    again.open(path, told.append)
    assert told == [2]
    with again.one(), again.one():
        assert path.read_bytes() == (2).to_bytes(4, "little")
    again.close()
    assert path.read_bytes() == bytes(4)
