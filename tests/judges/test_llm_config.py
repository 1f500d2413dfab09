"""The LLM judge before anything is sent: keys, addresses, identity, options; nothing here imports litellm."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from dreambench.config.nodes import build
from dreambench.engine.store import CacheMode
from dreambench.errors import ConfigError
from dreambench.judges.llm import LLMJudge, Price
from dreambench.judges.llm.providers import PROVIDERS, is_local, without_secrets
from tests.support.gateway import TestGateway, make_gateway
from tests.support.openai_stub import OpenAIStub
from tests.support.questions import rubric

TARGET = "dreambench.judges.llm.LLMJudge"
OPTIONS = Path(__file__).parents[2] / "conf" / "judge"
NAMED = [
    "litellm", "openai_compatible", "claude_sonnet_4_5", "claude_sonnet_5_5", "deepseek_v3_2",
    "kimi_k2_5", "gpt_5_1", "gemini_3_8_flash",
]  # fmt: skip


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in PROVIDERS.values():
        for name in (*provider.keys, *provider.bases):
            monkeypatch.delenv(name, raising=False)


def judge(gateway: TestGateway, **keys: Any) -> LLMJudge:
    return LLMJudge(name="it", gateway=gateway, **{"model": "openai/m", **keys})


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai/gpt-5.1", "OPENAI_API_KEY"),
        ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("deepseek/deepseek-chat", "DEEPSEEK_API_KEY"),
        ("moonshot/kimi-k2.5", "MOONSHOT_API_KEY"),
        ("gemini/gemini-3.8-flash", "GEMINI_API_KEY or GOOGLE_API_KEY"),
        ("deepinfra/deepseek-ai/DeepSeek-V3.2", "DEEPINFRA_API_KEY"),
    ],
)
def test_a_missing_key_is_said_with_the_variable_to_set(
    model: str, variable: str, gateway: TestGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    (problem,) = judge(gateway, model=model).needs()
    assert problem.where == "judge.it"
    assert variable in problem.what
    monkeypatch.setenv(variable.split(" ")[-1], "a-key")
    assert judge(gateway, model=model).needs() == []


def test_a_replay_needs_no_key(tmp_path: Path) -> None:
    assert judge(make_gateway(tmp_path, mode=CacheMode.REPLAY)).needs() == []


def test_a_variable_of_its_own_replaces_the_providers(gateway: TestGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "for-openai-only")
    (problem,) = judge(gateway, api_key_env="OTHER_KEY", api_base="https://gateway.example/v1").needs()
    assert "OTHER_KEY" in problem.what


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:8000/v1", True),
        ("http://localhost:8000/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://10.1.2.3/v1", True),
        ("http://192.168.0.9:11434", True),
        ("http://box.local/v1", True),
        ("https://api.openai.com/v1", False),
        ("http://8.8.8.8/v1", False),
        ("https://localhost.example.org/v1", False),
        (None, False),
    ],
)
def test_servers_on_this_network_need_no_key(url: str | None, local: bool, gateway: TestGateway) -> None:
    assert is_local(url) is local
    assert (judge(gateway, api_base=url).needs() == []) is local


def test_an_address_from_the_environment_is_part_of_the_identity(gateway: TestGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    before = judge(gateway)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    after = judge(gateway)
    assert before.identity() != after.identity()
    assert (before.account, after.account) == ("openai@default", "openai@http://127.0.0.1:9/v1")


def test_identity_holds_what_can_change_an_answer_and_nothing_else(gateway: TestGateway) -> None:
    base = judge(gateway).identity()
    assert (
        base
        == judge(
            gateway, timeout=5, price=Price(input=1, output=1), api_key_env="X", retires=date(2026, 1, 1), successor="x"
        ).identity()
    )
    changes: list[dict[str, Any]] = [
        {"model": "openai/n"}, {"api_base": "http://127.0.0.1:1/v1"}, {"mode": "json"}, {"temperature": 0.0},
        {"max_tokens": 5}, {"reasoning_effort": "low"}, {"seed": 1}, {"params": {"top_p": 0.5}}, {"reasks": 2},
    ]  # fmt: skip
    for change in changes:
        assert judge(gateway, **change).identity() != base, change


@pytest.mark.parametrize(
    ("keys", "where", "hint"),
    [
        ({"model": "gpt-5.1"}, "judge.it.model", "judge.it.model=openai/gpt-5.1"),
        ({"model": "anthropc/claude"}, "judge.it.model", "judge.it.model=anthropic/claude"),
        ({"api_base": "localhost:8000"}, "judge.it.api_base", None),
        ({"api_base": "http://me:pw@host.example/v1"}, "judge.it.api_base", "api_key_env"),
        ({"api_base": "http://host.example/v1?key=abc"}, "judge.it.api_base", "api_key_env"),
        ({"model": "anthropic/claude-x", "reasoning_effort": "low"}, "judge.it.mode", "judge.it.mode=json_schema"),
        (
            {"model": "bedrock/anthropic.claude-x", "reasoning_effort": "low", "mode": "json", "temperature": 0.0},
            "judge.it.temperature",
            "judge.it.temperature=null",
        ),
        ({"params": {"temperature": 1}}, "judge.it.params.temperature", "judge.it.temperature=1"),
        ({"params": {"max_retries": 5}}, "judge.it.params.max_retries", None),
        ({"params": {"drop_params": True}}, "judge.it.params.drop_params", None),
        ({"params": {"api_key": "sk-x"}}, "judge.it.params.api_key", "api_key_env"),
        ({"params": {"extra_headers": {"X-Api-Key": "x"}}}, "judge.it.params.extra_headers.X-Api-Key", "api_key_env"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_place_and_cure(
    keys: dict[str, Any], where: str, hint: str | None, gateway: TestGateway
) -> None:
    with pytest.raises(ConfigError) as caught:
        judge(gateway, **keys)
    problem = caught.value.problems[0]
    assert problem.where == where
    assert hint is None or hint in str(problem.type)
    assert "sk-x" not in str(caught.value)
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    ("keys", "place"),
    [
        ({"mode": "xml"}, "judge.it.mode"),
        ({"temperature": 3.0}, "judge.it.temperature"),
        ({"max_tokens": 0}, "judge.it.max_tokens"),
        ({"reasks": -1}, "judge.it.reasks"),
        ({"temprature": 1}, "judge.it.temprature"),
        ({"price": {"input": 1}}, "judge.it.price.output"),
        ({"price": {"input": 1, "output": -1}}, "judge.it.price.output"),
    ],
)
def test_the_constructor_is_the_schema_of_the_options(keys: dict[str, Any], place: str, gateway: TestGateway) -> None:
    with pytest.raises(ConfigError) as caught:
        build("judge.it", {"_target_": TARGET, "model": "openai/m", **keys}, name="it", gateway=gateway)
    assert [problem.where for problem in caught.value.problems] == [place]


@pytest.mark.parametrize("option", NAMED)
def test_every_option_builds(option: str, gateway: TestGateway) -> None:
    import yaml

    node = yaml.safe_load((OPTIONS / f"{option}.yaml").read_text(encoding="utf-8"))
    node = {key: "openai/m" if key == "model" and value == "???" else value for key, value in node.items()}
    node = {key: "http://127.0.0.1:1/v1" if value == "???" else value for key, value in node.items()}
    built = build(f"judge.{option}", node, name=option, gateway=gateway)
    assert isinstance(built, LLMJudge)
    assert built.refusal(rubric()) is None


def test_secrets_of_the_environment_are_struck_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "abcdefgh12345")
    monkeypatch.setenv("HARMLESS", "visible-value")
    assert without_secrets("key abcdefgh12345, visible-value") == "key [SOME_API_KEY], visible-value"


HIT = """
import asyncio, sys
from pathlib import Path
from dreambench.engine.store import CacheMode
from dreambench.judges.llm import LLMJudge
from tests.support.gateway import make_gateway
from tests.support.questions import rubric

