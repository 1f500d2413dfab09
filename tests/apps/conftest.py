"""Two finished runs that tests of the verbs read: the same reports judged by two models of the stub."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dreambench.commands.main import main_code
from tests.apps.command import ROOT, Ran
from tests.support.openai_stub import OpenAIStub

SLICE = ROOT / "tests" / "data" / "drb_slice"
DATA = ["dataset=drb", f"dataset.reports={SLICE}", f"dataset.queries={SLICE / 'query.jsonl'}", "dataset.limit=2"]


@dataclass(frozen=True)
class JudgedRuns:
    """Where the runs lie (`outputs` below `folder`), and the overrides that made them."""

    folder: Path
    first: Path
    second: Path
    overrides: Callable[[str], list[str]]
    stub: OpenAIStub


def command(*arguments: str) -> Ran:
    """The command line in this process: same entry, same exit code, a second faster than a process of its own."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main_code(arguments)
    return Ran(code, out.getvalue(), err.getvalue())


def json_of(*arguments: str) -> Any:
    """What a verb that succeeds prints with --json."""
    ran = command(*arguments, "--json")
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


@pytest.fixture(scope="session")
def judged_runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JudgedRuns]:
    folder = tmp_path_factory.mktemp("verbs")
    with OpenAIStub() as stub:

        def overrides(model: str) -> list[str]:
            judge = ["judge=litellm", f"judge.litellm.model=openai/{model}", f"judge.litellm.api_base={stub.url}"]
            return [*DATA, *judge, "judge.litellm.price={input:1.0,output:2.0}", "metric=[wq,da,citations]"]

        runs = []
        with contextlib.chdir(folder):
            for model in ("one", "two"):
                ran = command(*overrides(model))
                assert ran.code == 0, ran.err
                runs.append(folder / ran.out.rpartition("written to ")[2].strip())
        yield JudgedRuns(folder, runs[0], runs[1], overrides, stub)


@dataclass(frozen=True)
class ClaimRuns:
    """Runs of Citation Integrity over the demo: with its pages, and without tools."""

    folder: Path
    pages: Path
    no_tools: Path


@pytest.fixture(scope="session")
def claim_runs(tmp_path_factory: pytest.TempPathFactory) -> ClaimRuns:
    folder = tmp_path_factory.mktemp("claims")
    made = []
    with contextlib.chdir(folder):
        for tools in ("bundled", "none"):
            ran = command("dataset=demo", "judge=embedded", "metric=ci", "dataset.limit=2", f"tools={tools}")
            assert ran.code == 0, ran.err
            made.append(folder / ran.out.rpartition("written to ")[2].strip())
    return ClaimRuns(folder, *made)


@pytest.fixture
def runs(judged_runs: JudgedRuns, monkeypatch: pytest.MonkeyPatch) -> JudgedRuns:
    """The two runs, with the working folder where their command was given."""
    monkeypatch.chdir(judged_runs.folder)
    return judged_runs
