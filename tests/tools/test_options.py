"""Every option of the group `tools` composes and is built; its keys are those of its class."""

from __future__ import annotations

from pathlib import Path

import pytest

from dreambench.config.compose import compose
from dreambench.config.locations import bundled
from dreambench.config.nodes import build
from dreambench.engine.clock import Clock
from dreambench.errors import ConfigError
from dreambench.runs.assembly import validate
from tests.support.gateway import TestGateway

JUDGE = "judge=gpt_5_1"
OPTIONS = sorted(path.stem for path in (bundled("conf") / "tools").glob("*.yaml"))
WEB = [name for name in OPTIONS if name.startswith("web_")]


@pytest.mark.parametrize("name", OPTIONS)
def test_options_compose_and_are_built(name: str, gateway: TestGateway, tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl").write_text('{"url": "https://a.example", "title": "A", "text": "B"}', encoding="utf-8")
    (tmp_path / "task").mkdir()
    (tmp_path / "task" / "long_context_sampled_512k.json").write_text('[{"title": "A", "page_body": "B"}]', encoding="utf-8")
    path = {"corpus": [f"tools.path={tmp_path / 'pages.jsonl'}"], "sandbox": [f"tools.path={tmp_path}"]}.get(name, [])
    config = validate(compose([f"tools={name}", JUDGE, *path]), Clock())
    tools = build("tools", config.tools, gateway=gateway, corpus=None)
    assert tools.name == ("none" if name == "bundled" else name)
    assert tools.searches == (name in [*WEB, "corpus", "sandbox"])
    assert all(schema["function"]["description"] for schema in tools.schemas())


@pytest.mark.parametrize("name", WEB)
def test_page_settings_reach_the_tools(name: str, gateway: TestGateway) -> None:
    overrides = [f"tools={name}", JUDGE, "page.contact=https://example.org", "page.per_host=1", "tools.undated=drop"]
    config = validate(compose([*overrides, "tools.allow_private=[localhost:8000]"]), Clock())
    tools = build("tools", config.tools, gateway=gateway)
    assert tools.page.per_host == 1 and "+https://example.org" in tools.page.user_agent
    assert tools.identity()["allow_private"] == ["localhost:8000"] and tools.undated == "drop"


def test_the_contact_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DREAMBENCH_CONTACT", "me@example.org")
    assert validate(compose(["tools=pages", JUDGE]), Clock()).page.contact == "me@example.org"


@pytest.mark.parametrize("override", ["page.per_host=0", "page.delay=-1", "page.contact=me", "+page.robot=false"])
def test_wrong_page_settings_are_said(override: str) -> None:
    with pytest.raises(ConfigError, match=override.partition("=")[0].lstrip("+")):
        validate(compose(["tools=pages", JUDGE, override]), Clock())
