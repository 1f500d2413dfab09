"""The sandboxes of task folders as an offline tool set."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from dreambench.errors import DatasetError
from dreambench.tools.sandbox import SandboxTools, read_sandbox
from tests.apps.command import ROOT
from tests.support.gateway import TestGateway

DATA = ROOT / "tests" / "data" / "dr3" / "datasets_en"


def test_pages_are_searched_and_read_offline(gateway: TestGateway) -> None:
    tools = SandboxTools(gateway=gateway, path=DATA, size="32k")

    async def use() -> tuple[str, str, str]:
        found = await tools.web_search("longest spans in metres", None)
        page = await tools.page_visit("sandbox://001/Cooking%20rice", None)
        gone = await tools.page_visit("https://z.example/birds", None)
        return found.hits[0].url, page.page.text if page.page else "", gone.reason_code

    assert asyncio.run(use()) == ("https://a.example/spans", "Rice is boiled.", "not_in_corpus")
    assert tools.identity()["tools"] == "sandbox" and tools.searches
    assert SandboxTools(gateway=gateway, path=DATA, size="32k", task="001").identity() == tools.identity()


def test_what_is_not_there_or_no_list_is_said(gateway: TestGateway, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"holds no <task>/long_context_sampled_512k\.json"):
        SandboxTools(gateway=gateway, path=DATA)
    bad = tmp_path / "x.json"
    for content, said in (("{", "is not JSON"), ("{}", "is no list of pages"), ('[{"page_body": "x"}]', "has no text 'title'")):
        bad.write_text(content)
        with pytest.raises(DatasetError, match=said):
            read_sandbox(bad, "001")
