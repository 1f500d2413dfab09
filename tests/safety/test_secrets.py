"""No key in any file, log, error or page of a run, wherever it was planted; and the files are their owner's alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from dreambench.commands.main import main_code
from dreambench.reporting.page import write_page
from tests.faults.tiny import Tiny, exit_code
from tests.support import openai_stub as acts
from tests.support.openai_stub import OpenAIStub

KEY = "sk-planted-0123456789abcdefghij"
NAMES = [
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "DEEPINFRA_API_KEY",
    "TAVILY_API_KEY",
    "GITHUB_TOKEN",
    "HF_TOKEN",
]


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Another key in every variable."""
    keys = {name: f"{KEY}-{number}" for number, name in enumerate(NAMES)}
    for name, key in keys.items():
        monkeypatch.setenv(name, key)
    return keys


def test_no_key_is_in_any_file_of_a_run_or_its_page(
    planted: dict[str, str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The server sends the key back in answers and errors, as a proxy that logs headers might."""
    echo = acts.Act(change=lambda answer: {**answer, "reason": f"you sent Bearer {planted['OPENAI_API_KEY']}"})
    umask = os.umask(0)
    try:
        with OpenAIStub() as stub:
            stub.script(acts.failing(500, planted["OPENAI_API_KEY"]), acts.failing(400, f"Bad: {KEY}-0 {KEY}-4"), *[echo] * 5)
            tiny = Tiny(tmp_path, stub)
            result = tiny.attempt()
            assert exit_code(result) == 2, "the 400 leaves an answer owed"
            assert any(KEY in seen.headers.get("authorization", "") for seen in stub.requests), "it was sent where it belongs"
            resumed = tiny.attempt()
            write_page(resumed.folder)
    finally:
        os.umask(umask)
    out, err = capfd.readouterr()
    assert KEY not in out + err + repr(result.findings) + repr(resumed.findings) + repr(resumed.outcome)
    names = {path.name for path in files(tmp_path)}
    assert {"journal.jsonl", "cache.db", "judgments.parquet", "report.html", "config.yaml", "manifest.json"} <= names
    assert [path for path in files(tmp_path) if KEY.encode() in path.read_bytes()] == []
    for table in resumed.tables.values():
        assert KEY not in table.write_json(), "parquet is compressed: read it"
    for folder in (tiny.run, tmp_path / "cache"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder
    assert stat.S_IMODE((tiny.run / "journal.jsonl").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "override",
    [
        "+judge.litellm.api_key={}",
        "judge.litellm.api_key={}",
        "+judge.litellm.params.api_key={}",
        "judge.litellm.params.api_key={}",
        "+judge.litellm.params.extra_headers.Authorization={}",
        "judge.litellm.api_base=http://user:{}@127.0.0.1:1/v1",
        "judge.litellm.api_base=http://127.0.0.1:1/v1?api_key={}",
        "judge.litellm.api_base='http://127.0.0.1:1/v1?api_key={}'",
        "judge.litellm.api_key_env={}",
        "+tools.api_key={}",
        "tools=mcp tools.url=http://127.0.0.1:1/mcp?tavilyApiKey={}",
        "tools=mcp tools.url='http://127.0.0.1:1/mcp?tavilyApiKey={}'",
        "tools=mcp tools.url=http://user:{}@127.0.0.1:1/mcp",
    ],
)
def test_a_key_in_the_configuration_is_refused_and_not_repeated(
    override: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    local = "judge.litellm.api_base=http://127.0.0.1:1/v1"
    judge = ["judge=litellm", "judge.litellm.model=openai/x", *([] if "api_base" in override else [local])]
    metric = "metric=[factuality]" if "tools=mcp" in override else "metric=[wq]"
    assert main_code([*judge, metric, "dataset.limit=1", *override.format(KEY).split()]) == 1
    out, err = capfd.readouterr()
    assert "error: " in err and "Traceback" not in err
    assert KEY not in out + err
    assert [path for path in files(tmp_path) if KEY.encode() in path.read_bytes()] == []