ticks = []

async def tick():
    while True:
        ticks.append(1)
        await asyncio.sleep(0.01)

async def main():
    gateway = make_gateway(Path(sys.argv[1]), mode=CacheMode(sys.argv[3]))
    judge = LLMJudge(name="it", gateway=gateway, model="openai/m", api_base=sys.argv[2])
    ticker = asyncio.create_task(tick())
    answer = await judge.ask(rubric(), report="A report.")
    ticker.cancel()
    await judge.close()
    gateway.store.close()
    return answer

print(asyncio.run(main()).model_dump_json())
print(len(ticks))
print(sorted(set(sys.modules) & {"litellm", "instructor", "openai", "pandas", "aiohttp"}))
"""


def test_a_stored_answer_imports_no_client_and_a_bought_one_leaves_the_loop_free_and_no_warning(tmp_path: Path) -> None:
    def run(mode: str, *flags: str) -> list[str]:
        command = [sys.executable, *flags, "-c", HIT, str(tmp_path), url, mode]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout.splitlines()

    with OpenAIStub() as stub:
        url = stub.url
        bought, ticks, modules = run("readwrite", "-W", "default::ResourceWarning")
    assert "litellm" in modules
    assert int(ticks) > 20, "the event loop goes on while the client is imported"
    replayed, _, modules = run("replay")
    assert replayed == bought
    assert modules == "[]"
    assert len(stub.requests) == 1
